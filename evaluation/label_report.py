"""A review of labels as tables, and as one HTML page."""

from collections.abc import Mapping, Sequence
from html import escape
from itertools import islice
from typing import Final

from manyclass.core.calibration import MOST_OUTCOMES, interval_of
from manyclass.core.confidence_limits import best_point, least_limit
from manyclass.core.operating_points import TARGETS
from manyclass.evaluation.html_report import figure_html, page, table_html
from manyclass.evaluation.label_review import LabelReview
from manyclass.evaluation.origins import Origins, shortened
from manyclass.evaluation.plot import Figure, Series
from manyclass.evaluation.report import EMPTY, Cell, Table

EXAMPLES: Final = 3  # rows shown for a confusion
EXAMPLE_LETTERS: Final = 36

LIMITS_NOTES: Final = (
    "limit: the least min_confidence whose answers were right as often as the target. answered: the"
    " share of the rows above it. right of these: the share of right ones among them.",
    "at least: the lower end of its 90 % interval, which must reach the target. classes alone: with"
    " a limit of their own.",
)
CLASSES_NOTES: Final = (
    "rows: with the class. first: with the class ranked first. right: both. Most errors first.",
    "precision: right / first. recall: right / rows; a row with several classes has one first.",
)
CONFUSIONS_NOTES: Final = (
    "rows: those of the class true with the other class ranked first. A row with several classes"
    " counts for each.",
    "Most suspicious examples first.",
)
SUSPECTS_NOTES: Final = (
    "Rows with another class ranked first than their label, most suspicious first: those at the end"
    " of the list are mostly right.",
    "confidence: estimated probability that the first class is right. against: the same if the"
    " label came second.",
    "suspicion: nine tenths of against, one tenth of the precision of the first class.",
)
PARTS: Final = {
    "overall": "how often the first class is right",
    "limits": "how many rows a service could answer by itself, and above which confidence",
    "classes": "which classes are ranked right, and which are not",
    "confusions": "pairs of classes that are confused: one class, or a rule to clarify?",
    "suspects": "labels that are likely wrong: correct these in the file first",
}
NO_CONFIDENCE: Final = "A confidence needs 100 rankings; there are fewer, so no row is listed."


def tables_of(
    review: LabelReview, origins: Origins, method: str, limit: int | None = None
) -> dict[str, Table]:
    """Return the tables by name, of at most `limit` rows each; `method` is a note on rankings."""
    return {
        "overall": _overall(review, method),
        "limits": _limits(review),
        "classes": _classes(review, limit),
        "confusions": _confusions(review, origins, limit),
        "suspects": _suspects(review, origins, limit),
    }


def label_page(
    name: str,
    tables: Mapping[str, Table],
    about: Mapping[str, str],
    figures: Sequence[Figure] = (),
) -> str:
    """Return one HTML file with the figures and the tables."""
    parts = "".join(
        f'<li><a href="#{escape(each)}">{escape(each)}</a>: {escape(PARTS[each])}</li>'
        for each in tables
    )
    sections = (
        f'<h2 id="{escape(each)}">{escape(table.title)}</h2>{table_html(table)}'
        for each, table in tables.items()
    )
    drawn = f'<div class="figures">{"".join(map(figure_html, figures))}</div>'
    return page(
        f"Labels of {name}", about, f"<nav><ul>{parts}</ul></nav>{drawn}{''.join(sections)}"
    )


def figures_of(review: LabelReview) -> list[Figure]:
    """Return the figure of the recall of each class by its number of rows; none without classes."""
    found = [
        (float(each.rows), each.recall, None)
        for each in review.classes()
        if each.rows and each.recall is not None
    ]
    if not found:
        return []
    caption = "Each point is a class. Low on the right: many rows, and still wrong."
    return [
        Figure(
            "Recall of each class",
            "rows of the class",
            "recall",
            [Series("classes", found, 0)],
            caption,
            logarithmic=True,
            scattered=True,
        )
    ]


def _overall(review: LabelReview, method: str) -> Table:
    right, contradicted = int(review.is_right.sum()), int(review.is_contradicted.sum())
    cells = {
        "rows": _count(len(review.rows)),
        "classes": _count(len(review.rows.classes)),
        "R1": _share(review.recalls["R1"]),
        "R5": _share(review.recalls["R5"]),
        "right": _count(right),
        "contradicted": _count(contradicted),
        "without a ranking": _count(len(review.rows) - right - contradicted),
    }
    notes = [
        method,
        "R1, R5: share of rows with a true class ranked first, or among the first five. right: a"
        " true class is ranked first. contradicted: another class is.",
    ]
    return _table("Overall", list(cells), [list(cells.values())], notes)


