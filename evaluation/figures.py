"""Which plots show a comparison: those of Madani et al. 2009, section 6.3, and cost."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean

from manyclass.evaluation.comparison import Comparison, Result
from manyclass.evaluation.plot import Axis, Plot, Point, Series
from manyclass.evaluation.run import Outcome
from manyclass.evaluation.writing import short, shown

LEAST_OF_BEST = 0.75  # share of the best R1 below which a contender is left out of plots of cost
SMOOTHED = 5  # segments of a stream that one point of its curve is the mean of


@dataclass(frozen=True)
class Figure:
    """A plot, what it shows, and whether its legend is its own or the one of the data set."""

    plot: Plot
    caption: str
    own_legend: bool = False


def figures(comparison: Comparison, best_pass: bool = False) -> list[Figure]:
    """The plots of a data set, without those that would have nothing to show.

    Where one point stands for a contender, it is as it was after its last pass, or after the one
    with the highest mean R1 on the test rows.
    """
    mains = [result for result in comparison.measured() if result.option is None]
    made = [
        _by_pass(mains),
        _over_the_stream(mains),
        _against_training_time(mains, best_pass),
        _against_ranking_speed(mains, best_pass),
        _against_size(mains, best_pass),
        *_by_options(comparison, best_pass),
    ]
    return [figure for figure in made if figure is not None]


def colours(comparison: Comparison) -> dict[str, int]:
    """The colour of each contender that is not a variation, the same in all plots of a set."""
    mains = [result.contender for result in comparison.measured() if result.option is None]
    return {name: number for number, name in enumerate(dict.fromkeys(mains))}


# --- by pass --------------------------------------------------------------------------------------


def _by_pass(results: Sequence[Result]) -> Figure | None:
    several = [result for result in results if result.passes > 1]
    if not several:
        return None
    series = []
    for colour, result in enumerate(results):
        if result.passes > 1:
            series += _of_passes(result, colour)
    title = "Accuracy by pass: training against test"
    return Figure(
        Plot(title, _passes_of(several), Axis("R1"), series),
        "Solid: test rows. Dashed: rows that were learned, ranked after the pass.",
    )


def _passes_of(results: Sequence[Result]) -> Axis:
    most = max(result.passes for result in results)
    return Axis("passes", steps=[str(number) for number in range(1, most + 1)])


def _of_passes(result: Result, colour: int, name: str = "") -> list[Series]:
    """R1 on test rows and on training rows after each pass."""
    name = name or result.contender
    numbers = range(1, result.passes + 1)
    return [
        Series(
            f"{name}, {rows}",
            [
                Point(
                    number - 1,
                    spread.mean,
                    spread.deviation,
                    f"pass {number}, R1 {shown(spread)}",
                )
                for number in numbers
                for spread in [figure(number, "R1")]
            ],
            colour,
            dashed=dashed,
        )
        for rows, figure, dashed in (
            ("test", result.test, False),
            ("training", result.training, True),
        )
    ]


# --- over the stream ------------------------------------------------------------------------------


def _over_the_stream(results: Sequence[Result]) -> Figure | None:
    series = [
        _curve(result, colour)
        for colour, result in enumerate(results)
        if result.progressive("R1") is not None
    ]
    if not any(len(each.points) > 1 for each in series):
        return None
    title = "Progressive accuracy over the stream"
    return Figure(
        Plot(title, Axis("instances learned"), Axis("R1"), series),
        "Each instance was ranked before it was learned, once. A point is the mean over the tenth"
        " of the stream before it.",
    )


def _curve(result: Result, colour: int) -> Series:
    streams = [outcome.stream for outcome in result.outcomes if outcome.stream is not None]
    curves = [stream.curve for stream in streams]
    ends = [int(end) for end in curves[0]["learned"]]
    points = []
    for last in range(len(ends)):
        window = range(max(last - SMOOTHED + 1, 0), last + 1)
        means = {
            name: sum(curve[name][at] for curve in curves for at in window)
            / (len(curves) * len(window))
            for name in ("R1", "R5")
        }
        note = f"after {ends[last]:,}: R1 {means['R1']:.3f}, R5 {means['R5']:.3f}"
        points.append(Point(ends[last], means["R1"], note=note))
    return Series(result.contender, points, colour, marked=False)


# --- against cost ---------------------------------------------------------------------------------


def _against(
    title: str,
    axis: str,
    caption: str,
    results: Sequence[Result],
    best_pass: bool,
    cost: Callable[[Outcome, int], float | None],
    written: Callable[[float], str],
) -> Figure | None:
    """A point for each contender, but for those that would squash the others into one corner."""
    series, left_out = list[Series](), list[str]()
    accuracies = [each.final("R1", best_pass) for each in results]
    best = max((each.mean for each in accuracies if each is not None), default=0.0)
    for colour, (result, accuracy) in enumerate(zip(results, accuracies, strict=True)):
        number = result.pass_shown(best_pass)
        costs = [spent for outcome in result.outcomes if (spent := cost(outcome, number))]
        if accuracy is None or not costs:
            continue
        if accuracy.mean < best * LEAST_OF_BEST:
            left_out.append(f"{result.contender} (R1 {shown(accuracy)})")
            continue
        mean_cost = mean(costs)
        note = f"R1 {shown(accuracy)}, {written(mean_cost)}"
        point = Point(mean_cost, accuracy.mean, accuracy.deviation, note)
        series.append(Series(result.contender, [point], colour))
    if len(series) < 2:
        return None
    if left_out:
        caption += f" Left out: {', '.join(left_out)}."
    plot = Plot(title, Axis(axis, logarithmic=True), Axis("R1"), series, named=True)
    return Figure(plot, caption)


def _against_training_time(results: Sequence[Result], best_pass: bool) -> Figure | None:
    return _against(
        "Accuracy against training time",
        "CPU seconds to train",
        "Left and up is better.",
        results,
        best_pass,
        lambda outcome, number: (
            outcome.passes[number - 1].train_seconds if number else outcome.seconds
        ),
        lambda seconds: f"{seconds:.3g} CPU s",
    )


def _against_ranking_speed(results: Sequence[Result], best_pass: bool) -> Figure | None:
    return _against(
        "Accuracy against ranking speed",
        "instances ranked in a CPU second",
        "Right and up is better. The five best classes of each test row.",
        results,
        best_pass,
        lambda outcome, number: outcome.ranks_per_second,
        lambda rate: f"{rate:,.0f} a CPU second",
    )


def _against_size(results: Sequence[Result], best_pass: bool) -> Figure | None:
    return _against(
        "Accuracy against size",
        "bytes of the saved model",
        "Left and up is better.",
        results,
        best_pass,
        lambda outcome, number: outcome.passes[number - 1].bytes if number else outcome.bytes,
        lambda size: f"{size:,.0f} bytes",
    )


# --- by option ------------------------------------------------------------------------------------


def _by_options(comparison: Comparison, best_pass: bool) -> list[Figure]:
    """For each option that was varied: accuracy by its value, and by pass for each value."""
    results = comparison.measured()
    options = dict.fromkeys(result.option for result in results if result.option is not None)
    made = list[Figure]()
    for option in options:
        varied = [result for result in results if result.option == option]
        made += _by_value(option, varied, colours(comparison), best_pass)
        for base in dict.fromkeys(result.base for result in varied):
            mine = [result for result in varied if result.base == base]
            if max(result.passes for result in mine) > 1:
                made.append(_by_pass_and_value(option, base, mine))
    return made


def _by_value(
    option: str, varied: Sequence[Result], known: Mapping[str, int], best_pass: bool
) -> list[Figure]:
    """R1 and R5 by value, a line for each learner, in the colours that are known already."""
    colour_of = dict(known)
    for result in varied:
        colour_of.setdefault(result.base, len(colour_of))
    values = list(dict.fromkeys(result.value for result in varied))
    made = []
    for measure in ("R1", "R5"):
        series = []
        for base in dict.fromkeys(result.base for result in varied):
            points = [
                Point(
                    values.index(result.value),
                    spread.mean,
                    spread.deviation,
                    f"{option} {result.value}, {measure} {shown(spread)}{_work(result, best_pass)}",
                )
                for result in varied
                if result.base == base
                for spread in [result.final(measure, best_pass)]
                if spread is not None
            ]
            series.append(Series(base, points, colour_of[base]))
        plot = Plot(f"{measure} by {option}", Axis(option, steps=values), Axis(measure), series)
        made.append(
            Figure(
                plot,
                f"After the {'best' if best_pass else 'last'} pass, on test rows; over the stream"
                " where there is no test.",
                own_legend=True,
            )
        )
    return made


def _work(result: Result, best_pass: bool) -> str:
    """What an index of this kind costs, for those who hover over it."""
    made = result.after(result.pass_shown(best_pass)) if result.passes else []
    edges = [each.edges for each in made if each.edges is not None]
    touched = [each.touched for each in made if each.touched is not None]
    if not edges or not touched:
        return ""
    return f", |W| {short(mean(edges))}, d {short(mean(touched))}"


def _by_pass_and_value(option: str, base: str, varied: Sequence[Result]) -> Figure:
    series = []
    for colour, result in enumerate(varied):
        series += _of_passes(result, colour, f"{option} {result.value}")
    title = f"{base}: accuracy by pass and {option}"
    return Figure(
        Plot(title, _passes_of(varied), Axis("R1"), series),
        "Solid: test rows. Dashed: rows that were learned.",
        own_legend=True,
    )
