"""The options of a ranking request that are refused, with the member at fault."""

from collections.abc import Callable

import pytest

from manyclass.service.http.problems import Problem
from manyclass.service.http.ranking_options import check_instances, check_options, classes_among
from manyclass.service.http.schemas.rank import (
    MOST_DECODED,
    MOST_EXPLAINED,
    MOST_EXPLAINED_INSTANCES,
    MOST_RANKED_AT_ONCE,
    RankInstance,
    RankRequest,
)


def pointer_of(check: Callable[[], object]) -> str:
    """Return the place of the fault that a check finds."""
    with pytest.raises(Problem) as refused:
        check()
    [fault] = refused.value.faults
    return str(fault.pointer)


@pytest.mark.parametrize(
    ("request_", "place"),
    [
        (RankRequest(k=2.5), "#/k"),
        (RankRequest(k=MOST_EXPLAINED + 1, explain=True), "#/k"),
        (RankRequest(k=MOST_DECODED + 1, decode="taxo"), "#/k"),
        (RankRequest(min_accuracy=0.9, min_precision=0.9), "#/min_precision"),
        (RankRequest(decode="taxo", probabilities=True), "#/probabilities"),
        (RankRequest(decode="taxo", min_probability=0.5), "#/min_probability"),
    ],
)
def test_options_above_a_limit_or_not_together(request_: RankRequest, place: str) -> None:
    assert pointer_of(lambda: check_options(request_)) == place


def test_options_at_the_limits_are_accepted() -> None:
    check_options(RankRequest(k=2.0))
    check_options(RankRequest(k=MOST_EXPLAINED, explain=True))
    check_options(RankRequest(k=MOST_DECODED, decode="taxo", probabilities=False, min_accuracy=0.9))


def test_classes_among_are_named_once_and_not_by_their_confidence() -> None:
    assert classes_among(RankRequest()) is None
    assert classes_among(RankRequest(among=["b", "a", "b"])) == ["b", "a"]
    assert classes_among(RankRequest(among=["a"], probabilities=False)) == ["a"]
    for option in ("min_confidence", "min_accuracy", "min_probability", "min_precision"):
        request = RankRequest(among=["a"], **{option: 0.5})
        assert pointer_of(lambda request=request: classes_among(request)) == f"#/{option}"


def test_rankings_of_one_request_are_limited() -> None:
    two = [RankInstance(), RankInstance()]
    half = MOST_RANKED_AT_ONCE // 2
    check_instances(RankRequest(k=half, instances=two), two, ["a"] * half, 2)
    for request, among, most in [
        (RankRequest(instances=two), None, 1),
        (RankRequest(k=half + 1, instances=two), None, 2),
        (RankRequest(k=1, instances=two), ["a"] * (half + 1), 2),
    ]:
        found = pointer_of(lambda r=request, a=among, m=most: check_instances(r, two, a, m))
        assert found == "#/instances/1" if most == 1 else found.startswith("#/instances/")
    many = [RankInstance()] * (MOST_EXPLAINED_INSTANCES + 1)
    explained = RankRequest(k=1, explain=True, instances=many)
    place = f"#/instances/{MOST_EXPLAINED_INSTANCES}"
    assert pointer_of(lambda: check_instances(explained, many, None, 100)) == place
