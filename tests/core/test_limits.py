"""Rows and indexes at their limits: no edges, no cells, no memory. In C++, which can set each."""

import os
import subprocess
from pathlib import Path

FOLDER = Path(__file__).parent
NATIVE = FOLDER.parents[1] / "core" / "native"
CXX = os.environ.get("CXX", "c++").split()
FLAGS = [
    "-std=c++17",
    "-O1",
    "-Wall",
    "-Wextra",
    "-Wno-mismatched-new-delete",
    "-ffp-contract=off",
    "-fno-math-errno",
]


def test_no_event_leaves_an_index_half_changed_when_cells_or_memory_run_out(tmp_path):
    program = tmp_path / "limits"
    wrapped = [f"-Wl,--wrap={name}" for name in ("malloc", "realloc", "free")]
    sources = [
        str(FOLDER / "native" / "limits.cpp"),
        f"-I{NATIVE}",
        "-DMANYCLASS_TEST_CELLS=300000",
    ]
    subprocess.run([*CXX, *FLAGS, *sources, *wrapped, "-pthread", "-o", program], check=True)
    done = subprocess.run([program], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "kept\n"), done.stdout + done.stderr


def test_empty_rows_point_to_no_cells(tmp_path):
    program = tmp_path / "rows"
    source = [str(FOLDER / "native" / "rows.cpp"), f"-I{NATIVE}"]
    subprocess.run([*CXX, *FLAGS, *source, "-o", program], check=True)
    done = subprocess.run([program], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "kept\n"), done.stdout + done.stderr