def _limits(review: LabelReview) -> Table:
    """Return the least limit of confidence for each target, or what is possible without one."""
    curve = review.calibration.curve(MOST_OUTCOMES, {})
    groups = review.calibration.groups("class", MOST_OUTCOMES, {}, TARGETS, 0, 0)
    columns = ["target", "limit", "answered", "right of these", "at least", "classes alone"]
    rows, notes = list[list[Cell]](), [*LIMITS_NOTES]
    for target, alone in zip(TARGETS, groups.reached, strict=True):
        at, best = least_limit(curve.points, target), best_point(curve.points)
        cells = [EMPTY] * 4
        if at is not None:
            point = curve.points[at]
            low, _ = interval_of(point.right, point.answers)
            shares = (point.limit, point.answers / curve.outcomes, point.accuracy, low)
            cells = [_share(each) for each in shares]
        elif best is not None:
            point = curve.points[best]
            low, _ = interval_of(point.right, point.answers)
            notes.append(
                f"{target:.0%} is not reached: at best {point.answers / curve.outcomes:.1%} are"
                f" answered, {point.right:,} of {point.answers:,} right, which shows at least"
                f" {low:.1%}."
            )
        rows.append([Cell(f"{target:.0%}", target), *cells, _count(alone)])
    return _table("Limits of confidence", columns, rows, notes)


def _classes(review: LabelReview, limit: int | None) -> Table:
    found = review.classes()
    columns = ["class", "rows", "first", "right", "precision", "recall"]
    rows = [
        [
            Cell(each.name),
            *map(_count, (each.rows, each.first, each.right)),
            *map(_share, (each.precision, each.recall)),
        ]
        for each in found[:limit]
    ]
    return _table("Classes", columns, rows, CLASSES_NOTES, total=len(found))


def _confusions(review: LabelReview, origins: Origins, limit: int | None) -> Table:
    found = review.confusions()

    def example(row: int) -> str:
        beginning = shortened(origins.beginning(row, review.rows), EXAMPLE_LETTERS)
        return f"{origins.line(row)}: {beginning}"

    columns = ["ranked first", "true", "rows", "examples"]
    rows = [
        [
            Cell(each.first),
            Cell(each.true),
            _count(len(each.rows)),
            Cell(" · ".join(map(example, islice(each.rows, EXAMPLES)))),
        ]
        for each in found[:limit]
    ]
    return _table(
        "Confusions",
        columns,
        rows,
        CONFUSIONS_NOTES,
        {"ranked first", "true", "examples"},
        len(found),
    )


def _suspects(review: LabelReview, origins: Origins, limit: int | None) -> Table:
    found = review.suspects()
    columns = ["line", "label", "ranked first", "suspicion", "against", "confidence", "beginning"]
    measures = (review.suspicion, review.against_label, review.confidence)
    rows = [
        [
            Cell(origins.line(row)),
            Cell(", ".join(review.labels(row))),
            Cell(review.first_class(row)),
            *(_share(float(each[row])) for each in measures),
            Cell(origins.beginning(row, review.rows)),
        ]
        for row in found[:limit]
    ]
    lacks_confidence = not found and review.is_contradicted.any()
    notes = [NO_CONFIDENCE] if lacks_confidence else SUSPECTS_NOTES
    return _table(
        "Suspects", columns, rows, notes, {"label", "ranked first", "beginning"}, len(found)
    )


def _table(
    title: str,
    columns: list[str],
    rows: list[list[Cell]],
    notes: Sequence[str],
    texts: set[str] | None = None,
    total: int | None = None,
) -> Table:
    """Return a table; its title says how many of the `total` rows it shows."""
    if total is not None:
        title += f": {len(rows):,} of {total:,}" if len(rows) < total else f": {total:,}"
    return Table(title, columns, rows, [-1] * len(columns), [*notes], frozenset(texts or ()))


def _count(number: int) -> Cell:
    return Cell(f"{number:,}", number)


def _share(share: float | None) -> Cell:
    return EMPTY if share is None else Cell(f"{share:.3f}", share)
