"""Rows and learners at their limits: no edges, no cells, no memory. In C++, which can set each."""

import os
import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
NATIVE = FOLDER.parents[1] / "core" / "native"
LEARNERS = [str(path) for path in NATIVE.glob("learners/*.cpp")]
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


def run(tmp_path, source, *flags, given=""):
    """Compile a program of `native` and return what it printed; it must end with status 0.

    It runs without the libraries that `make sanitize` loads into the interpreter.
    """
    program = tmp_path / "program"
    sources = [str(FOLDER / "native" / source), f"-I{NATIVE}"]
    subprocess.run([*CXX, *FLAGS, *sources, *flags, "-o", program], check=True)
    own = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    done = subprocess.run([program], input=given, capture_output=True, text=True, env=own)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_no_event_leaves_a_learner_half_changed_when_cells_or_memory_run_out(tmp_path):
    wrapped = [f"-Wl,--wrap={name}" for name in ("malloc", "realloc", "free")]
    assert (
        run(
            tmp_path, "limits.cpp", *LEARNERS, "-DMANYCLASS_TEST_CELLS=300000", *wrapped, "-pthread"
        )
        == "kept\n"
    )


def test_empty_rows_point_to_no_cells(tmp_path):
    assert run(tmp_path, "rows.cpp") == "kept\n"


def test_no_change_of_one_row_packs_many_others(tmp_path):
    assert "rows moved by one" in run(tmp_path, "packing.cpp")


def test_the_best_classes_are_selected_as_by_a_sort(tmp_path):
    assert run(tmp_path, "selection.cpp") == "equal\n"
