"""Many runs put together: learners and peers, over the splits of data sets."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from statistics import mean, stdev
from typing import Final

from manyclass.core.errors import OptionError
from manyclass.core.learners.options import LIMITS, Options
from manyclass.core.learners.registry import option_of
from manyclass.evaluation.contender import Maker
from manyclass.evaluation.measures import sign_test
from manyclass.evaluation.run import Outcome, Pass, fit_and_test, stream_through, train_and_test
from manyclass.evaluation.sets import DataSet

Heard = Callable[[str, int], None]  # the name of a contender, and how many of its splits are done


@dataclass(frozen=True)
class Plan:
    """How every contender is trained and tested."""

    passes: int = 1
    splits: int = 3
    seed: int = 0  # of the first split; each other has the next one
    shuffle: bool = True
    progressive: bool = False  # all rows are one stream, ranked before they are learned; no test

    @property
    def seeds(self) -> range:
        """The seed of each split; one only where nothing is shuffled, since all would be equal."""
        return range(self.seed, self.seed + (self.splits if self.shuffle else 1))


@dataclass(frozen=True)
class Variant:
    """A learner that takes part, and what it is a variation of."""

    options: Options
    base: str  # its name
    option: str | None = None  # the one that is varied; the base has its default
    value: str = ""

    @property
    def name(self) -> str:
        """What tables and plots call it."""
        return label(self.options)


def label(options: Options) -> str:
    """The specification of a learner, and limits that are not the usual ones."""
    limits = [
        f"{option.name}={value}"
        for option, (_, value) in zip(options.spec.options, options.values, strict=True)
        if option.name in LIMITS and value != option.default
    ]
    return " ".join([options.specification, *limits])


def variants(learners: Sequence[Options], vary: Mapping[str, Sequence[str]]) -> list[Variant]:
    """The learners, each followed by itself with one option at each of the values given for it.

    An option is varied in the learners on which it has an effect; OptionError when there are none,
    and for a value that it cannot have. Learners that differ in nothing but the option are varied
    as one.
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
    """The options with another value of this one, written as in a specification."""
    others = {name: kept for name, kept in options.to_dict().items() if name != "learner"}
    return Options.parse(f"{options.learner}({option}={value})", **others)


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation over splits; no deviation of a single one."""

    mean: float
    deviation: float | None

    @classmethod
    def of(cls, figures: Sequence[float]) -> "Spread":
        """The spread of at least one figure; infinite ones have no deviation."""
        known = len(figures) > 1 and all(isfinite(figure) for figure in figures)
        return cls(mean(figures), stdev(figures) if known else None)


@dataclass(frozen=True)
class Result:
    """What a contender came to on a data set, split by split."""

    contender: str
    outcomes: list[Outcome]
    base: str
    option: str | None = None
    value: str = ""
    ours: bool = True
    failed: str = ""  # why there are no outcomes

    @property
    def passes(self) -> int:
        """How many passes were made; 0 when nothing was tested."""
        return min((len(outcome.passes) for outcome in self.outcomes), default=0)

    def after(self, number: int) -> list[Pass]:
        """How each split stood after this pass, the first being number 1."""
        return [outcome.passes[number - 1] for outcome in self.outcomes]

    def test(self, number: int, measure: str) -> Spread:
        """A measure on the test rows after this pass."""
        return Spread.of([each.test[measure] for each in self.after(number)])

    def training(self, number: int, measure: str) -> Spread:
        """A measure on rows that were learned, after this pass."""
        return Spread.of([each.training[measure] for each in self.after(number)])

    def progressive(self, measure: str) -> Spread | None:
        """A measure over the stream of the first pass; None for peers."""
        streams = [outcome.stream for outcome in self.outcomes if outcome.stream is not None]
        return Spread.of([stream.overall[measure] for stream in streams]) if streams else None

    def final(self, measure: str, best: bool = False) -> Spread | None:
        """A measure on the test rows after the pass shown; over the stream where there are none."""
        number = self.pass_shown(best)
        return self.test(number, measure) if number else self.progressive(measure)

    def best_pass(self) -> int:
        """The pass after which mean R1 on the test rows is best, the first of equal ones."""
        return max(range(1, self.passes + 1), key=lambda number: self.test(number, "R1").mean)

    def pass_shown(self, best: bool) -> int:
        """The pass whose figures stand for the result: the last one, or the best; 0 without any."""
        return self.best_pass() if best and self.passes else self.passes


@dataclass(frozen=True)
class Facts:
    """What a data set is like (Madani et al. 2009, figure 8)."""

    name: str
    instances: int
    features: int
    classes: int
    active_features: float  # of an instance, on average
    true_classes: float
    training_rows: int
    test_rows: int
    split: str
    has_taxonomy: bool

    @classmethod
    def of(cls, data: DataSet, plan: Plan) -> "Facts":
        """The facts of a set as it is split by the plan."""
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
        """Whether instances have more than one class."""
        return self.true_classes > 1


@dataclass(frozen=True)
class Comparison:
    """All contenders on one data set."""

    facts: Facts
    plan: Plan
    results: list[Result] = field(default_factory=list)

    def measured(self) -> list[Result]:
        """The results that there are, without contenders that failed."""
        return [result for result in self.results if result.outcomes]


def compare(
    data: DataSet,
    learners: Sequence[Variant],
    peers: Mapping[str, Maker],
    plan: Plan,
    heard: Heard = lambda name, done: None,
) -> Comparison:
    """Run every learner and peer on every split of a data set.

    Variants that come to the same options are run once and reported as often as they are named. A
    peer that raises is reported as failed, with what it said; peers are left out of streams.
    ValueError when a peer has the name of a learner: tables find contenders by their names.
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
            done[options] = _heard_of(variant.name, heard, runs)
        results.append(
            Result(variant.name, done[options], variant.base, variant.option, variant.value)
        )
    for name, make in ({} if plan.progressive else peers).items():
        try:
            outcomes = _heard_of(
                name, heard, (_of_peer(data, make, plan, seed) for seed in plan.seeds)
            )
        except Exception as error:  # programs of others, hours into a run: what they say is kept
            failed = f"{type(error).__name__}: {error}"
            results.append(Result(name, [], name, ours=False, failed=failed))
        else:
            results.append(Result(name, outcomes, name, ours=False))
    return Comparison(Facts.of(data, plan), plan, results)


