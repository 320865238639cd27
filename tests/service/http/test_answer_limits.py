"""The limits of confidence and probability that a request sets on its answers."""

from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import UNSET

from manyclass.service.http.answer_limits import Limit, abstains, limit_of, probable
from manyclass.service.http.schemas.rank import Ranked, RankRequest


def model_with(confidence: float | None, probability: float | None) -> Any:
    """Return a model whose calibration has these limits for every aim."""
    calibration = SimpleNamespace(
        limit_for=lambda _: confidence, probability_limit_for=lambda _: probability
    )
    return SimpleNamespace(answering=SimpleNamespace(calibration=calibration))


@pytest.mark.parametrize(
    ("options", "limit"),
    [
        ({}, UNSET),
        ({"min_confidence": 0.9}, UNSET),
        ({"min_accuracy": 0.9}, 0.6),
        ({"min_accuracy": 0.9, "min_confidence": 0.7}, 0.7),
        ({"min_accuracy": 0.9, "min_confidence": 0.5}, 0.6),
        ({"min_precision": 0.9}, 0.4),
        ({"min_precision": 0.9, "min_probability": 0.5}, 0.5),
    ],
)
def test_the_larger_limit_applies(options: dict[str, Any], limit: Limit) -> None:
    assert limit_of(model_with(0.6, 0.4), RankRequest(**options)) == limit


def test_no_limit_reaches_the_aim() -> None:
    for request in (RankRequest(min_accuracy=0.9), RankRequest(min_precision=0.9)):
        assert limit_of(model_with(None, None), request) is None
        assert abstains(request, None, 1.0)


@pytest.mark.parametrize(
    ("request_", "limit", "confidence", "expected"),
    [
        (RankRequest(), UNSET, None, False),
        (RankRequest(min_confidence=0.5), UNSET, None, True),
        (RankRequest(min_confidence=0.5), UNSET, 0.4, True),
        (RankRequest(min_confidence=0.5), UNSET, 0.5, False),
        (RankRequest(min_probability=0.5), UNSET, 0.4, True),
        (RankRequest(min_accuracy=0.9), 0.6, 0.5, True),
        (RankRequest(min_accuracy=0.9), 0.6, 0.6, False),
    ],
)
def test_an_answer_below_a_limit_is_an_abstention(
    request_: RankRequest, limit: Limit, confidence: float | None, expected: bool
) -> None:
    assert abstains(request_, limit, confidence) is expected


def test_only_probable_classes_are_returned() -> None:
    ranked = [Ranked(name, 1.0, probability=p) for name, p in [("a", 0.8), ("b", 0.5), ("c", 0.1)]]
    ranked.append(Ranked("d", 0.0))

    def names(request: RankRequest, limit: Limit = UNSET) -> list[str]:
        return [each.name for each in probable(request, limit, ranked)]

    assert names(RankRequest()) == ["a", "b", "c", "d"]
    assert names(RankRequest(min_probability=0.5)) == ["a", "b"]
    assert names(RankRequest(min_precision=0.9), 0.6) == ["a"]
    assert names(RankRequest(min_accuracy=0.9), 0.6) == ["a", "b", "c", "d"]
