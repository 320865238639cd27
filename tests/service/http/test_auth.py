import pytest

from manyclass.service.http.auth import ApiKeys, Scope
from manyclass.service.http.problems import Problem

KEYS = ApiKeys(rank=["r1", "r2"], learn=["l1"], admin=["a1"])


@pytest.mark.parametrize(
    ("key", "granted"),
    [("r1", Scope.RANK), ("r2", Scope.RANK), ("l1", Scope.LEARN), ("a1", Scope.ADMIN)],
)
@pytest.mark.parametrize("scope", list(Scope))
def test_a_key_is_good_for_its_scope_and_those_below(key, granted, scope):
    if scope <= granted:
        KEYS.require(scope, f"Bearer {key}".encode())
    else:
        with pytest.raises(Problem) as caught:
            KEYS.require(scope, f"Bearer {key}".encode())
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
        KEYS.require(Scope.RANK, header)
    assert caught.value.status == 401
    assert caught.value.headers == {"WWW-Authenticate": "Bearer"}
    assert "r1" not in caught.value.detail


def test_the_scheme_is_read_in_any_case():
    KEYS.require(Scope.RANK, b"bEARER  r1 ")


def test_a_key_of_two_scopes_has_the_higher():
    ApiKeys(rank=["k"], learn=[], admin=["k"]).require(Scope.ADMIN, b"Bearer k")


def test_with_no_keys_everything_passes():
    keys = ApiKeys([], [], [])
    assert keys.open
    keys.require(Scope.ADMIN, None)


def test_one_key_of_any_scope_closes_all():
    keys = ApiKeys([], [], ["a"])
    assert not keys.open
    with pytest.raises(Problem):
        keys.require(Scope.RANK, None)
