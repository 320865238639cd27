"""The plain C++ loop of plain_loop.cpp, compiled with the flags of the engine on first use."""

import ctypes
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from manyclass.core.learners.options import Options
from manyclass.training.rows import Rows

SOURCE = Path(__file__).with_suffix(".cpp")
FLAGS = ("-std=c++17", "-O3", "-ffp-contract=off", "-fno-math-errno", "-shared", "-fPIC")


def compiled() -> ctypes.CDLL:
    """Return the compiled loop; SystemExit without a C++ compiler."""
    compiler = os.environ.get("CXX", "c++")
    with TemporaryDirectory(prefix="manyclass-") as folder:
        library = Path(folder, "plain_loop.so")
        try:
            subprocess.run([compiler, *FLAGS, str(SOURCE), "-o", str(library)], check=True)
        except FileNotFoundError as error:
            raise SystemExit(
                f"the plain loop needs a C++ compiler: {compiler} is missing"
            ) from error
        loop = ctypes.CDLL(str(library))
    size, number, pointer = ctypes.c_size_t, ctypes.c_double, ctypes.c_void_p
    loop.loop_new.restype = pointer
    loop.loop_new.argtypes = [size, size, size, number, number, number]
    loop.loop_delete.argtypes = [pointer]
    loop.loop_delete.restype = None
    for function in (loop.loop_rank, loop.loop_learn):
        function.argtypes = [pointer, ctypes.c_int64, *[pointer] * 4]
        function.restype = None
    return loop


class PlainLoop:
    """Feature focus without anything beside it, bound to the columns of a data set."""

    def __init__(self, rows: Rows, options: Options) -> None:
        self._native = compiled()
        weighing = (options.margin_threshold, options.min_weight, float(max(options.rating, 1)))
        how = (options.max_outdegree, *weighing)
        self._loop = self._native.loop_new(len(rows.features), len(rows.classes), *how)
        finalize(self, self._native.loop_delete, self._loop)

    def rank(self, rows: Rows) -> NDArray[np.int32]:
        """Return the best class of each row, by its column; -1 without one."""
        best = np.empty(len(rows), np.int32)
        self._call(self._native.loop_rank, rows, best)
        return best

    def learn(self, rows: Rows) -> None:
        """Learn the rows in order, each with one class."""
        assert len(rows.class_indices) == len(rows)
        self._call(self._native.loop_learn, rows, np.ascontiguousarray(rows.class_indices))

    def _call(self, function: Callable[..., None], rows: Rows, classes: NDArray[np.int32]) -> None:
        arrays = (rows.indptr, rows.indices, rows.values, classes)
        function(self._loop, len(rows), *(each.ctypes.data for each in arrays))
