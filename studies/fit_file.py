"""The file of a fit's state, by which a stopped study goes on."""

from pathlib import Path
from time import process_time

import numpy as np

from manyclass.cli.atomic_write import atomic_write
from manyclass.training.klr.fit import Course
from manyclass.training.klr.model import VERSION, read_arrays, write_arrays


class FitFile:
    """The state of a fit and the CPU seconds spent on it; without a file, nothing is kept."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._began = process_time()
        self._earlier = 0.0
        self.course: Course | None = None
        if file is not None and file.exists():
            with file.open("rb") as opened:
                arrays = read_arrays(opened)
            self.course = Course.of_arrays(arrays)
            self._earlier = float(arrays["seconds"])

    @property
    def seconds(self) -> float:
        """Return the CPU seconds spent, those of stopped runs up to their last state included."""
        return self._earlier + process_time() - self._began

    def save(self, course: Course) -> None:
        """Write the state."""
        if self._file is None:
            return
        self._file.parent.mkdir(parents=True, exist_ok=True)
        kept = {"version": np.array(VERSION), "seconds": np.array(self.seconds)}
        with atomic_write(self._file) as opened:
            write_arrays({**course.arrays(), **kept}, opened)
