"""A build compiles again what changed, and what includes it, but nothing else."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = {
    "__init__.py": "",
    "core/__init__.py": "",
    "core/native/number.hpp": "int number();\n",
    "core/native/part.hpp": "constexpr int PART = 1;\n",
    "core/native/number.cpp": (
        '#include "number.hpp"\n#include "part.hpp"\nint number() { return PART; }\n'
    ),
    "core/one.pyx": (
        'cdef extern from "core/native/number.hpp":\n    int number()\n'
        "def value():\n    return number()\n"
    ),
    "core/other.pyx": "def value():\n    return 7\n",
}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """Return a small package with the setup.py of this one, built."""
    tree = tmp_path_factory.mktemp("package")
    for name in ("setup.py", "README.md"):  # the long description is made of it
        shutil.copy(ROOT / name, tree)
    project = '[project]\nname = "manyclass"\nversion = "0"\ndynamic = ["readme"]\n'
    (tree / "pyproject.toml").write_text(project)
    (tree / "src/manyclass/service").mkdir(parents=True)
    for name, text in SOURCES.items():
        path = tree / "src/manyclass" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    build(tree)
    return tree


def build(tree, flavour="debug"):
    """Build the modules in place; return the names of the objects that were compiled."""
    command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    before = objects(tree)
    done = subprocess.run(
        command,
        cwd=tree,
        env={**os.environ, "CORE_BUILD": flavour},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return {path.stem for path, made in objects(tree).items() if before.get(path) != made}


def objects(tree):
    return {path: path.stat().st_mtime_ns for path in tree.glob("build/**/*.o")}


def values(tree):
    """Return what the modules say, in an interpreter of their own."""
    script = "from manyclass.core import one, other; print(one.value(), other.value())"
    environment = {**os.environ, "PYTHONPATH": str(tree / "src")}
    return subprocess.check_output([sys.executable, "-c", script], env=environment, text=True)


def change(path, text, instead):
    before = path.read_text()
    assert text in before
    path.write_text(before.replace(text, instead))


def test_nothing_is_compiled_when_nothing_changed(tree):
    assert build(tree) == set()


def test_a_changed_header_compiles_the_files_that_include_it(tree):
    change(tree / "src/manyclass/core/native/part.hpp", "PART = 1", "PART = 2")
    assert build(tree) == {"number"}
    assert values(tree) == "2 7\n"


def test_a_changed_module_is_compiled_alone(tree):
    change(tree / "src/manyclass/core/other.pyx", "return 7", "return 8")
    assert build(tree) == {"other"}
    assert values(tree).split()[1] == "8"


def test_the_modules_in_place_are_of_the_flavour_built_last(tree):
    for flavour, has_debug_info in (("release", False), ("debug", True)):
        build(tree, flavour)
        [module] = tree.glob("src/manyclass/core/one.*.so")
        assert (b"\0.debug_info\0" in module.read_bytes()) is has_debug_info


def test_another_setup_compiles_everything(tree):
    change(tree / "setup.py", '"-Wextra", ', "")
    assert build(tree) == {"number", "one", "other", "cython_shared"}
