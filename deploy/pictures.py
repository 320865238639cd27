"""The pictures of the README and of docs/, as SVG: drawn by hand, or measured on the samples.

Each has its own background, so it can be read on any page; dark where the reader's system is.
"""

import gzip
import json
from collections.abc import Iterator
from html import escape
from importlib.resources import files

from manyclass import Learner, Options
from manyclass.core.learner import Learned
from manyclass.core.text import DEFAULT_TEXT

STYLE = """
  .back { fill: #ffffff; stroke: #d0d7de }
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .small { font-size: 11px } .dim { fill: #59636e } .strong { font-weight: 600 }
  .box { fill: #eef6f5; stroke: #0f766e } .plain { fill: #f6f8fa; stroke: #818b98 }
  .grid { stroke: #d0d7de } .edge { stroke: #818b98; stroke-width: 1.5; fill: none }
  .touched { stroke: #0f766e; stroke-width: 2.5; fill: none } .bar { fill: #0f766e }
  .pale { fill: #99d5cf } .second { stroke: #b45309; stroke-width: 2.5; fill: none }
  .head { fill: #818b98 }
  @media (prefers-color-scheme: dark) {
    .back { fill: #0d1117; stroke: #3d444d } text { fill: #f0f6fc } .dim { fill: #9198a1 }
    .box { fill: #10312e; stroke: #2dd4bf } .plain { fill: #1c2128; stroke: #9198a1 }
    .grid { stroke: #3d444d } .edge { stroke: #9198a1 } .touched { stroke: #2dd4bf }
    .bar { fill: #2dd4bf } .pale { fill: #1f6f67 } .second { stroke: #f59e0b }
    .head { fill: #9198a1 }
  }"""
ARROW = (
    '<marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7"'
    ' orient="auto"><path class="head" d="M0 0 8 4 0 8z"/></marker>'
)
WINDOW = 200  # events of a point of the accuracy


