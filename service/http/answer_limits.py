"""The limits of confidence and probability that a request sets on the answers of `/rank`.

native/rank_options.hpp applies the same limits to rankings in native code.
"""

from collections.abc import Sequence

from msgspec import UNSET, UnsetType

from manyclass.core.model import Model
from manyclass.service.http.schemas.rank import Ranked, RankRequest

Limit = float | UnsetType | None  # UNSET if no limit was asked for, None if none reaches the aim


def limit_of(model: Model, request: RankRequest) -> Limit:
    """Return the limit of confidence that applies with `min_accuracy`, or that of probability with
    `min_precision`; None if none reaches it.
    """
    calibration = model.answering.calibration
    if request.min_accuracy is not None:
        limit, least = calibration.limit_for(request.min_accuracy), request.min_confidence
    elif request.min_precision is not None:
        limit = calibration.probability_limit_for(request.min_precision)
        least = request.min_probability
    else:
        return UNSET
    return limit if limit is None else max(limit, least or 0.0)


def abstains(request: RankRequest, limit: Limit, confidence: float | None) -> bool:
    """Return whether no class of a ranking with this confidence reaches the limits."""
    if limit is None:
        return True
    # No class is more probable than the first, whose probability is the confidence.
    limits = request.min_confidence, request.min_probability, limit
    least = max((each for each in limits if isinstance(each, float)), default=None)
    return least is not None and (confidence is None or confidence < least)


def probable(request: RankRequest, limit: Limit, ranked: Sequence[Ranked]) -> list[Ranked]:
    """Return the classes that reach the limit of probability of the request."""
    least = request.min_probability
    if request.min_precision is not None and isinstance(limit, float):
        least = limit
    if least is None:
        return list(ranked)
    return [
        each for each in ranked if isinstance(each.probability, float) and each.probability >= least
    ]
