"""The rows and classes of files, shown before they are taught."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from manyclass.cli.run_summary import counted
from manyclass.training.label_notes import MOST_COUNTED, is_empty_label
from manyclass.training.label_survey import Cluster, clusters_of, joined_by

MOST_SHOWN = 20  # classes, and clusters of labels of each kind


class TeachingPreview:
    """Counts the rows of files and their classes as the console's page Import does."""

    def __init__(self) -> None:
        self._rows = 0
        self._classes = Counter[str]()

    def add(self, classes: Iterable[str]) -> None:
        """Count a row with its classes."""
        self._rows += 1
        for name in classes:
            if name in self._classes or len(self._classes) < MOST_COUNTED:
                self._classes[name] += 1

    def lines(self, without_class: int, rejected: int) -> Iterator[str]:
        """Yield the lines about all rows; these numbers of others are not taught."""
        counts = self._classes
        clusters = clusters_of({k: n for k, n in counts.items() if not is_empty_label(k)})
        joined = joined_by(counts)
        near = sum(len(each.labels) - 1 for each in clusters)
        numbers = [
            counted(len(counts), "class", "classes"),
            *(f"{counted(each.cells, 'cell')} with `{each.separator}`" for each in joined),
            *([counted(without_class, "row without a class")] if without_class else []),
            *([counted(rejected, "rejected row")] if rejected else []),
            *([counted(near, "near-duplicate")] if near else []),
        ]
        yield f"{counted(self._rows, 'row')} to teach: {', '.join(numbers)}"
        frequent = [name for name, _ in counts.most_common()]
        yield f"classes: {self._counted(frequent)}"
        if empty := [name for name in frequent if is_empty_label(name)]:
            yield f"may stand for an empty cell (--leave-out): {self._counted(empty)}"
        for each in joined:
            yield (
                f"cells with `{each.separator}` may have several classes (--class-separator):"
                f" {each.example!r}"
            )
        for is_spelling, title in ((True, "the same but for the spelling"), (False, "close")):
            yield from self._clusters(title, [c for c in clusters if c.is_spelling == is_spelling])
        if clusters:
            yield (
                "correct them in the file if they are one class, or merge them afterwards:"
                " `manyclass classes merge`, or `manyclass classes apply` with a table"
            )

    def _clusters(self, title: str, clusters: Sequence[Cluster]) -> Iterator[str]:
        for each in clusters[:MOST_SHOWN]:
            yield f"{title}: {self._counted(each.labels)}"
        if len(clusters) > MOST_SHOWN:
            yield f"{title}: {len(clusters) - MOST_SHOWN:,} more"

    def _counted(self, labels: Sequence[str]) -> str:
        shown = ", ".join(f"{name!r} ({self._classes[name]:,})" for name in labels[:MOST_SHOWN])
        return shown + (f", {len(labels) - MOST_SHOWN:,} more" if len(labels) > MOST_SHOWN else "")
