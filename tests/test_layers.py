"""Imports go one way, and the distribution has one importable package."""

import ast
import re
import subprocess
import sys
from importlib.metadata import packages_distributions
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def imported(source, package):
    """Yield the full names that a module of this package imports, at any depth."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: package.count(".") + 2 - node.level] if node.level else []
            module = ".".join([*above, *filter(None, [node.module])])
            yield from (f"{module}.{each.name}" for each in node.names)


def imports_of(package):
    """Yield (file, name) for each import in the modules of a package."""
    folder = ROOT.joinpath(*package.removeprefix("manyclass.").split("."))
    files = sorted([*folder.rglob("*.py"), *folder.rglob("*.pyi")])
    assert files
    for file in files:
        its_package = ".".join(("manyclass", *file.relative_to(ROOT).parts[:-1]))
        for name in imported(file.read_text(), its_package):
            yield str(file.relative_to(ROOT)), name


def is_within(name, *packages):
    return any(f"{name}.".startswith(f"{package}.") for package in packages)


FLOORS = {  # each package, and those it may import
    "core": [],
    "client": [],
    "training": ["core"],
    "evaluation": ["core", "training"],
    "service": ["core"],
    "cli": ["service", "client", "evaluation", "training", "core"],
}


@pytest.mark.parametrize("package", FLOORS)
def test_imports_go_down_the_floors(package):
    allowed = [f"manyclass.{each}" for each in [package, *FLOORS[package]]]
    ours = ("manyclass", "benchmarks", "load_tests", "deploy", "tests")
    assert [
        (file, name)
        for file, name in imports_of(f"manyclass.{package}")
        if is_within(name, *ours) and not is_within(name, *allowed, "manyclass.__version__")
    ] == []


def test_the_store_knows_nothing_of_the_rest_of_the_service():
    assert [
        (file, name)
        for file, name in imports_of("manyclass.service.store")
        if is_within(name, "manyclass.service") and not is_within(name, "manyclass.service.store")
    ] == []


def test_nor_does_its_native_part():
    files = [*ROOT.glob("core/**/*.pyx"), *ROOT.glob("core/**/*.pxd")]
    assert files
    others = r"(?:manyclass\.(?:training|evaluation|service))|benchmarks|load_tests|tests"
    importing = re.compile(rf"^\s*(from|c?import)\s+({others})\b", re.M)
    assert [file.name for file in files if importing.search(file.read_text())] == []


def test_the_distribution_has_one_package():
    packages = {
        package for package, owners in packages_distributions().items() if "manyclass" in owners
    }
    assert packages == {"manyclass"}


@pytest.mark.parametrize("package", FLOORS)
def test_the_folders_are_importable_within_it_only(package):
    found = f"from importlib.util import find_spec as f; print(bool(f('{package}')))"
    command = [sys.executable, "-P", "-c", found]
    assert subprocess.run(command, capture_output=True, check=True).stdout == b"False\n"
    assert find_spec(f"manyclass.{package}") is not None


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import manyclass.service.engine as x", ["manyclass.service.engine"]),
        (
            "def f():\n    from manyclass.service import engine, store",
            ["manyclass.service.engine", "manyclass.service.store"],
        ),
        ("from .batch import B", ["manyclass.service.store.batch.B"]),
        ("from . import batch", ["manyclass.service.store.batch"]),
        ("from ..engine import E", ["manyclass.service.engine.E"]),
        ("from .. import engine", ["manyclass.service.engine"]),
    ],
)
def test_every_form_of_import_is_seen(source, names):
    assert [*imported(source, "manyclass.service.store")] == names
