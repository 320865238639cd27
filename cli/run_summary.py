"""Counts and accuracy of a run over files."""

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable

from manyclass.cli.connection import complain
from manyclass.training.lines import NO_CLASS, FileFault, Line

_NOUN = re.compile(r".+?(?= by | without |$)")


class RunSummary:
    """Counts of a run. Recall is progressive: it uses the rank of each event before learning."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.done = 0
        self.duplicates = 0
        self.bad_lines = 0
        self.without_class = 0  # of the bad lines
        self.bad_files = 0
        self.left_out = Counter[str]()  # rows that are not to be taught, by their noun
        self._clock = clock
        self._began = clock()
        self._ranked = 0
        self._first = 0
        self._among_five = 0

    def add(self, done: int, duplicates: int = 0) -> None:
        """Count answered lines, and the duplicates among them, which changed nothing."""
        self.done += done
        self.duplicates += duplicates

    def add_ranks(self, ranks: Iterable[int | None]) -> None:
        """Count the ranks of true classes, event by event; None means not retrieved."""
        for rank in ranks:
            self._ranked += 1
            self._first += rank == 1
            self._among_five += rank is not None and rank <= 5

    def bad_line(self, line: Line, reason: str) -> None:
        """Count a line that was left out and print the reason."""
        self.bad_lines += line.lines
        self.without_class += line.lines if reason.startswith(NO_CLASS) else 0
        complain(f"{line.location}: {reason}")

    def bad_file(self, error: FileFault) -> None:
        """Count a file that could not be read to its end and print the reason."""
        self.bad_files += 1
        complain(str(error))

    @property
    def clean(self) -> bool:
        """True if no line and no file was left out."""
        return not self.bad_lines and not self.bad_files

    @property
    def rate(self) -> float:
        """Lines a second since the run began."""
        return self.done / max(self._clock() - self._began, 1e-9)

    @property
    def recall(self) -> str:
        """`R1 0.412  R5 0.633`; empty while nothing was learned."""
        if not self._ranked:
            return ""
        first, among_five = self._first / self._ranked, self._among_five / self._ranked
        return f"R1 {first:.3f}  R5 {among_five:.3f}"

    def text(self, verb: str) -> str:
        """Return the summary in one line."""
        seconds = self._clock() - self._began
        new = self.done - self.duplicates
        parts = [f"{verb} {new:,}{self._skipped()} in {seconds:.1f} s, {self.rate:,.0f} a second"]
        if self.recall:
            parts.append(self.recall)
        parts += [f"{counted(number, noun)} left out" for noun, number in self.left_out.items()]
        if self.bad_files:
            parts.append(f"{counted(self.bad_files, 'file')} not read to the end")
        return " · ".join(parts)

    def _skipped(self) -> str:
        """Return the words for lines that were not learned or ranked; empty if there are none."""
        some = []
        if self.duplicates:
            some.append(counted(self.duplicates, "duplicate"))
        if self.without_class:
            some.append(counted(self.without_class, "row without a class"))
        if invalid := self.bad_lines - self.without_class:
            some.append(counted(invalid, "invalid row"))
        some = [", ".join(some[:-1]), some[-1]] if len(some) > 2 else some
        return f", skipped {' and '.join(some)}," if some else ""


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun, which takes an s unless the number is 1 (`rows by a label`),
    or its `plural`."""
    if number != 1:
        noun = plural or _NOUN.sub(r"\g<0>s", noun, count=1)
    return f"{number:,} {noun}"
