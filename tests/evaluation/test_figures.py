import pytest

from manyclass.core.learners.options import Options
from manyclass.evaluation.comparison import Comparison, Plan, Result, compare, variants
from manyclass.evaluation.figures import SMOOTHED, figures
from manyclass.evaluation.run import SEGMENTS, Outcome, Pass
from tests.evaluation.examples import Always, compared, comparison_of, data_set

LEARNERS = [Options(), Options(rating=0)]


@pytest.fixture(scope="module")
def full():
    """Compare two learners, one of them with variants, and a peer."""
    learners = variants(LEARNERS, {"max_outdegree": ["1", "5"]})
    return compare(data_set(200), learners, {"always": Always}, Plan(passes=3, splits=2))


def by_title(comparison, **given):
    return {figure.title: figure for figure in figures(comparison, **given)}


def names(figure):
    return [each.name for each in figure.series]


def test_all_plots_of_the_papers_are_there(full):
    assert [*by_title(full)] == [
        "Accuracy by pass: training against test",
        "Progressive accuracy over the stream",
        "Accuracy of answers against coverage",
        "Accuracy against training time",
        "Accuracy against ranking speed",
        "Accuracy against size",
        "R1 by max_outdegree",
        "R5 by max_outdegree",
        "ff: accuracy by pass and max_outdegree",
        "ff(rating=0): accuracy by pass and max_outdegree",
    ]


def test_by_pass_the_training_rows_are_dashed_and_peers_left_out(full):
    figure = by_title(full)["Accuracy by pass: training against test"]

    assert names(figure) == [
        "ff, test",
        "ff, training",
        "ff(rating=0), test",
        "ff(rating=0), training",
    ]
    assert [each.dashed for each in figure.series] == [False, True, False, True]
    test = figure.series[0].points
    spreads = [full.results[0].test(n, "R1") for n in (1, 2, 3)]
    assert [each[1:] for each in test] == [(each.mean, each.deviation) for each in spreads]
    assert figure.steps == ["1", "2", "3"]


def test_answers_are_those_of_the_first_stream(full):
    figure = by_title(full)["Accuracy of answers against coverage"]

    answers = full.results[0].outcomes[0].stream.answers
    assert names(figure) == ["ff", "ff(rating=0)"]
    assert [point[0] for point in figure.series[0].points] == answers["answered"]
    assert [point[1] for point in figure.series[0].points] == answers["right"]


def test_a_stream_has_a_point_for_each_segment_smoothed_over_those_before(full):
    figure = by_title(full)["Progressive accuracy over the stream"]

    curve = [outcome.stream.curve["R1"] for outcome in full.results[0].outcomes]
    points = figure.series[0].points
    assert names(figure) == ["ff", "ff(rating=0)"]
    assert len(points) == SEGMENTS
    assert points[0][1] == pytest.approx((curve[0][0] + curve[1][0]) / 2)
    window = [each[at] for each in curve for at in range(1, 1 + SMOOTHED)]
    assert points[SMOOTHED][1] == pytest.approx(sum(window) / len(window))
    assert points[SMOOTHED][1] != curve[0][SMOOTHED]
    assert points[-1][0] == 150


@pytest.mark.parametrize(
    ("title", "of"),
    [
        ("Accuracy against training time", lambda each: each.passes[-1].train_seconds),
        ("Accuracy against ranking speed", lambda each: each.ranks_per_second),
        ("Accuracy against size", lambda each: each.passes[-1].bytes),
    ],
)
def test_cost_is_the_mean_over_the_splits(full, title, of):
    figure = by_title(full)[title]

    assert names(figure) == ["ff", "ff(rating=0)"]
    assert figure.caption.endswith("Left out: always (R1 0.270 ± 0.042).")
    outcomes = full.results[0].outcomes
    assert figure.series[0].points[0][0] == pytest.approx(sum(map(of, outcomes)) / 2)
    assert figure.scattered


def test_values_of_an_option_are_a_line_for_each_learner(full):
    figure = by_title(full)["R1 by max_outdegree"]

    assert names(figure) == ["ff", "ff(rating=0)"]
    assert figure.steps == ["1", "5"]
    assert [x for x, *_ in figure.series[0].points] == [0, 1]


def test_learners_keep_their_colours_where_an_option_is_varied():
    learners = [Options(rating=3), Options(), Options(leak=False)]

    found = compared(learners, {"rating": ["0", "3"]}, splits=1)

    known = {"ff(rating=3)": 0, "ff": 1, "ff(leak=no)": 2}
    series = by_title(found)["R1 by rating"].series
    assert {each.name: each.colour for each in series} == {
        "ff": known["ff"],
        "ff(leak=no)": known["ff(leak=no)"],
    }


def test_by_pass_and_value_there_is_a_line_for_each_value(full):
    figure = by_title(full)["ff: accuracy by pass and max_outdegree"]

    assert names(figure)[::2] == ["max_outdegree 1, test", "max_outdegree 5, test"]


def test_empty_figures_are_left_out():
    one = compared(splits=1)

    assert [*by_title(one)] == ["Progressive accuracy over the stream"]
    assert figures(Comparison(one.facts, one.plan, [])) == []


def test_a_progressive_run_shows_the_stream_and_its_cost():
    found = compared(LEARNERS, splits=2, progressive=True)

    assert [*by_title(found)] == [
        "Progressive accuracy over the stream",
        "Accuracy against training time",
        "Accuracy against size",
    ]
    streams = [outcome.stream for outcome in found.results[0].outcomes]
    (point,) = by_title(found)["Accuracy against size"].series[0].points
    assert point[0] == sum(each.bytes for each in streams) / 2
    assert point[1] == found.results[0].progressive("R1").mean


def test_a_progressive_run_shows_the_values_of_an_option():
    found = compared(vary={"rating": ["0", "5"]}, splits=2, progressive=True)

    figure = by_title(found)["R1 by rating"]
    assert len(figure.series[0].points) == 2


def test_an_estimator_has_one_colour_in_all_figures(full):
    scatter = by_title(full)["Accuracy against size"]
    assert {each.name: each.colour for each in scatter.series} == {"ff": 0, "ff(rating=0)": 1}


def test_one_point_is_as_after_the_last_pass_or_the_best():
    def result(name, option=None):
        passes = [
            Pass(number, 10.0 * number, {"R1": r1, "R5": r1}, {"R1": 1.0}, 1000 * number)
            for number, r1 in ((1, 0.625), (2, 0.5))
        ]
        return Result(name, [Outcome(0, passes)], name, option, "1" if option else "")

    found = comparison_of(result("a"), result("b"), result("c", "rating"), splits=1)

    def points(best_pass):
        shown = by_title(found, best_pass=best_pass)
        titles = ("Accuracy against training time", "Accuracy against size", "R1 by rating")
        first = [shown[title].series[0].points[0] for title in titles]
        return [point[:2] for point in first]

    assert points(best_pass=False) == [(20.0, 0.5), (2000, 0.5), (0, 0.5)]
    assert points(best_pass=True) == [(10.0, 0.625), (1000, 0.625), (0, 0.625)]