def picture(width: int, height: int, title: str, *parts: str) -> str:
    """Return an SVG document with a title, which screen readers read."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
            f' width="{width}" height="{height}" role="img" aria-labelledby="title">',
            f'<title id="title">{escape(title)}</title>',
            f"<style>{STYLE}\n</style>",
            f"<defs>{ARROW}</defs>",
            f'<rect class="back" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}"'
            ' rx="8"/>',
            *parts,
            "</svg>\n",
        ]
    )


def label(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    """Return a line of text."""
    return f'<text class="{kind}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(text)}</text>'


def box(x: float, y: float, width: float, height: float, *lines: str, kind: str = "box") -> str:
    """Return a box with centred lines: the first is strong, the others are small."""
    middle = y + height / 2 + 4.5 - 8 * (len(lines) - 1)
    texts = [
        label(x + width / 2, middle + 16 * n, text, "small dim" if n else "strong", "middle")
        for n, text in enumerate(lines)
    ]
    place = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"'
    return "".join([f'<rect class="{kind}" {place} rx="5"/>', *texts])


def arrow(*points: tuple[float, float], kind: str = "edge") -> str:
    """Return a line through the points, with a head at its end."""
    path = " ".join(f"{x:g},{y:g}" for x, y in points)
    return f'<polyline class="{kind}" points="{path}" marker-end="url(#head)"/>'


def accuracy() -> str:
    """Return the accuracy of `svm` on the sample of questions, each ranked before it is learned."""
    ranks = [learned.rank for learned in _learned()]
    left, top, wide, high = 56, 48, 560, 220
    grid, lines = [], []
    for percent in (0, 25, 50, 75, 100):
        y = top + high * (1 - percent / 100)
        grid.append(f'<path class="grid" d="M{left} {y:g}H{left + wide}"/>')
        grid.append(label(left - 8, y + 4, f"{percent} %", "small dim", "end"))
    for events in range(0, len(ranks), 500):
        x = left + wide * events / len(ranks)
        grid.append(label(x, top + high + 18, f"{events:,}", "small dim", "middle"))
    for kind, most, name in (("second", 5, "among the first five"), ("touched", 1, "first")):
        points = []
        for end in range(25, len(ranks) + 1, 25):
            last = ranks[max(0, end - WINDOW) : end]
            share = sum(0 < rank <= most for rank in last) / len(last)
            points.append((left + wide * end / len(ranks), top + high * (1 - share)))
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        lines.append(f'<polyline class="{kind}" points="{path}"/>')
        lines.append(label(left + wide + 8, points[-1][1] + 4, name, "small"))
    return picture(
        760,
        310,
        "The share of questions whose intent is ranked right rises as questions are learned",
        label(left, 26, "77 banking intents: right answers before a question is learned", "strong"),
        *grid,
        *lines,
        label(left + wide / 2, top + high + 36, "questions learned", "small dim", "middle"),
    )


def _learned() -> Iterator[Learned]:
    """Yield for each question the rank of its true class before it is learned; 0: not retrieved."""
    stored = files("manyclass.service.samples").joinpath("banking77.jsonl.gz").read_bytes()
    index = Learner(Options.of("svm"))
    for line in gzip.decompress(stored).decode().splitlines():
        row = json.loads(line)
        yield index.learn(DEFAULT_TEXT.features_of(row["text"]), row["classes"])


def index() -> str:
    """Return the bipartite graph of features and classes, with one instance."""
    features = ["goalie", "puck", "over", "fence", "ball", "pitch"]
    classes = ["hockey", "baseball", "golf", "… a million more"]
    edges = [(0, 0), (1, 0), (1, 1), (2, 1), (3, 1), (3, 2), (4, 1), (4, 2), (5, 2), (5, 3)]
    active = {1, 2, 3}
    parts = [
        label(40, 30, "“a puck over the fence”", "strong"),
        label(290, 30, "rows of edges", "strong", "middle"),
        label(540, 30, "classes", "strong", "middle"),
    ]
    place = {n: 50 + 44 * n for n in range(6)}
    for feature, klass in edges:
        kind = "touched" if feature in active else "edge"
        x, y = 345, place[feature] + 15
        parts.append(f'<path class="{kind}" d="M{x} {y}L475 {65 + 66 * klass}"/>')
    for n, name in enumerate(features):
        kind = "box" if n in active else "plain"
        parts.append(box(235, place[n], 110, 30, name, kind=kind))
        if n in active:
            parts.append(arrow((180, 60 + 15), (200, place[n] + 15), (232, place[n] + 15)))
    for n, name in enumerate(classes):
        touched = n < 3 and any(f in active for f, k in edges if k == n)
        parts.append(box(475, 50 + 66 * n, 130, 30, name, kind="box" if touched else "plain"))
    parts += [
        label(40, 64, "three known", "small dim"),
        label(40, 80, "features", "small dim"),
        label(40, 110, "five edges are read;", "small dim"),
        label(40, 126, "no other row and", "small dim"),
        label(40, 142, "no other class is.", "small dim"),
    ]
    return picture(
        640, 330, "An instance reads the rows of its own features, and no other class", *parts
    )


def learning() -> str:
    """Return the scores of a small index before and after one event, as the engine gives them."""
    known = Learner(Options.of("svm"))
    for names, klass in (
        ({"goalie": 1, "puck": 1, "ice": 1}, "hockey"),
        ({"ball": 1, "fence": 1, "pitch": 1}, "baseball"),
        ({"ball": 1, "hole": 1, "green": 1}, "golf"),
    ):
        known.learn(names, [klass])
    question = {"ball": 1, "over": 1, "fence": 1}
    before = dict(known.rank(question))
    known.learn(question, ["golf"])
    after = dict(known.rank(question))
    classes = ["baseball", "golf", "hockey"]
    largest = max(*before.values(), *after.values())
    parts = [
        label(30, 30, "“ball over fence” before", "strong"),
        label(350, 30, "after learning it as golf", "strong"),
    ]
    for x, scores, kind in ((30, before, "pale"), (350, after, "bar")):
        for n, name in enumerate(classes):
            score, y = scores.get(name, 0.0), 52 + 40 * n
            wide = max(0.0, 150 * score / largest)
            parts.append(label(x, y + 15, name))
            parts.append(
                f'<rect class="{kind}" x="{x + 70}" y="{y}" width="{wide:.1f}" height="20" rx="3"/>'
            )
            parts.append(label(x + 78 + wide, y + 15, f"{score:.2f}", "small dim"))
    return picture(640, 180, "The scores of three classes before and after one event", *parts)


def events() -> str:
    """Return the way of an event through the service."""
    parts = [
        box(20, 60, 90, 50, "POST", "/learn"),
        arrow((110, 85), (147, 85)),
        box(150, 60, 110, 50, "group commit", "many, one sync"),
        arrow((260, 85), (297, 85)),
        box(300, 60, 110, 50, "log", "numbered, durable"),
        arrow((410, 85), (447, 85)),
        box(450, 60, 110, 50, "model", "apply in order"),
        arrow((505, 60), (505, 30), (65, 30), (65, 57)),
        label(285, 23, "200: durable, learned, in the next ranking", "small dim", "middle"),
        arrow((355, 110), (355, 157)),
        box(300, 160, 110, 50, "history", "correct, erase", kind="plain"),
        arrow((505, 110), (505, 157)),
        box(450, 160, 110, 50, "snapshot", "the state at N", kind="plain"),
        arrow((300, 185), (205, 185), (205, 240), (505, 240), (505, 213)),
        label(355, 232, "rebuild: learn the history again", "small dim", "middle"),
        box(20, 160, 90, 50, "POST", "/rank", kind="plain"),
        arrow((110, 195), (130, 195), (130, 135), (480, 135), (480, 113)),
        label(215, 129, "reads only the model", "small dim", "middle"),
    ]
    return picture(580, 262, "An event becomes durable in the log before it is learned", *parts)


PICTURES = {
    "accuracy": accuracy,
    "index": index,
    "learning": learning,
    "events": events,
}
