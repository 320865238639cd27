"""Runs of learners and other estimators over the splits of a data set, and their statistics."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from statistics import mean, stdev
from typing import Final

from manyclass.core.errors import OptionError
from manyclass.core.learners.options import LIMITS, Options
from manyclass.core.learners.registry import option_of
from manyclass.evaluation.datasets import Dataset
from manyclass.evaluation.estimator import Maker
from manyclass.evaluation.measures import sign_test
from manyclass.evaluation.run import Outcome, Pass, fit_and_test, stream_through, train_and_test

OnProgress = Callable[[str, int], None]  # the name of an estimator, the number of splits done


@dataclass(frozen=True)
class Plan:
    """The protocol: how every estimator is trained and tested."""

    passes: int = 1
    splits: int = 3
    seed: int = 0  # of the first split; split n has seed + n
    shuffle: bool = True
    progressive: bool = False  # one stream: rank each row, then learn it; without test rows

    @property
    def seeds(self) -> range:
        """Return the seed of each split; one without shuffling, since splits would be equal."""
        return range(self.seed, self.seed + (self.splits if self.shuffle else 1))


@dataclass(frozen=True)
class Variant:
    """A learner, and the option of another learner (`base`) in which it differs."""

    options: Options
    base: str  # the name of the learner with the default of the option
    option: str | None = None
    value: str = ""

    @property
    def name(self) -> str:
        """Return the name in tables and figures."""
        return label(self.options)


def label(options: Options) -> str:
    """Return the specification of a learner, and its limits that differ from the defaults."""
    limits = [
        f"{option.name}={value}"
        for option, (_, value) in zip(options.spec.options, options.values, strict=True)
        if option.name in LIMITS and value != option.default
    ]
    return " ".join([options.specification, *limits])


def variants(learners: Sequence[Options], vary: Mapping[str, Sequence[str]]) -> list[Variant]:
    """Return the learners, then each learner with each given value of each varied option.

    An option is varied in the learners that have it; learners that differ only in this option are
    varied once. Raise OptionError if no learner has the option, or for an invalid value.
    """
    vary = {option_of(name).name: values for name, values in vary.items()}
    for option in vary:
        if not any(options.spec.option(option) for options in learners):
            raise OptionError(option, "has no effect on any of the learners, so cannot be varied")
    found = [Variant(options, label(options)) for options in learners]
    for option, values in vary.items():
        made = set[Options]()
        for options in learners:
            declared = options.spec.option(option)
            if declared is None:
                continue
            varied = {value: _varied(options, option, value) for value in values}
            if not made.issuperset(varied.values()):
                made.update(varied.values())
                base = label(options.replace(**{option: declared.default}))
                found += [Variant(each, base, option, value) for value, each in varied.items()]
    return found


def _varied(options: Options, option: str, value: str) -> Options:
    """Return the options with this option set to a value, written as in a specification."""
    others = {name: kept for name, kept in options.to_dict().items() if name != "learner"}
    return Options.parse(f"{options.learner}({option}={value})", **others)


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation over splits; no deviation for a single split."""

    mean: float
    deviation: float | None

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        """Return the spread of one or more values; without a deviation if any is infinite."""
        known = len(values) > 1 and all(map(isfinite, values))
        return cls(mean(values), stdev(values) if known else None)

    def __str__(self) -> str:
        """Return `0.865 ± 0.005`, or `0.865` without a deviation."""
        text = f"{self.mean:.3f}"
        return text if self.deviation is None else f"{text} ± {self.deviation:.3f}"


@dataclass(frozen=True)
class Result:
    """The outcomes of an estimator on a data set, one for each split."""

    estimator: str
    outcomes: list[Outcome]
    base: str
    option: str | None = None
    value: str = ""
    ours: bool = True
    failed: str = ""  # the error, if there are no outcomes

    @property
    def passes(self) -> int:
        """Return the number of passes; 0 when nothing was tested."""
        return min((len(outcome.passes) for outcome in self.outcomes), default=0)

    def after(self, number: int) -> list[Pass]:
        """Return the figures of each split after this pass, counted from 1."""
        return [outcome.passes[number - 1] for outcome in self.outcomes]

    def test(self, number: int, measure: str) -> Spread:
        """Return a measure on the test rows after this pass."""
        return Spread.of([each.test[measure] for each in self.after(number)])

    def decoded(self, number: int, measure: str) -> Spread | None:
        """Return a measure of decoded rankings on the test rows; None for peers."""
        has_any = any(measure in each.test for each in self.after(number))
        return self.test(number, measure) if has_any else None

    def training(self, number: int, measure: str) -> Spread:
        """Return a measure on training rows after this pass."""
        return Spread.of([each.training[measure] for each in self.after(number)])

    def progressive(self, measure: str) -> Spread | None:
        """Return a measure over the stream of the first pass; None for peers."""
        streams = [outcome.stream for outcome in self.outcomes if outcome.stream is not None]
        return Spread.of([stream.overall[measure] for stream in streams]) if streams else None

    def final(self, measure: str, best: bool = False) -> Spread | None:
        """Return a measure on the test rows after the pass shown, or over the stream."""
        number = self.pass_shown(best)
        return self.test(number, measure) if number else self.progressive(measure)

    def best_pass(self) -> int:
        """Return the pass with the best mean R1 on the test rows, the first of equal ones."""
        return max(range(1, self.passes + 1), key=lambda number: self.test(number, "R1").mean)

    def pass_shown(self, best: bool) -> int:
        """Return the pass that tables show: the last or the best; 0 without passes."""
        return self.best_pass() if best and self.passes else self.passes


