"""The options that shape a model. They are part of its state: stored with it, compared at start."""

from dataclasses import dataclass, fields
from math import isfinite
from typing import Any, Literal

from core.errors import OptionError

LONGEST_ROW = 65_535


@dataclass(frozen=True, slots=True)
class Options:
    """What a feature-focus model does.

    Margin threshold and memory are those that did best on drifting streams (docs/measurements.md);
    the paper's are 0 and infinite. The comments name the symbols of Madani et al., JMLR 2009.
    """

    learner: Literal["ff"] = "ff"
    margin_threshold: float = 0.1  # delta_m: learn when the margin is not above it
    min_weight: float = 0.01  # w_min: lighter edges are dropped
    max_outdegree: int = 25  # d_max: edges of a feature that take part in scoring
    rating: int = 10  # times seen for a feature's full vote; 0: every feature votes in full
    leak: bool = True  # a dropped edge's mass stays in the feature mass
    boolean: bool = False  # every value counts as 1, and nothing is scaled
    normalize: Literal["l2", "none"] = "l2"
    tfidf: bool = False
    retrieval_window: int = 50  # a true class ranked beyond it scores 0 when learning
    feature_memory: float = 30.0  # a row with more mass is halved; 0: infinite
    max_features: int = 10_000_000
    max_classes: int = 1_000_000
    max_bytes: int = 4 * 2**30

    def __post_init__(self) -> None:
        """Raise OptionError for the first option out of its range."""

        def need(condition: bool, option: str, message: str) -> None:
            if not condition:
                raise OptionError(option, message)

        for field in fields(self):
            object.__setattr__(self, field.name, _plain(field.name, getattr(self, field.name)))
        need(self.learner == "ff", "learner", "must be 'ff'")
        need(isfinite(self.margin_threshold), "margin_threshold", "must be a finite number")
        need(0 <= self.min_weight < 1, "min_weight", "must be at least 0 and below 1")
        need(1 <= self.max_outdegree <= LONGEST_ROW, "max_outdegree", f"must be 1 to {LONGEST_ROW}")
        need(0 <= self.rating < 2**31, "rating", "must be 0 (off) or a number of times seen")
        need(self.normalize in ("l2", "none"), "normalize", "must be 'l2' or 'none'")
        need(1 <= self.retrieval_window < 2**31, "retrieval_window", "must be at least 1")
        need(
            isfinite(self.feature_memory)
            and (self.feature_memory == 0 or self.feature_memory >= 1),
            "feature_memory",
            "must be 0 (infinite) or a mass of at least 1",
        )
        need(1 <= self.max_features < 2**32 - 1, "max_features", "must be 1 to 4294967294")
        need(1 <= self.max_classes < 2**32 - 1, "max_classes", "must be 1 to 4294967294")
        need(2**20 <= self.max_bytes <= 2**34, "max_bytes", "must be 1 MiB to 16 GiB, in bytes")

    def to_dict(self) -> dict[str, Any]:
        """The options by name, as plain values."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def differences(self, other: "Options") -> dict[str, tuple[Any, Any]]:
        """The options that differ: name -> (here, in the other)."""
        mine, others = self.to_dict(), other.to_dict()
        return {name: (mine[name], others[name]) for name in mine if mine[name] != others[name]}


def _plain(option: str, value: object) -> object:
    """The value as the one type its option has, so that equal options are stored equally."""
    default = Options.__dataclass_fields__[option].default
    if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            raise OptionError(option, "must be a finite number") from None
    if type(value) is not type(default):
        raise OptionError(option, f"must be of type {type(default).__name__}, not {value!r}")
    return value
