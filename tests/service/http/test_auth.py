import pytest

from manyclass.service.http.auth import ApiKeys, Scope
from manyclass.service.http.problems import Problem
from tests.service.http.every_call import EVENT, SCOPES, call_of
from tests.service.http.openapi.test_document import document
from tests.service.serving import KEYS, NDJSON, assert_problem, bearer, calling

API_KEYS = ApiKeys(rank=["r1", "r2"], learn=["l1"], admin=["a1"])


@pytest.mark.parametrize(
    ("key", "granted"),
    [("r1", Scope.RANK), ("r2", Scope.RANK), ("l1", Scope.LEARN), ("a1", Scope.ADMIN)],
)
@pytest.mark.parametrize("scope", list(Scope))
def test_a_key_is_good_for_its_scope_and_those_below(key, granted, scope):
    if scope <= granted:
        API_KEYS.require(scope, f"Bearer {key}".encode())
    else:
        with pytest.raises(Problem) as caught:
            API_KEYS.require(scope, f"Bearer {key}".encode())
        assert caught.value.status == 403
        assert scope.name.lower() in caught.value.detail


@pytest.mark.parametrize(
    "header",
    [
        None,
        b"",
        b"r1",
        b"Basic r1",
        b"Bearer",
        b"Bearer ",
        b"Bearer r",
        b"Bearer r11",
        b"Bearer \xff",
    ],
)
def test_without_a_known_key_nothing_passes(header):
    with pytest.raises(Problem) as caught:
        API_KEYS.require(Scope.RANK, header)
    assert caught.value.status == 401
    assert caught.value.headers == {"WWW-Authenticate": "Bearer"}
    assert "r1" not in caught.value.detail


def test_the_scheme_is_read_in_any_case():
    API_KEYS.require(Scope.RANK, b"bEARER  r1 ")


def test_a_key_of_two_scopes_has_the_higher():
    ApiKeys(rank=["k"], learn=[], admin=["k"]).require(Scope.ADMIN, b"Bearer k")


def test_a_key_with_a_name_signs_for_this_person():
    keys = ApiKeys(rank=["r"], learn=["anna:secret", "l"], admin=["ben:boss"])
    anna = keys.require(Scope.LEARN, b"Bearer secret")
    assert (anna.reviewer(None), anna.reviewer("anna"), anna.person("ben")) == ("anna",) * 3
    with pytest.raises(Problem, match="leave `reviewer` out") as refused:
        anna.reviewer("ben")
    assert refused.value.status == 403
    unnamed = keys.require(Scope.LEARN, b"Bearer l")
    assert (unnamed.reviewer(None), unnamed.reviewer("ben")) == (None, "ben")
    ben = keys.require(Scope.ADMIN, b"Bearer boss")
    assert (ben.reviewer(None), ben.reviewer("anna")) == ("ben", "anna")
    with pytest.raises(Problem):
        keys.require(Scope.LEARN, b"Bearer anna:secret")


def test_with_no_keys_everything_passes():
    keys = ApiKeys([], [], [])
    assert keys.open
    keys.require(Scope.ADMIN, None)


def test_one_key_of_any_scope_closes_all():
    keys = ApiKeys([], [], ["a"])
    assert not keys.open
    with pytest.raises(Problem):
        keys.require(Scope.RANK, None)


# --- calls ----------------------------------------------------------------------------------------

GRANTED = {None: None, "é": None, "r": Scope.RANK, "l": Scope.LEARN, "a": Scope.ADMIN}


def test_every_call_of_the_document_has_its_scope_here():
    calls = {
        f"{method.upper()} {path}"
        for path, operations in document()["paths"].items()
        for method in operations
    }
    assert calls == SCOPES.keys()


@pytest.mark.parametrize("key", GRANTED)
@pytest.mark.parametrize("kind", [{}, NDJSON], ids=["json", "stream"])
async def test_each_call_takes_the_keys_of_its_scope_and_those_above(key, kind):
    async with calling(**KEYS) as call:
        for name, scope in SCOPES.items():
            await call("POST", "/learn", EVENT, headers=bearer("a"))
            headers = (kind if name == "POST /learn" else {}) | ({} if key is None else bearer(key))
            answer = await call_of(call, name, headers)
            if scope is None or (GRANTED[key] and GRANTED[key] >= scope):
                assert answer.is_success, (name, answer.text)
            elif GRANTED[key]:
                assert_problem(answer, 403)
            else:
                assert_problem(answer, 401)
                assert answer.headers["www-authenticate"] == "Bearer"
