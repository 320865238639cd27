from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.evaluation.plot import (
    BOTTOM,
    CHARACTER,
    GAP,
    HEIGHT,
    LEFT,
    LONGEST_NAME,
    RIGHT,
    TOP,
    WIDTH,
    Axis,
    Plot,
    Point,
    Series,
    swatch,
)


def drawn(plot):
    """The picture, read as XML."""
    return ElementTree.fromstring(plot.svg())


def of_class(picture, name):
    return [each for each in picture.iter() if name in each.get("class", "").split()]


def hovers(picture):
    """Where each point is."""
    return [(float(each.get("cx")), float(each.get("cy"))) for each in of_class(picture, "hover")]


def lines(*points, **given):
    return Plot("p", Axis("x"), Axis("y"), [Series("s", points, 0)], **given)


figures = st.floats(0.001, 1e6)


@given(st.lists(st.tuples(figures, figures), min_size=1, max_size=8), st.booleans(), st.booleans())
def test_every_point_is_inside_whatever_the_figures_are(points, logarithmic, named):
    axis = Axis("x", logarithmic=logarithmic)
    series = [Series(f"s{n}", [Point(*point, 0.0005)], n) for n, point in enumerate(points)]

    picture = drawn(Plot("p", axis, Axis("y"), series, named=named))

    for x, y in hovers(picture):
        assert LEFT <= x <= WIDTH - RIGHT
        assert TOP <= y <= HEIGHT - BOTTOM
    assert len(of_class(picture, "tick")) >= 2


def test_more_is_to_the_right_and_up():
    (low, high) = hovers(drawn(lines(Point(1, 1), Point(2, 2))))

    assert low[0] < high[0]
    assert low[1] > high[1]


def test_on_a_logarithmic_axis_equal_ratios_are_equally_far():
    plot = Plot(
        "p",
        Axis("x", logarithmic=True),
        Axis("y"),
        [Series("s", [Point(x, x) for x in (1, 10, 100)], 0)],
    )

    (first, second, third) = [x for x, _ in hovers(drawn(plot))]

    assert second - first == pytest.approx(third - second, abs=0.11)


def test_zero_on_a_logarithmic_axis_makes_it_an_ordinary_one():
    plot = Plot(
        "p",
        Axis("x", logarithmic=True),
        Axis("y"),
        [Series("s", [Point(x, x) for x in (0, 50, 100)], 0)],
    )

    (first, second, third) = [x for x, _ in hovers(drawn(plot))]

    assert second - first == pytest.approx(third - second, abs=0.11)


def test_steps_have_names_instead_of_numbers():
    steps = ["0", "0.1", "0.5", "7"]
    plot = Plot("p", Axis("x", steps=steps), Axis("y"), [Series("s", [Point(3, 1)], 0)])

    texts = [each.text for each in of_class(drawn(plot), "tick") if "up" not in each.get("class")]

    assert texts == steps


def test_ticks_are_round_numbers():
    picture = drawn(lines(Point(1, 0.8412), Point(2, 0.8873)))

    assert [each.text for each in of_class(picture, "up")] == [
        "0.84",
        "0.85",
        "0.86",
        "0.87",
        "0.88",
        "0.89",
    ]


def test_small_differences_do_not_fill_a_picture():
    (one, other) = hovers(drawn(lines(Point(1, 0.8801), Point(2, 0.8803))))

    assert 0 < one[1] - other[1] < 5


def test_ticks_have_different_names():
    ticks = [each.text for each in of_class(drawn(lines(Point(1, 0.5), Point(2, 0.5))), "up")]

    assert len({*ticks}) == len(ticks) >= 3


def test_hovering_tells_the_series_and_the_figures():
    series = Series("ff<1>", [Point(1, 1, note="R1 0.5"), Point(2, 2)], 0)

    titles = [each.text for each in drawn(Plot("p", Axis("x"), Axis("y"), [series])).iter("title")]

    assert titles == ["ff<1>: R1 0.5", "ff<1>"]


def test_a_deviation_is_a_whisker_inside_the_picture():
    picture = drawn(lines(Point(1, 1, 0.5), Point(2, 1)))

    (whisker,) = of_class(picture, "whisker")
    assert float(whisker.get("y2")) - float(whisker.get("y1")) > 20
    assert float(whisker.get("y1")) >= TOP
    assert float(whisker.get("y2")) <= HEIGHT - BOTTOM


def test_points_are_joined_unless_they_are_named():
    points = Point(1, 1), Point(2, 2)

    assert len(of_class(drawn(lines(*points)), "line")) == 1
    assert of_class(drawn(lines(*points, named=True)), "line") == []


def test_series_without_marks_are_lines_that_can_be_hovered_over():
    series = [Series("s", [Point(1, 1), Point(2, 2)], 0, marked=False)]

    picture = drawn(Plot("p", Axis("x"), Axis("y"), series))

    assert of_class(picture, "mark") == []
    assert len(of_class(picture, "hover")) == 2


def test_series_of_equal_colour_have_different_marks():
    def mark(colour):
        group = drawn(Plot("p", Axis("x"), Axis("y"), [Series("s", [Point(1, 1)], colour)]))
        (found,) = of_class(group, "mark")
        return found.tag, len(found.get("points", "").split())

    (first,) = of_class(ElementTree.fromstring(swatch(0)), "mark")
    assert mark(0) != mark(10)
    assert mark(0)[0] == first.tag


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=12))
def test_names_cover_neither_each_other_nor_marks(points):
    series = [Series(f"learner {n}", [Point(*point)], n) for n, point in enumerate(points)]

    picture = drawn(Plot("p", Axis("x"), Axis("y"), series, named=True))

    taken = [(x - 3, x + 3, y + 4) for x, y in hovers(picture)]
    for name in of_class(picture, "name"):
        wide = len(name.text) * CHARACTER
        at, baseline = float(name.get("x")), float(name.get("y"))
        left = at - wide if "before" in name.get("class") else at
        for other_left, other_right, other in taken:
            beside = left >= other_right - 0.2 or other_left >= left + wide - 0.2
            assert beside or abs(baseline - other) >= GAP - 0.2
        taken.append((left, left + wide, baseline))
    assert len(taken) == 2 * len(points)


def test_a_name_is_on_the_other_side_of_its_point_where_there_is_no_room():
    series = [Series("left", [Point(1, 1)], 0), Series("right", [Point(2, 2)], 1)]

    names = of_class(drawn(Plot("p", Axis("x"), Axis("y"), series, named=True)), "name")

    assert [each.get("class") for each in names] == ["name", "name before"]


def test_long_names_are_cut_but_whole_on_hovering():
    name = "committee(members=ff+pa+ooz+ema+ind)"
    series = [Series(name, [Point(1, 1)], 0), Series("ff", [Point(2, 2)], 1)]

    picture = drawn(Plot("p", Axis("x"), Axis("y"), series, named=True))

    shown = of_class(picture, "name")[0].text
    assert shown == name[: LONGEST_NAME - 1] + "…"
    assert [each.text for each in picture.iter("title")] == [name, "ff"]


def test_text_is_escaped():
    plot = Plot('<"&', Axis("x & y"), Axis("<y>"), [Series("<s>", [Point(1, 1)], 0)], named=True)

    picture = drawn(plot)

    assert picture.get("aria-label") == '<"&'
    assert {"x & y", "<y>"} <= {each.text for each in of_class(picture, "label")}
    assert of_class(picture, "name")[0].text == "<s>"
