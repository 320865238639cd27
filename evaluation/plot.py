"""Plots as SVG: lines with marks and whiskers, or points with names. Numbers show on hovering.

A picture uses the classes and colour variables that evaluation/page.py defines, so that it is
readable in light and in dark.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from html import escape
from math import ceil, floor, log10

from manyclass.evaluation.writing import short

WIDTH, HEIGHT = 440, 290
LEFT, RIGHT, TOP, BOTTOM = 60, 12, 12, 46
COLOURS = 10  # different ones; then they begin again with another mark
GAP = 13  # between the baselines of two names of points
CHARACTER = 6.4  # width of a letter in a name, about
LEAST_RATIO = 5  # of the ends of a logarithmic axis: below it, differences would seem large
BESIDE = 9  # from the middle of a mark to its name
MARK = 6  # around the middle of a mark, no name begins or ends
LEAST_SHARE = 0.02  # of its figures that an axis spans, for the same reason
LONGEST_NAME = 26  # letters; hovering shows the rest


@dataclass(frozen=True)
class Point:
    """A place in a plot; `deviation` draws a whisker that far up and down."""

    x: float
    y: float
    deviation: float | None = None
    note: str = ""  # shown on hovering, beside the name of its series


@dataclass(frozen=True)
class Series:
    """Points of one name. `colour` numbers it among all series that are to be told apart."""

    name: str
    points: Sequence[Point]
    colour: int
    dashed: bool = False
    marked: bool = True


@dataclass(frozen=True)
class Axis:
    """What an axis measures, and how."""

    label: str
    logarithmic: bool = False
    steps: Sequence[str] = field(default=())  # names of the places 0, 1, 2, ... instead of numbers


@dataclass(frozen=True)
class Plot:
    """A picture of some series. With `named`, points are not joined but have their names beside."""

    title: str
    x: Axis
    y: Axis
    series: Sequence[Series]
    named: bool = False

    def svg(self) -> str:
        """The picture as an SVG element for an HTML page."""
        points = [point for each in self.series for point in each.points]
        across = _scale(self.x, [point.x for point in points], LEFT, WIDTH - RIGHT)
        tops = [point.y + (point.deviation or 0) for point in points]
        bottoms = [point.y - (point.deviation or 0) for point in points]
        up = _scale(self.y, tops + bottoms, HEIGHT - BOTTOM, TOP)
        parts = [*_across(across, self.x), *_up(up, self.y)]
        parts += [_series(each, across, up, joined=not self.named) for each in self.series]
        if self.named:
            parts += _names(self.series, across, up)
        return (
            f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(self.title)}">'
            + "".join(parts)
            + "</svg>"
        )


def swatch(colour: int, dashed: bool = False) -> str:
    """A short line with a mark, as a legend shows a series."""
    line = '<line class="line" x1="1" y1="7" x2="27" y2="7"/>'
    return (
        f'<svg class="swatch s{colour % COLOURS}{" dashed" if dashed else ""}" viewBox="0 0 28 14"'
        f' aria-hidden="true">{line}{_mark(colour, 14, 7)}</svg>'
    )


# --- scales ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Scale:
    low: float
    high: float
    begin: float  # where low is in the picture
    end: float
    logarithmic: bool
    ticks: Sequence[float]

    def at(self, figure: float) -> float:
        low, high, here = (
            (log10(self.low), log10(self.high), log10(figure))
            if self.logarithmic
            else (self.low, self.high, figure)
        )
        return self.begin + (self.end - self.begin) * (here - low) / (high - low)


def _scale(axis: Axis, figures: Sequence[float], begin: float, end: float) -> _Scale:
    """A scale that holds the figures, with some space around them."""
    if axis.steps:
        last = len(axis.steps) - 1
        return _Scale(-0.3, last + 0.3, begin, end, False, range(last + 1))
    low, high = min(figures, default=0.0), max(figures, default=1.0)
    if axis.logarithmic and low > 0:
        space = max(1.3, LEAST_RATIO**0.5 / (high / low) ** 0.5)
        low, high = low / space, high * space
        return _Scale(low, high, begin, end, True, _decades(low, high))
    space = max((high - low) * 0.06, (LEAST_SHARE * max(abs(low), abs(high), 0.1) - high + low) / 2)
    low, high = low - space, high + space
    return _Scale(low, high, begin, end, False, _round_numbers(low, high))


def _round_numbers(low: float, high: float) -> list[float]:
    """Four numbers or more between low and high, 1, 2 or 5 times a power of ten apart."""
    power = 10.0 ** floor(log10(high - low))
    for step in (5 * power, 2 * power, power, power / 2, power / 5):
        first, last = ceil(low / step), floor(high / step)
        if last - first >= 3:
            break
    return [number * step for number in range(first, last + 1)]


def _decades(low: float, high: float) -> list[float]:
    """Powers of ten between low and high, with 2 and 5 times them where these are few."""
    powers = range(floor(log10(low)), ceil(log10(high)) + 1)
    for factors in ((1,), (1, 3), (1, 2, 5)):
        ticks = [each * 10.0**power for power in powers for each in factors]
        shown = [tick for tick in ticks if low <= tick <= high]
        if len(shown) >= 3:
            break
    return shown


def _across(scale: _Scale, axis: Axis) -> list[str]:
    bottom = HEIGHT - BOTTOM
    parts = []
    for place, tick in enumerate(scale.ticks):
        x = scale.at(tick)
        text = escape(axis.steps[place]) if axis.steps else short(tick)
        parts.append(f'<line class="grid" x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{bottom}"/>')
        parts.append(f'<text class="tick" x="{x:.1f}" y="{bottom + 16}">{text}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<text class="label" x="{middle}" y="{HEIGHT - 8}">{escape(axis.label)}</text>')
    return parts


def _up(scale: _Scale, axis: Axis) -> list[str]:
    parts = []
    for tick in scale.ticks:
        y = scale.at(tick)
        parts.append(
            f'<line class="grid" x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}"/>'
        )
        parts.append(f'<text class="tick up" x="{LEFT - 7}" y="{y + 4:.1f}">{short(tick)}</text>')
    middle = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(
        f'<text class="label" transform="translate(12 {middle}) rotate(-90)">'
        f"{escape(axis.label)}</text>"
    )
    return parts


# --- series ---------------------------------------------------------------------------------------


def _series(series: Series, across: _Scale, up: _Scale, joined: bool) -> str:
    places = [(across.at(point.x), up.at(point.y)) for point in series.points]
    parts = []
    if joined and len(places) > 1:
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline class="line" points="{path}"/>')
    for point, (x, y) in zip(series.points, places, strict=True):
        parts.append(_point(series, point, x, y, up))
    dashed = " dashed" if series.dashed else ""
    return f'<g class="series s{series.colour % COLOURS}{dashed}">{"".join(parts)}</g>'


def _point(series: Series, point: Point, x: float, y: float, up: _Scale) -> str:
    note = escape(f"{series.name}{': ' if point.note else ''}{point.note}")
    parts = [f"<g><title>{note}</title>"]
    if point.deviation:
        high, low = up.at(point.y + point.deviation), up.at(point.y - point.deviation)
        parts.append(
            f'<line class="whisker" x1="{x:.1f}" y1="{high:.1f}" x2="{x:.1f}" y2="{low:.1f}"/>'
        )
    if series.marked:
        parts.append(_mark(series.colour, x, y))
    parts.append(f'<circle class="hover" cx="{x:.1f}" cy="{y:.1f}" r="9"/></g>')
    return "".join(parts)


def _mark(colour: int, x: float, y: float) -> str:
    """A circle, square, triangle or diamond: those of equal colour differ in it."""
    shape = (colour + colour // COLOURS) % 4
    if shape == 0:
        return f'<circle class="mark" cx="{x:.1f}" cy="{y:.1f}" r="3.6"/>'
    corners = [
        [(-3.3, -3.3), (3.3, -3.3), (3.3, 3.3), (-3.3, 3.3)],
        [(0, -4.4), (4.2, 3.3), (-4.2, 3.3)],
        [(0, -4.6), (4.6, 0), (0, 4.6), (-4.6, 0)],
    ][shape - 1]
    path = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners)
    return f'<polygon class="mark" points="{path}"/>'


def _names(series: Sequence[Series], across: _Scale, up: _Scale) -> list[str]:
    """The names of points, each as near to its point as there is room."""
    places = [
        (each, across.at(point.x), up.at(point.y)) for each in series for point in each.points
    ]
    taken = [_Room(x - MARK, x + MARK, y + 4) for _, x, y in places]
    parts = []
    for each, x, y in places:
        name = each.name if len(each.name) <= LONGEST_NAME else each.name[: LONGEST_NAME - 1] + "…"
        room = _room(x, y + 4, len(name) * CHARACTER, taken)
        taken.append(room)
        at, side = (room.left, "") if room.left > x else (room.right, " before")
        if abs(room.baseline - 4 - y) > GAP / 2:
            parts.append(
                f'<line class="leader" x1="{x:.1f}" y1="{y:.1f}"'
                f' x2="{at:.1f}" y2="{room.baseline - 4:.1f}"/>'
            )
        parts.append(
            f'<text class="name{side}" x="{at:.1f}" y="{room.baseline:.1f}">{escape(name)}</text>'
        )
    return parts


@dataclass(frozen=True)
class _Room:
    """What a line of text takes up."""

    left: float
    right: float
    baseline: float

    def covers(self, other: "_Room") -> bool:
        beside = self.left >= other.right or other.left >= self.right
        return not beside and abs(self.baseline - other.baseline) < GAP


def _room(x: float, baseline: float, wide: float, taken: Sequence[_Room]) -> _Room:
    """Where a text beside x covers nothing that is taken: as near as can be, right before left."""
    right = _Room(x + BESIDE, x + BESIDE + wide, baseline)
    left = _Room(x - BESIDE - wide, x - BESIDE, baseline)
    sides = [side for side in (right, left) if side.left >= LEFT and side.right <= WIDTH] or [right]
    for distance in range(HEIGHT):
        for side in sides:
            for away in (-distance, distance):
                moved = replace(side, baseline=baseline + away)
                inside = TOP + GAP <= moved.baseline <= HEIGHT - BOTTOM
                if inside and not any(moved.covers(other) for other in taken):
                    return moved
    return sides[0]
