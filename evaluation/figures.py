"""Figures of a comparison: accuracy by pass, along the stream, against cost, and by option.

After Madani et al. 2009, section 6.3.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import mean

from manyclass.evaluation.comparison import Comparison, Result, Spread
from manyclass.evaluation.plot import Figure, Point, Series
from manyclass.evaluation.run import Outcome

LEAST_OF_BEST = 0.75  # share of the best R1 below which figures of cost leave a result out
SMOOTHED = 5  # segments of a stream, averaged into one point of its curve


def figures(comparison: Comparison, best_pass: bool = False) -> list[Figure]:
    """Return the figures of a data set that compare two or more results.

    Where a result is a single point, it is its last pass, or with `best_pass` the pass with the
    highest mean R1 on the test rows.
    """
    results = [result for result in comparison.measured() if result.option is None]
    colour_of = {name: at for at, name in enumerate(dict.fromkeys(r.estimator for r in results))}
    made = [
        _by_pass("Accuracy by pass: training against test", results),
        _over_the_stream(results),
        _answers(results),
        *_against_costs(results, best_pass),
        *_by_options(comparison, colour_of, best_pass),
    ]
    return [figure for figure in made if figure is not None]


def _by_pass(title: str, results: Sequence[Result], option: str = "") -> Figure | None:
    """Return R1 on test rows and on training rows after each pass; None after one pass."""
    most = max((result.passes for result in results), default=0)
    if most < 2:
        return None
    series = []
    for colour, result in enumerate(results):
        if result.passes < 2:
            continue
        name = f"{option} {result.value}" if option else result.estimator
        for rows, spread_of in (("test", result.test), ("training", result.training)):
            spreads = [spread_of(number, "R1") for number in range(1, result.passes + 1)]
            points = [_point(at, spread) for at, spread in enumerate(spreads)]
            series.append(Series(f"{name}, {rows}", points, colour, dashed=rows == "training"))
    caption = "Solid: test rows. Dashed: learned rows, ranked after the pass."
    steps = [str(number) for number in range(1, most + 1)]
    return Figure(title, "passes", "R1", series, caption, steps)


def _point(x: float, spread: Spread) -> Point:
    return x, spread.mean, spread.deviation


def _over_the_stream(results: Sequence[Result]) -> Figure | None:
    """Return progressive R1 along the stream of the first pass; None for streams of one row."""
    series = [
        Series(result.estimator, _curve(result), colour, marked=False)
        for colour, result in enumerate(results)
        if result.progressive("R1") is not None
    ]
    if not any(len(each.points) > 1 for each in series):
        return None
    title = "Progressive accuracy over the stream"
    caption = "Each row is ranked before it is learned. A point is the mean of the tenth before it."
    return Figure(title, "instances learned", "R1", series, caption)


def _curve(result: Result) -> list[tuple[float, float, None]]:
    curves = [outcome.stream.curve for outcome in result.outcomes if outcome.stream is not None]
    points = list[tuple[float, float, None]]()
    for last, end in enumerate(curves[0]["learned"]):
        window = slice(max(last - SMOOTHED + 1, 0), last + 1)
        points.append((end, mean(r1 for curve in curves for r1 in curve["R1"][window]), None))
    return points


def _answers(results: Sequence[Result]) -> Figure | None:
    """Return the accuracy of the answers above a limit of confidence; None for short streams."""
    series = list[Series]()
    for colour, result in enumerate(results):
        streams = [outcome.stream for outcome in result.outcomes if outcome.stream is not None]
        if streams and len(streams[0].answers["answered"]) > 1:
            pairs = zip(streams[0].answers["answered"], streams[0].answers["right"], strict=True)
            points = [(answered, right, None) for answered, right in pairs]
            series.append(Series(result.estimator, points, colour, marked=False))
    if not series:
        return None
    title = "Accuracy of answers against coverage"
    caption = (
        "Answers above a falling limit of confidence, over the stream of the first split; the first"
        " hundred rows do not count."
    )
    return Figure(title, "share answered", "right of these", series, caption)


Cost = Callable[[Outcome, int], float | None]  # of an outcome after a pass; 0: of its stream

COSTS: Sequence[tuple[str, str, str, Cost]] = (
    (
        "Accuracy against training time",
        "CPU seconds to train",
        "Left and up is better.",
        lambda outcome, number: (
            outcome.passes[number - 1].train_seconds if number else outcome.seconds
        ),
    ),
    (
        "Accuracy against ranking speed",
        "instances ranked in a CPU second",
        "Right and up is better. The five best classes of each test row.",
        lambda outcome, number: outcome.ranks_per_second,
    ),
    (
        "Accuracy against size",
        "bytes of the saved model",
        "Left and up is better.",
        lambda outcome, number: outcome.passes[number - 1].bytes if number else outcome.bytes,
    ),
)


def _against_costs(results: Sequence[Result], best_pass: bool) -> Iterator[Figure]:
    """Yield R1 against each cost that two or more results have.

    Results far below the best R1 are only named in the caption, to show the other differences.
    """
    accuracies = [each.final("R1", best_pass) for each in results]
    best = max((each.mean for each in accuracies if each is not None), default=0.0)
    for title, axis, caption, cost in COSTS:
        series, left_out = list[Series](), list[str]()
        for colour, (result, accuracy) in enumerate(zip(results, accuracies, strict=True)):
            number = result.pass_shown(best_pass)
            costs = [spent for outcome in result.outcomes if (spent := cost(outcome, number))]
            if accuracy is None or not costs:
                continue
            if accuracy.mean < best * LEAST_OF_BEST:
                left_out.append(f"{result.estimator} (R1 {accuracy})")
            else:
                points = [_point(mean(costs), accuracy)]
                series.append(Series(result.estimator, points, colour))
        if left_out:
            caption += f" Left out: {', '.join(left_out)}."
        if len(series) > 1:
            yield Figure(title, axis, "R1", series, caption, logarithmic=True, scattered=True)


def _by_options(
    comparison: Comparison, known_colours: Mapping[str, int], best_pass: bool
) -> Iterator[Figure | None]:
    """Yield accuracy by the value of each varied option, and by pass for each of its values."""
    results, colour_of = comparison.measured(), dict(known_colours)
    for option in dict.fromkeys(each.option for each in results if each.option is not None):
        varied = [result for result in results if result.option == option]
        bases = list(dict.fromkeys(result.base for result in varied))
        values = list(dict.fromkeys(result.value for result in varied))
        for base in bases:
            colour_of.setdefault(base, len(colour_of))
        caption = f"After the {'best' if best_pass else 'last'} pass; of streams, over all rows."
        for measure in ("R1", "R5"):
            series = []
            for base in bases:
                spreads = {
                    values.index(result.value): result.final(measure, best_pass)
                    for result in varied
                    if result.base == base
                }
                points = [_point(x, spread) for x, spread in spreads.items() if spread is not None]
                if points:
                    series.append(Series(base, points, colour_of[base]))
            yield Figure(f"{measure} by {option}", option, measure, series, caption, values)
        for base in bases:
            of_base = [result for result in varied if result.base == base]
            yield _by_pass(f"{base}: accuracy by pass and {option}", of_base, option)
