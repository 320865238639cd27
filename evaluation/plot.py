"""Plots of named series as SVG. Text stays text; a series is one path of rounded points."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import chain
from math import ceil, floor, log10

from manyclass.evaluation.report import short

WIDTH, HEIGHT = 380, 240  # pixels of the area of the points
TOP, BELOW = 26, 54  # pixels of the title; of the names and ticks of the x axis
GAP = 6  # pixels between a tick and its name
CHARACTER, LINE = 6.4, 15  # pixels of a character, about, and of a line of text
SAMPLE = 30  # pixels of a line and its marker in the legend
ROOM = 0.05  # share of the range of the values, left free on each side
MOST_MARKERS = 30  # in a joined series; more would hide its line
STEPS_WANTED = 8  # ticks of an axis
NEUTRAL = "#7f7f86"  # legible on a light and on a dark page
COLOURS = (
    *("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd"),
    *("#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf"),
)
DOT = "m-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0"
MARKERS = (  # paths from the middle of a point
    DOT,
    "m-3-3h6v6h-6z",
    "m0-4 4 4-4 4-4-4z",
    "m0-4 4 7h-8z",
    "m0 4 4-7h-8z",
    "m-4-1.3h2.7v-2.7h2.6v2.7h2.7v2.6h-2.7v2.7h-2.6v-2.7h-2.7z",
    "m0-4.5 1.3 3.1h3.2l-2.5 2 1 3.4-3-2-3 2 1-3.4-2.5-2h3.2z",
    "m-4-2 2-2 2 2 2-2 2 2-2 2 2 2-2 2-2-2-2 2-2-2 2-2z",
)

MIDDLE = ' text-anchor="middle"'

Point = tuple[float, float, float | None]  # x, y, deviation of y
Pixels = tuple[float, float]


@dataclass(frozen=True)
class Series:
    """Named points (x, y, deviation or None), at least one. `colour` is an index.

    A faint series is grey and not in the legend.
    """

    name: str
    points: Sequence[Point]
    colour: int
    dashed: bool = False
    marked: bool = True
    faint: bool = False


@dataclass(frozen=True)
class Figure:
    """A plot of series with a title and a caption.

    `steps` names the positions 0, 1, 2, ... on the x axis. With `scattered`, points are not joined.
    `front` is a line through points of several series. A logarithmic x axis has values above 0.
    """

    title: str
    x: str
    y: str
    series: Sequence[Series]
    caption: str = ""
    steps: Sequence[str] = ()
    logarithmic: bool = False
    scattered: bool = False
    front: Sequence[tuple[float, float]] = ()

    def svg(self) -> str:
        """Return the figure as an SVG document, the same for the same series."""
        points = list(chain.from_iterable(each.points for each in self.series))
        bounds = [y + side * (deviation or 0) for _, y, deviation in points for side in (-1, 1)]
        y_axis = Axis.around(bounds, TOP + HEIGHT, TOP)
        left = LINE + GAP + max(len(name) for _, name in y_axis.ticks()) * CHARACTER
        x_axis = Axis.around([x for x, *_ in points], left, left + WIDTH, self.logarithmic)
        legend = _Legend([each for each in self.series if not each.faint])
        width = max(left + WIDTH + 2 * GAP, legend.width)
        height = TOP + HEIGHT + BELOW + legend.height
        named = list(enumerate(self.steps)) if self.steps else x_axis.ticks()
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_short(width)} {height}"'
            f' width="{_short(width)}" height="{height}" role="img" fill="{NEUTRAL}"'
            ' font-family="system-ui, sans-serif" font-size="11">',
            f"<title>{escape(self.title)}</title>",
            _text(left + WIDTH / 2, TOP - 10, self.title, MIDDLE + ' font-size="13"'),
            *_frame(x_axis, y_axis, named),
            _text(left + WIDTH / 2, TOP + HEIGHT + 2 * LINE + GAP, self.x, MIDDLE),
            f'<text transform="translate(11 {TOP + HEIGHT // 2}) rotate(-90)"{MIDDLE}>'
            f"{escape(self.y)}</text>",
            *_drawn(self, x_axis, y_axis),
            *legend.lines(TOP + HEIGHT + BELOW, joined=not self.scattered),
        ]
        return "\n".join([*parts, "</svg>\n"])


@dataclass(frozen=True)
class Axis:
    """Values from `low` to `high`, or their logarithms, drawn from pixel `first` to `last`."""

    low: float
    high: float
    first: float
    last: float
    logarithmic: bool = False

    @classmethod
    def around(
        cls, values: Iterable[float], first: float, last: float, logarithmic: bool = False
    ) -> "Axis":
        """Return an axis with room beside the values."""
        positions = [log10(value) if logarithmic else value for value in values]
        low, high = min(positions), max(positions)
        room = (high - low) * ROOM or abs(high) * ROOM or 1.0
        return cls(low - room, high + room, first, last, logarithmic)

    def pixel(self, value: float) -> float:
        """Return the pixel of a value."""
        at = log10(value) if self.logarithmic else value
        return self.first + (self.last - self.first) * (at - self.low) / (self.high - self.low)

    def ticks(self) -> list[tuple[float, str]]:
        """Return the values and names of the ticks."""
        if not self.logarithmic:
            return _steps(self.low, self.high)
        for digits in ((1,), (1, 2, 5)):
            found = [(value, short(value)) for value in self._multiples(digits)]
            if len(found) > 1:
                return found
        return _steps(10**self.low, 10**self.high)

    def small_ticks(self) -> list[float]:
        """Return the values between powers of ten on a logarithmic axis."""
        return list(self._multiples(range(2, 10))) if self.logarithmic else []

    def _multiples(self, digits: Iterable[int]) -> Iterator[float]:
        """Yield each power of ten on the axis, times each digit."""
        for power in range(floor(self.low), ceil(self.high) + 1):
            for digit in digits:
                if self.low <= log10(digit) + power <= self.high:
                    yield digit * 10.0**power


def _steps(low: float, high: float) -> list[tuple[float, str]]:
    """Return the multiples of 1, 2 or 5 times a power of ten from low to high, with names."""
    least = (high - low) / STEPS_WANTED
    power = floor(log10(least))
    step = next(each * 10.0**power for each in (1, 2, 5, 10) if each * 10.0**power >= least)
    decimals = max(0, -floor(log10(step) + 1e-9))
    values = (number * step for number in range(ceil(low / step), floor(high / step) + 1))
    return [(value, f"{value:,.{decimals}f}") for value in values]


def _frame(x_axis: Axis, y_axis: Axis, named: Sequence[tuple[float, str]]) -> Iterator[str]:
    """Yield the grid, the frame with its ticks, and the names of the ticks."""
    left, right, bottom = x_axis.first, x_axis.last, y_axis.first
    upright = [_short(x_axis.pixel(value)) for value, _ in named]
    level = [_short(y_axis.pixel(value)) for value, _ in y_axis.ticks()]
    grid = [f"M{x} {TOP}V{_short(bottom)}" for x in upright]
    grid += [f"M{_short(left)} {y}H{_short(right)}" for y in level]
    yield f'<path stroke="{NEUTRAL}" stroke-opacity=".25" d="{"".join(grid)}"/>'
    frame = [f"M{_short(left)} {TOP}h{WIDTH}v{HEIGHT}h-{WIDTH}z"]
    frame += [f"M{x} {_short(bottom)}v4" for x in upright]
    frame += [f"M{_short(x_axis.pixel(x))} {_short(bottom)}v2" for x in x_axis.small_ticks()]
    frame += [f"M{_short(left)} {y}h-4" for y in level]
    yield f'<path stroke="{NEUTRAL}" fill="none" d="{"".join(frame)}"/>'
    names = (_text(x_axis.pixel(x), bottom + LINE + 2, name) for x, name in named)
    yield f"<g{MIDDLE}>{''.join(names)}</g>"
    names = (_text(left - GAP, y_axis.pixel(y) + 4, name) for y, name in y_axis.ticks())
    yield f'<g text-anchor="end">{"".join(names)}</g>'


def _drawn(figure: Figure, x_axis: Axis, y_axis: Axis) -> Iterator[str]:
    """Yield the faint points, the front, and each other series."""

    def pixels_of(points: Iterable[tuple[float, float]]) -> list[Pixels]:
        return [(x_axis.pixel(x), y_axis.pixel(y)) for x, y in points]

    faint = [point[:2] for each in figure.series if each.faint for point in each.points]
    if faint:
        yield f'<path fill-opacity=".4" d="{_markers(pixels_of(faint), MARKERS[0])}"/>'
    if figure.front:
        yield f'<path stroke="{NEUTRAL}" fill="none" d="{_path(pixels_of(figure.front))}"/>'
    for each in figure.series:
        if not each.faint:
            points = pixels_of(point[:2] for point in each.points)
            every = 1 if figure.scattered else ceil(len(points) / MOST_MARKERS)
            line = "" if figure.scattered else _line(each, points)
            bars = list(zip(points, each.points, strict=True))[::every]
            yield line + _deviations(each, bars, y_axis) + _marked(each, points[::every])


def _line(series: Series, points: Iterable[Pixels]) -> str:
    dashes = ' stroke-dasharray="5 3"' if series.dashed else ""
    style = f'fill="none" stroke="{_colour(series)}" stroke-width="1.5"{dashes}'
    return f'<path {style} d="{_path(points)}"/>'


def _deviations(series: Series, points: Iterable[tuple[Pixels, Point]], y_axis: Axis) -> str:
    """Return a bar from one deviation below each point to one above."""
    bars = ""
    for (x, _), (_, mean, deviation) in points:
        if deviation:
            top, bottom = (_short(y_axis.pixel(mean + side * deviation)) for side in (1, -1))
            bars += f"M{_short(x)} {top}m-2 0h4m-2 0V{bottom}m-2 0h4"
    return bars and f'<path stroke="{_colour(series)}" fill="none" d="{bars}"/>'


def _marked(series: Series, points: Iterable[Pixels]) -> str:
    if not series.marked:
        return ""
    marker = MARKERS[series.colour % len(MARKERS)]
    return f'<path fill="{_colour(series)}" d="{_markers(points, marker)}"/>'


def _colour(series: Series) -> str:
    return COLOURS[series.colour % len(COLOURS)]


@dataclass(frozen=True)
class _Legend:
    """The names of the series below a plot, in as many columns as fit."""

    series: Sequence[Series]

    @property
    def column(self) -> float:
        """Return the pixels of a sample with the longest name."""
        longest = max((len(each.name) for each in self.series), default=0)
        return SAMPLE + 2 * GAP + longest * CHARACTER

    @property
    def columns(self) -> int:
        """Return the number of columns."""
        return max(1, int(WIDTH // self.column))

    @property
    def width(self) -> float:
        """Return the pixels of all columns."""
        return self.column * self.columns

    @property
    def height(self) -> int:
        """Return the pixels of all lines."""
        return ceil(len(self.series) / self.columns) * LINE

    def lines(self, top: float, joined: bool) -> Iterator[str]:
        """Yield a sample and the name of each series."""
        for number, each in enumerate(self.series):
            x = GAP + number % self.columns * self.column
            y = top + number // self.columns * LINE
            end = x + SAMPLE - GAP
            line = _line(each, [(x, y), (end, y)]) if joined else ""
            yield line + _marked(each, [((x + end) / 2, y)]) + _text(x + SAMPLE, y + 4, each.name)


def _path(points: Iterable[Pixels]) -> str:
    return "M" + " ".join(f"{_short(x)} {_short(y)}" for x, y in points)


def _markers(points: Iterable[Pixels], marker: str) -> str:
    return "".join(f"M{_short(x)} {_short(y)}{marker}" for x, y in points)


def _text(x: float, y: float, text: str, attributes: str = "") -> str:
    return f'<text x="{_short(x)}" y="{_short(y)}"{attributes}>{escape(text)}</text>'


def _short(pixels: float) -> str:
    """Return a length with at most one decimal."""
    return f"{pixels:.1f}".removesuffix(".0")
