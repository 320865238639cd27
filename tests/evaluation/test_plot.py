import re
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from manyclass.evaluation.plot import COLOURS, MARKERS, NEUTRAL, Axis, Figure, Series

FIGURE = Figure(
    "t", "x", "R1", [Series("a<b", [(0, 0.5, 0.1), (1, 0.75, None)], 3)], steps=["p", "q"]
)
LOGARITHMIC = replace(FIGURE, steps=(), logarithmic=True, series=[
    Series("a", [(0.02, 0.5, None)], 0), Series("b", [(2000, 0.6, None)], 1),
])  # fmt: skip


def texts(figure):
    return [each.text for each in ElementTree.fromstring(figure.svg()).iter() if each.text]


def paths(figure, colour, attribute="stroke"):
    return [
        each.get("d")
        for each in ElementTree.fromstring(figure.svg()).iter()
        if each.get(attribute) == colour
    ]


def points(path):
    numbers = [float(each) for each in re.findall(r"[\d.]+", path)]
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def test_a_figure_is_an_svg_document_with_its_names():
    assert {"t", "a<b", "x", "R1", "p", "q"} <= {*texts(FIGURE)}
    assert FIGURE.svg() == FIGURE.svg()


def test_a_line_goes_to_the_right_and_up_as_the_values_do():
    line, *_ = paths(FIGURE, COLOURS[3])

    (left, low), (right, high) = points(line)
    assert left < right
    assert low > high  # pixels count from the top


def test_points_are_where_the_ticks_of_their_values_are():
    grid = paths(FIGURE, NEUTRAL)[0]
    line, *_ = paths(FIGURE, COLOURS[3])

    upright = re.findall(r"M([\d.]+) [\d.]+V", grid)
    assert [float(each) for each in upright] == [x for x, _ in points(line)]


def test_a_deviation_is_a_bar_around_its_point():
    line, bar, _ = paths(FIGURE, COLOURS[3])[:3]

    (x, y), _ = points(line)
    found = re.fullmatch(r"M([\d.]+) ([\d.]+)m-2 0h4m-2 0V([\d.]+)m-2 0h4", bar)
    at, top, bottom = map(float, found.groups())
    assert at == x
    assert (top + bottom) / 2 == pytest.approx(y, abs=0.1)
    assert bottom > y > top


def test_each_series_has_its_colour_and_marker_and_may_be_dashed():
    series = [Series(str(n), [(0, n, None), (1, n, None)], n, dashed=n == 2) for n in range(4)]
    figure = replace(FIGURE, series=series)

    for number, marker in enumerate(MARKERS[:4]):
        in_plot, in_legend = paths(figure, COLOURS[number], "fill")
        assert in_plot.count(marker) == 2
        assert in_legend.count(marker) == 1
    dashed = [line for line in figure.svg().splitlines() if "dasharray" in line]
    assert len(dashed) == 2  # in the plot and in the legend
    assert all(COLOURS[2] in line for line in dashed)


def test_a_series_without_markers_has_none():
    (series,) = FIGURE.series

    assert not paths(replace(FIGURE, series=[replace(series, marked=False)]), COLOURS[3], "fill")


def test_scattered_points_are_not_joined():
    (series,) = FIGURE.series
    scattered = replace(FIGURE, scattered=True, series=[replace(series, points=[(1, 2, None)])])

    assert paths(scattered, COLOURS[3]) == []
    assert len(paths(scattered, COLOURS[3], "fill")) == 2


def test_faint_points_are_grey_below_the_front_and_not_in_the_legend():
    faint = Series("faint", [(0, 0.6, None)], 0, faint=True)
    figure = replace(FIGURE, series=[faint, *FIGURE.series], front=[(0, 0.5), (1, 0.75)])

    assert "faint" not in texts(figure)
    assert not paths(figure, COLOURS[0], "fill")
    assert paths(figure, ".4", "fill-opacity")[0].count(MARKERS[0]) == 1
    front, line = paths(figure, NEUTRAL)[-1], paths(figure, COLOURS[3])[0]
    assert front == line


def test_a_logarithmic_axis_has_powers_of_ten():
    assert {"0.1", "1", "10", "100", "1k"} <= {*texts(LOGARITHMIC)}
    grid = paths(LOGARITHMIC, NEUTRAL)[0]
    upright = [float(each) for each in re.findall(r"M([\d.]+) [\d.]+V", grid)]
    gaps = [after - before for before, after in pairwise(upright)]
    assert gaps == pytest.approx([gaps[0]] * len(gaps), abs=0.2)


@pytest.mark.parametrize(
    ("low", "high", "names"),
    [
        (0, 1, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        (0.55, 0.9, ["0.55", "0.60", "0.65", "0.70", "0.75", "0.80", "0.85", "0.90"]),
        (0, 10_000, ["0", "2,000", "4,000", "6,000", "8,000", "10,000"]),
        (3, 3, ["2.85", "2.90", "2.95", "3.00", "3.05", "3.10"]),
        (0, 0, ["-1.0", "-0.5", "0.0", "0.5", "1.0"]),
    ],
)
def test_ticks_are_round_values_within_the_range(low, high, names):
    axis = Axis.around([low, high], 0, 100)

    assert [name for _, name in axis.ticks()] == names
    assert all(0 <= axis.pixel(value) <= 100 for value, _ in axis.ticks())


@pytest.mark.parametrize(
    ("low", "high", "names"),
    [(1, 5, ["1", "2", "5"]), (2.5, 4.5, ["2.5", "3.0", "3.5", "4.0", "4.5"])],
)
def test_a_short_logarithmic_axis_has_more_ticks(low, high, names):
    assert [name for _, name in Axis.around([low, high], 0, 100, True).ticks()] == names


def test_a_long_series_keeps_its_line_and_only_some_markers():
    (series,) = FIGURE.series
    many = [(n, n % 7, 0.5) for n in range(1000)]
    figure = replace(FIGURE, steps=(), series=[replace(series, points=many)])

    line, bars, *_ = paths(figure, COLOURS[3])
    assert len(points(line)) == 1000
    assert bars.count("V") == 30
    assert paths(figure, COLOURS[3], "fill")[0].count(MARKERS[3]) == 30


def test_the_legend_has_as_many_columns_as_fit_and_the_picture_room_for_a_long_name():
    def places(*names):
        series = [Series(name, [(0, 1, None)], 0) for name in names]
        figure = replace(FIGURE, steps=(), series=series)
        root = ElementTree.fromstring(figure.svg())
        named = [each for each in root if each.text in names]
        return float(root.get("width")), [(each.get("x"), each.get("y")) for each in named]

    _, short = places("a", "b", "c")
    assert len({y for _, y in short}) == 1
    assert len({x for x, _ in short}) == 3
    width, long = places("a" * 100, "b")
    assert len({y for _, y in long}) == 2
    assert width > 100 * 6
