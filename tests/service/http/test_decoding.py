"""A body of another type is refused with what to write instead."""

import json

import msgspec
import pytest

from manyclass.service.http.decoding import _TAKES, decode
from manyclass.service.http.problems import Problem
from manyclass.service.http.schemas.learn import LearnEvent, LearnRequest
from manyclass.service.http.schemas.rank import RankInstance, RankRequest
from tests.service.serving import assert_problem

FORMS = (RankRequest, RankInstance, LearnRequest, LearnEvent)
TEXT = {"text": "a"}


def refused(form, body):
    with pytest.raises(Problem) as caught:
        decode(msgspec.json.Decoder(form), json.dumps(body).encode())
    [fault] = caught.value.document().errors
    assert fault.detail == caught.value.detail
    return fault.detail, fault.pointer


@pytest.mark.parametrize(
    ("form", "body", "detail", "pointer"),
    [
        (RankRequest, {"txt": "a"}, "did you mean `text`?", "#/txt"),
        (RankRequest, {"feature": ["a"]}, "did you mean `features`?", "#/feature"),
        (RankRequest, {"instances": [TEXT, {"idd": 1}]}, "mean `id`?", "#/instances/1/idd"),
        (
            RankRequest,
            {"instances": [TEXT, {"instance": 1}]},
            "known are",
            "#/instances/1/instance",
        ),
        (LearnRequest, {"class": ["x"]}, "did you mean `classes`?", "#/class"),
        (LearnRequest, {"zebra": 1}, "known are `classes`, `not`", "#/zebra"),
        (LearnRequest, {"events": [{"classes": ["x"], "txt": 1}]}, "`text`?", "#/events/0/txt"),
        (LearnRequest, {"events": [TEXT | {"not": "x"}]}, "`not` must be", "#/events/0/not"),
        (LearnRequest, TEXT | {"not": []}, '["hockey"]', "#/not"),
        (LearnRequest, TEXT | {"weight": "2"}, "`weight` must be a number", "#/weight"),
        (LearnRequest, TEXT | {"weight": 0}, "from 0.001 to 1000", "#/weight"),
        (LearnRequest, TEXT | {"rejected": ["x"]}, "no key `rejected`", "#/rejected"),
        (LearnRequest, TEXT | {"classes": "x"}, '1 to 1000: ["hockey"] (got str)', "#/classes"),
        (LearnRequest, TEXT | {"classes": []}, '["hockey"]', "#/classes"),
        (LearnRequest, TEXT | {"classes": [None]}, '["hockey"]', "#/classes/0"),
        (LearnRequest, {"events": TEXT}, "`events` must be a list", "#/events"),
        (LearnRequest, {"events": [5]}, "`events` must be a list of objects", "#/events/0"),
        (RankRequest, TEXT | {"k": "5"}, "`k` must be a whole number from 1 to 1000", "#/k"),
        (RankRequest, TEXT | {"explain": 1}, "`explain` must be true or false", "#/explain"),
        (RankRequest, [TEXT], "The body must be an object", "#"),
    ],
)
def test_the_fix_is_told(form, body, detail, pointer):
    told = refused(form, body)
    assert detail in told[0]
    assert told[1] == pointer


@pytest.mark.parametrize("form", FORMS)
def test_every_key_has_an_example_the_service_reads(form):
    required = {"classes": ["x"]} if form is LearnEvent else {}
    for field in msgspec.structs.fields(form):
        described, _, example = _TAKES[field.encode_name].partition(": ")
        for value in [*example.split(" or "), *(["true"] if "true or" in described else [])]:
            body = required | ({field.encode_name: json.loads(value)} if value else {})
            decode(msgspec.json.Decoder(form), json.dumps(body).encode())


@pytest.mark.parametrize(
    ("key", "form", "body", "within"),
    [
        ("weight", LearnRequest, b'{"weight": -1e400}', ()),
        ("features", dict[str, float] | list[str], b'{"a": -1e400}', ("features",)),
    ],
)
def test_a_number_that_is_not_a_finite_float_is_told(key, form, body, within):
    with pytest.raises(Problem) as caught:
        decode(msgspec.json.Decoder(form), body, within)
    assert caught.value.detail.startswith(f"`{key}` must be ")
    assert caught.value.detail.endswith("(got a number that is not a finite float, such as 1e400)")


def test_a_long_key_is_cut_short():
    detail, pointer = refused(RankRequest, {"x" * 10_000: 1})
    assert len(detail) < 400
    assert pointer == "#"


async def test_many_unknown_parameters_make_a_short_answer(call):
    query = "&".join(f"{name * 50}{number}=1" for name in "ab" for number in range(100))
    for method, path in (("GET", "/stats"), ("POST", "/rank")):
        response = await call(method, f"{path}?{query}&{'x' * 10_000}=1")
        assert 0 < len(assert_problem(response, 422)["errors"]) <= 10
        assert len(response.content) < 5000


async def test_features_tell_it_too(call):
    for features, pointer in ((5, "#/features"), ({"a": "b"}, "#/features/a")):
        response = await call("POST", "/rank", {"features": features})
        assert "`features` must be an object" in assert_problem(response, 422, pointer)["detail"]


@pytest.mark.parametrize(
    ("path", "detail"),
    [
        ("/classes?limt=5", "did you mean `limit`?"),
        ("/classes?zebra=5", "known are prefix, limit, after"),
        ("/learners?limit=5", "this call takes none"),
        ("/readyz?too=rank", "did you mean `to`?"),
        ("/metrics?x", "this call takes none"),
        ("/features/a?limit=5", "this call takes none"),
    ],
)
async def test_an_unknown_parameter_is_refused(call, path, detail):
    await call.learn(("a", "x"))
    problem = assert_problem(await call("GET", path), 422)
    assert detail in problem["detail"]
    [fault] = problem["errors"]
    assert fault["parameter"] == path.partition("?")[2].partition("=")[0]


async def test_the_parameters_of_calls_belong_into_the_body(call):
    for path, body in (("/rank", TEXT), ("/learn", TEXT | {"classes": ["x"]})):
        problem = assert_problem(await call("POST", path + "?k=5", body), 422)
        assert "into the body" in problem["detail"]
        assert problem["errors"][0]["parameter"] == "k"
    assert call.app.engine.model.seq == 0


@pytest.mark.parametrize(
    ("text", "detail", "pointer"),
    [
        ({"title": "a", "body": 1}, "The field `body` of `text` must be a string", "#/text/body"),
        ({"f" * 101: ["a"]}, "A field of `text` must be a string", "#/text"),
    ],
)
def test_the_wrong_field_of_a_text_is_named_unless_its_name_is_long(text, detail, pointer):
    found = refused(RankRequest, {"text": text})
    assert found[0].startswith(detail)
    assert found[1] == pointer