def _heard_of(name: str, heard: Heard, runs: Iterable[Outcome]) -> list[Outcome]:
    outcomes = list[Outcome]()
    heard(name, 0)
    for outcome in runs:
        outcomes.append(outcome)
        heard(name, len(outcomes))
    return outcomes


def _of_learner(data: DataSet, options: Options, plan: Plan, seed: int) -> Outcome:
    if plan.progressive:
        return stream_through(options, data.stream(seed, plan.shuffle), seed)
    training, test = data.split(seed, plan.shuffle)
    return train_and_test(options, training, test, plan.passes, seed, data.taxonomy, plan.shuffle)


def _of_peer(data: DataSet, make: Maker, plan: Plan, seed: int) -> Outcome:
    training, test = data.split(seed, plan.shuffle)
    return fit_and_test(make(seed), training, test, seed, data.taxonomy)


SIGNIFICANT: Final = 0.05


def better_than(
    result: Result, other: Result, measure: str = "R1", after: tuple[int, int] | None = None
) -> tuple[int, int, bool]:
    """(wins, losses, significant) of two results on the same splits.

    `after` is the pass of the one and of the other that is looked at; without, the last of each.
    The binomial sign test of Madani et al. 2009, section 6.1.
    """
    number, other_number = after or (result.passes, other.passes)
    pairs = [
        (mine.test[measure], others.test[measure])
        for mine, others in zip(result.after(number), other.after(other_number), strict=True)
    ]
    wins = sum(mine > others for mine, others in pairs)
    losses = sum(mine < others for mine, others in pairs)
    return wins, losses, sign_test(wins, losses) <= SIGNIFICANT
