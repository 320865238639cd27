"""Figures 11 to 19 of Madani, Connor, Greiner, JMLR 2009: the effect of each option of FF.

Each data set has one base: FF with the margin threshold that the study `paper` found best for it.
R1 is on the test rows, after the best pass; after the first for figures 11 (cost) and 12.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from studies.declaration import At, Pivot, Record, Study, Trial
from studies.held_out import held_out
from studies.paper import focused

MARGINS: Final = ("0", "0.1", "0.2", "0.5", "1")
BOOLEAN_MARGINS: Final = ("0.5", "1", "3", "7")
VALUES: Final = {
    "max_outdegree": ("1", "3", "5", "10", "25", "100"),
    "min_weight": ("0.001", "0.01", "0.1"),
    "leak": ("no", "yes"),
    "rating": ("0", "10"),
}


@dataclass(frozen=True)
class Base:
    """A data set: the margin threshold of its base, its passes and splits, and other margins."""

    name: str
    margin: str
    passes: int
    splits: int
    margins: Sequence[str] = ()
    boolean: bool = False  # with features of value 0 or 1, and IND
    unweighted: Sequence[str] = ()

    def trials(self) -> Iterator[Trial]:
        """Yield the base and its variations."""

        def trial(estimator: str, key: str, value: str, passes: int = self.passes) -> Trial:
            return Trial(self.name, estimator, self.splits, passes, {key: value})

        base = focused(self.margin)
        unlimited = focused(self.margin, min_weight="0", max_outdegree="1000")
        yield trial(base, "limits", "default")
        yield trial(unlimited, "limits", "none")
        yield trial(base, "kind", "FF")
        for option, values in VALUES.items():
            for value in values:
                yield trial(focused(self.margin, **{option: value}), option, value)
        for margin in self.margins:
            yield trial(focused(margin), "margin_threshold", margin)
        if self.boolean:
            for margin in BOOLEAN_MARGINS:
                boolean = focused(margin, binarize="yes")
                yield trial(boolean, "kind", f"Boolean FF, margin {margin}")
            yield trial("ind-chosen", "kind", "IND", 1)
            yield trial("ind(min_weight=0)", "kind", "IND, p_ind 0", 1)
        for index in self.unweighted:
            yield trial(index, "kind", index, 1)


BASES: Final = (
    Base("reuters10", "0.1", 4, 2, MARGINS, boolean=True),
    Base("newsgroups", "0.5", 4, 2, MARGINS, True, ("unweighted", "unweighted-committee")),
    Base("cpv", "0.1", 4, 1, MARGINS, True, ("unweighted",)),
    Base("words", "0.1", 1, 1),
    Base("eurlex", "0", 1, 1, ("0", "0.01", "0.03", "0.1", "0.5")),
)


def _printed(dataset: str, key: str, values: dict[str, float]) -> Iterator[Record]:
    identity = {"dataset": dataset, "estimator": "paper", "pass": 1}
    for value, r1 in values.items():
        yield {**identity, key: f"paper: {value}", "R1": r1}


def _by_dataset(title: str, key: str, measure: str = "R1", at: At = "best") -> Pivot:
    return Pivot(title, [measure], rows="dataset", across=key, each="", at=at)


STUDY: Final = Study(
    "The options of FF (Madani et al. 2009, figures 11 to 19)",
    [trial for base in BASES for trial in base.trials()],
    held_out,
    [
        _by_dataset("Figure 11: R1 without limits (w_min 0, d_max 1000)", "limits"),
        _by_dataset("Figure 11: CPU seconds of the first pass", "limits", "T_train s", "first"),
        _by_dataset("Figure 11: edges touched for each active feature", "limits", "d", "first"),
        _by_dataset("Figure 11: edges", "limits", "|W|", "first"),
        _by_dataset("Figure 12: R1 by d_max, after one pass", "max_outdegree", at="first"),
        _by_dataset("Figure 13: R1 by w_min", "min_weight"),
        Pivot(
            "figures 14 and 19, R1 by margin threshold and pass",
            ["R1", "training R1"],
            rows="margin_threshold",
            across="pass",
            at="every",
        ),
        _by_dataset("Figure 15: R1 by leak of dropped edges", "leak"),
        _by_dataset("Figure 16: R1 by rating (times seen for a full vote; 0: at once)", "rating"),
        _by_dataset("Figures 17 and 18: R1 of IND, Boolean FF, unweighted indexing", "kind"),
    ],
    printed=[
        *_printed("reuters10", "limits", {"default": 0.884, "none": 0.884}),
        *_printed("newsgroups", "limits", {"default": 0.865, "none": 0.866}),
        *_printed("words", "limits", {"default": 0.274, "none": 0.276}),
        *_printed("newsgroups", "leak", {"no": 0.866, "yes": 0.865}),
        *_printed("newsgroups", "rating", {"0": 0.860, "10": 0.865}),
        *_printed("newsgroups", "kind", {"IND": 0.846, "best Boolean FF": 0.860, "FF": 0.865}),
        *_printed("newsgroups", "kind", {"unweighted": 0.681, "unweighted-committee": 0.768}),
    ],
)
