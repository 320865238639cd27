import msgspec
import pytest
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from manyclass.core.errors import (
    EventConflict,
    InstanceError,
    LearnerHalfChanged,
    OptionError,
    UnknownName,
)
from manyclass.service.errors import NotReady, QueueFull
from manyclass.service.http.problems import Fault, Problem, invalid, pointer, problem_of
from manyclass.service.http.schemas.rank import RankRequest
from manyclass.service.store import open_store
from manyclass.service.store.errors import (
    CommitOutcomeUnknown,
    LogDamaged,
    LogRewound,
    SnapshotDamaged,
    SnapshotMissing,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreUnavailable,
)


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
        (LearnerHalfChanged(), 503),
        (NotReady("recovering"), 503),
        (StoreFull("full"), 503),
        (StoreError("broken"), 503),
        (CommitOutcomeUnknown("who knows"), 503),
        (LogRewound(7), 503),
        (SnapshotMissing(4), 404),
        (SnapshotDamaged(4, "manifest", "cut short"), 409),
        (OptionError("shadows", "too many"), 409),
        (HTTPException(404), 404),
        (RequestValidationError([{"loc": ("query", "limit"), "msg": "too small"}]), 422),
    ],
)
def test_every_error_has_its_status(error, status):
    found, headers, _ = problem_of(error).answer()
    assert found == status
    if status == 503:
        assert int(dict(headers)[b"retry-after"]) >= 1


def test_an_unforeseen_error_reveals_nothing():
    _, _, body = problem_of(RuntimeError("secret detail")).answer()
    problem = msgspec.json.decode(body)
    assert problem["status"] == 500
    assert b"secret" not in body


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (QueueFull(1, 1), QueueFull.hint),
        (EventConflict(3, "e", 7), EventConflict.hint),
        (StoreFull("/srv/store: no room", "make some"), "the store is full; make some"),
        (StoreUnavailable("/srv/store: away", "put it back"), "not available; put it back"),
        (StoreDamaged("/srv/store: torn", "take the backup"), "damaged; take the backup"),
        (StoreError("/srv/store: 9 events", "send fewer"), "cannot do this; send fewer"),
        (StoreFull("no room"), "the store is full: no room"),
        (SnapshotMissing(4), "no snapshot 4; `manyclass snapshot list`"),
        (SnapshotDamaged(4, "manifest", "cut short"), "manifest: cut short; use an older one"),
        (LogDamaged(4, "cut short"), "event 4: cut short; the state in use is intact: save it"),
        (
            CommitOutcomeUnknown("/srv/store: no answer"),
            "may still be learned: sending them again is safe",
        ),
        (LogRewound(4), "may still be learned: sending them again is safe"),
    ],
)
def test_says_what_can_be_done_and_not_where_the_store_is(error, says):
    detail = problem_of(error).detail
    assert says in detail
    assert "/srv" not in detail


def test_errors_of_a_real_store_name_no_file(tmp_path):
    path = tmp_path / "store.db"
    store = open_store(f"sqlite:{path}", lambda: 0.0)
    with pytest.raises(StoreError) as in_use:
        open_store(f"sqlite:{path}", lambda: 0.0)
    store.close()
    path.write_bytes(b"not a database" * 100)
    with pytest.raises(StoreDamaged) as foreign:
        open_store(f"sqlite:{path}", lambda: 0.0)
    below = StoreError(f"{path}: broken")
    below.__cause__ = OSError(5, "broken", str(path))
    for error in (in_use.value, foreign.value, below):
        assert str(path) in str(error)
        assert str(tmp_path) not in problem_of(error).detail


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        (b'{"k":"x"}', "#/k"),
        (b'{"instances":[{},{},{"id":3}]}', "#/instances/2/id"),
        (b'{"instances":[{},{"text":5}]}', "#/instances/1/text"),
        (b"[]", "#"),
        (b'{"unknown":1}', "#"),
    ],
)
def test_faults_of_a_body_have_their_place(body, pointer):
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.json.decode(body, type=RankRequest)
    [fault] = problem_of(caught.value).faults
    assert fault.pointer == pointer
    assert "`$" not in fault.detail


def test_a_fault_under_some_key_is_placed_where_the_keys_are():
    error = msgspec.ValidationError("Expected `float`, got `str` - at `$.features[...]`")
    [fault] = problem_of(error).faults
    assert (fault.pointer, fault.detail) == ("#/features", "Expected `float`, got `str`")


def test_faults_move_with_the_part_they_were_found_in():
    moved = invalid("empty", "features", "a").within("events", 2)
    assert moved.faults == (Fault("empty", "#/events/2/features/a"),)
    assert Problem(410, "late").within("events", 2).faults == (Fault("late", "#/events/2"),)


def test_a_parameter_is_named():
    error = RequestValidationError([{"loc": ("query", "limit"), "msg": "too small"}])
    document = problem_of(error).document()
    assert msgspec.to_builtins(document.errors) == [{"detail": "too small", "parameter": "limit"}]