@dataclass(frozen=True)
class Facts:
    """The size and split of a data set (Madani et al. 2009, figure 8)."""

    name: str
    instances: int
    features: int
    classes: int
    active_features: float  # the mean of an instance
    true_classes: float  # the mean of an instance
    training_rows: int
    test_rows: int
    split: str
    has_taxonomy: bool

    @classmethod
    def of(cls, data: Dataset, plan: Plan) -> "Facts":
        """Return the facts of a data set as the plan splits it."""
        rows = data.rows
        if plan.progressive:
            split, training, test = "one stream", 0, 0
        else:
            training = len(data.split(plan.seed, plan.shuffle)[0])
            test = len(rows) - training
            split = "as given" if data.published is not None else "at random"
            if data.published is None and not plan.shuffle:
                split = "the last rows for testing"
        return cls(
            data.name,
            len(rows),
            len(rows.features),
            len(rows.classes),
            len(rows.indices) / max(len(rows), 1),
            len(rows.class_indices) / max(len(rows), 1),
            training,
            test,
            split,
            data.taxonomy is not None,
        )

    @property
    def many_labels(self) -> bool:
        """Return whether instances have more than one class on average."""
        return self.true_classes > 1


@dataclass(frozen=True)
class Comparison:
    """The results of all estimators on one data set."""

    facts: Facts
    plan: Plan
    results: list[Result] = field(default_factory=list)

    def measured(self) -> list[Result]:
        """Return the results without those of failed estimators."""
        return [result for result in self.results if result.outcomes]


def compare(
    data: Dataset,
    learners: Sequence[Variant],
    peers: Mapping[str, Maker],
    plan: Plan,
    on_progress: OnProgress = lambda name, done: None,
) -> Comparison:
    """Run every learner and peer on every split of a data set.

    Variants with equal options run once and are reported under each of their names. A peer that
    raises an error is reported as failed, with the error; peers do not run on streams. Raise
    ValueError if a peer has the name of a learner, because tables find results by name.
    """
    for name in peers:
        if any(variant.name == name for variant in learners):
            raise ValueError(f"a learner and a peer are both called {name}: rename the peer")
    results = list[Result]()
    done: dict[Options, list[Outcome]] = {}
    for variant in learners:
        options = variant.options
        if options not in done:
            runs = (_of_learner(data, options, plan, seed) for seed in plan.seeds)
            done[options] = _reported(variant.name, on_progress, runs)
        results.append(
            Result(variant.name, done[options], variant.base, variant.option, variant.value)
        )
    for name, make in ({} if plan.progressive else peers).items():
        try:
            outcomes = _reported(
                name, on_progress, (_of_peer(data, make, plan, seed) for seed in plan.seeds)
            )
        except Exception as error:  # of another program; it must not lose hours of other results
            failed = f"{type(error).__name__}: {error}"
            results.append(Result(name, [], name, ours=False, failed=failed))
        else:
            results.append(Result(name, outcomes, name, ours=False))
    return Comparison(Facts.of(data, plan), plan, results)


def _reported(name: str, on_progress: OnProgress, runs: Iterable[Outcome]) -> list[Outcome]:
    outcomes = list[Outcome]()
    on_progress(name, 0)
    for outcome in runs:
        outcomes.append(outcome)
        on_progress(name, len(outcomes))
    return outcomes


def _of_learner(data: Dataset, options: Options, plan: Plan, seed: int) -> Outcome:
    if plan.progressive:
        return stream_through(options, data.stream(seed, plan.shuffle), seed, data.taxonomy)
    training, test = data.split(seed, plan.shuffle)
    return train_and_test(options, training, test, plan.passes, seed, data.taxonomy, plan.shuffle)


def _of_peer(data: Dataset, make: Maker, plan: Plan, seed: int) -> Outcome:
    training, test = data.split(seed, plan.shuffle)
    return fit_and_test(make(seed), training, test, seed, data.taxonomy)


SIGNIFICANT: Final = 0.05


def better_than(
    result: Result, other: Result, measure: str = "R1", after: tuple[int, int] | None = None
) -> tuple[int, int, bool]:
    """Return (wins, losses, significant) of one result against another on the same splits.

    `after` is the compared pass of each; without it, the last pass of each. Significance is by the
    binomial sign test (Madani et al. 2009, section 6.1).
    """
    number, other_number = after or (result.passes, other.passes)
    pairs = [
        (mine.test[measure], others.test[measure])
        for mine, others in zip(result.after(number), other.after(other_number), strict=True)
    ]
    wins = sum(mine > others for mine, others in pairs)
    losses = sum(mine < others for mine, others in pairs)
    return wins, losses, sign_test(wins, losses) <= SIGNIFICANT
