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
    """The full names of what a module of this package imports, wherever in it."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: package.count(".") + 2 - node.level] if node.level else []
            module = ".".join([*above, *filter(None, [node.module])])
            yield from (f"{module}.{each.name}" for each in node.names)


def imports_of(package):
    """(file, name) of all that the modules of a package import."""
    folder = ROOT.joinpath(*package.removeprefix("manyclass.").split("."))
    files = sorted([*folder.rglob("*.py"), *folder.rglob("*.pyi")])
    assert files
    for file in files:
        its_package = ".".join(("manyclass", *file.relative_to(ROOT).parts[:-1]))
        for name in imported(file.read_text(), its_package):
            yield str(file.relative_to(ROOT)), name


def is_within(name, *packages):
    return any(f"{name}.".startswith(f"{package}.") for package in packages)


def test_the_core_knows_nothing_of_what_uses_it():
    others = (
        "manyclass.training",
        "manyclass.evaluation",
        "manyclass.service",
        "benchmarks",
        "load_tests",
        "tests",
    )
    assert [each for each in imports_of("manyclass.core") if is_within(each[1], *others)] == []


def test_training_knows_the_core_alone():
    others = ("manyclass.evaluation", "manyclass.service", "benchmarks", "load_tests", "tests")
    assert [each for each in imports_of("manyclass.training") if is_within(each[1], *others)] == []


def test_the_evaluation_knows_nothing_of_the_service():
    others = ("manyclass.service", "benchmarks", "load_tests", "tests")
    assert [
        each for each in imports_of("manyclass.evaluation") if is_within(each[1], *others)
    ] == []


def test_the_store_knows_nothing_of_the_rest_of_the_service():
    others = ("manyclass.service", "benchmarks", "load_tests", "tests")
    assert [
        (file, name)
        for file, name in imports_of("manyclass.service.store")
        if is_within(name, *others) and not is_within(name, "manyclass.service.store")
    ] == []


def test_nor_does_its_native_part():
    files = [*ROOT.glob("core/*.pyx"), *ROOT.glob("core/*.pxd")]
    assert files
    others = r"(?:manyclass\.(?:training|evaluation|service))|benchmarks|load_tests|tests"
    importing = re.compile(rf"^\s*(from|c?import)\s+({others})\b", re.M)
    assert [file.name for file in files if importing.search(file.read_text())] == []


def test_the_distribution_has_one_package():
    packages = {
        package for package, owners in packages_distributions().items() if "manyclass" in owners
    }
    assert packages == {"manyclass"}


@pytest.mark.parametrize("package", ["core", "service", "training", "evaluation"])
def test_the_folders_are_importable_within_it_only(package):
    found = f"from importlib.util import find_spec as f; print(bool(f('{package}')))"
    command = [sys.executable, "-P", "-c", found]
    assert subprocess.run(command, capture_output=True, check=True).stdout == b"False\n"
    assert find_spec(f"manyclass.{package}") is not None


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import manyclass.service.http.app as x", ["manyclass.service.http.app"]),
        (
            "def f():\n    from manyclass.service import app, keys",
            ["manyclass.service.http.app", "manyclass.service.http.auth"],
        ),
        ("from .batch import B", ["manyclass.service.store.batch.B"]),
        ("from . import batch", ["manyclass.service.store.batch"]),
        ("from ..keys import K", ["manyclass.service.http.auth.K"]),
        ("from .. import keys", ["manyclass.service.http.auth"]),
    ],
)
def test_every_form_of_import_is_seen(source, names):
    assert [*imported(source, "manyclass.service.store")] == names
