import msgspec
import pytest
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from core.errors import InstanceError, UnknownName
from service.errors import Fault, Problem, invalid, pointer, problem_of
from service.schemas import RankRequest
from service.store.protocol import SnapshotDamaged, SnapshotMissing, StoreError, StoreFull
from service.writer import EventConflict, NotReady, QueueFull


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ((), "#"),
        (("instances", 3, "k"), "#/instances/3/k"),
        (("features", "a/b~c"), "#/features/a~1b~0c"),
        (("features", "Grüße %"), "#/features/Gr%C3%BC%C3%9Fe%20%25"),
        (("features", "\ud800"), "#/features/%3F"),
    ],
)
def test_a_place_is_a_json_pointer(place, expected):
    assert pointer(place) == expected


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (Problem(410, "late"), 410),
        (msgspec.DecodeError("cut short"), 400),
        (msgspec.ValidationError("Expected `int`"), 422),
        (InstanceError("empty", ("features", "")), 422),
        (UnknownName("class", "x"), 404),
        (EventConflict(3, "e", 7), 409),
        (QueueFull(10, 1000), 503),
        (NotReady("recovering"), 503),
        (StoreFull("full"), 503),
        (StoreError("broken"), 503),
        (SnapshotMissing(4), 404),
        (SnapshotDamaged(4, "manifest", "cut short"), 409),
        (HTTPException(404), 404),
        (RequestValidationError([{"loc": ("query", "limit"), "msg": "too small"}]), 422),
    ],
)
def test_every_error_has_its_status(error, status):
    assert problem_of(error).status == status


def test_what_nobody_foresaw_tells_nothing():
    _, _, body = problem_of(RuntimeError("secret detail")).answer()
    problem = msgspec.json.decode(body)
    assert problem["status"] == 500
    assert b"secret" not in body


@pytest.mark.parametrize("error", [QueueFull(1, 1), NotReady("recovering"), StoreFull("full")])
def test_what_may_work_later_says_when(error):
    _, headers, _ = problem_of(error).answer()
    assert int(dict(headers)[b"retry-after"]) >= 1


@pytest.mark.parametrize(
    ("body", "place"),
    [
        (b'{"k":"x"}', ("k",)),
        (b'{"instances":[{},{},{"id":3}]}', ("instances", 2, "id")),
        (b'{"instances":[{},{"text":5}]}', ("instances", 1, "text")),
        (b"[]", ()),
        (b'{"unknown":1}', ()),
    ],
)
def test_faults_of_a_body_have_their_place(body, place):
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.json.decode(body, type=RankRequest)
    [fault] = problem_of(caught.value).faults
    assert fault.place == place
    assert "`$" not in fault.detail


def test_a_fault_under_some_key_is_placed_where_the_keys_are():
    error = msgspec.ValidationError("Expected `float`, got `str` - at `$.features[...]`")
    [fault] = problem_of(error).faults
    assert (fault.place, fault.detail) == (("features",), "Expected `float`, got `str`")


def test_faults_move_with_the_part_they_were_found_in():
    moved = invalid("empty", "features", "a").within("events", 2)
    assert moved.faults == (Fault("empty", ("events", 2, "features", "a")),)
    assert Problem(410, "late").within("events", 2).faults == (Fault("late", ("events", 2)),)


def test_a_parameter_is_named():
    error = RequestValidationError([{"loc": ("query", "limit"), "msg": "too small"}])
    document = problem_of(error).document()
    assert msgspec.to_builtins(document.errors) == [{"detail": "too small", "parameter": "limit"}]
