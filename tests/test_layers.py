"""Imports go one way, and no other distribution has packages of our names."""

import ast
import re
from importlib.metadata import packages_distributions
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
    folder = ROOT.joinpath(*package.split("."))
    files = sorted([*folder.rglob("*.py"), *folder.rglob("*.pyi")])
    assert files
    for file in files:
        its_package = ".".join(file.relative_to(ROOT).parts[:-1])
        for name in imported(file.read_text(), its_package):
            yield str(file.relative_to(ROOT)), name


def is_within(name, *packages):
    return any(f"{name}.".startswith(f"{package}.") for package in packages)


def test_the_core_knows_nothing_of_what_uses_it():
    others = ("training", "evaluation", "service", "benchmarks", "load_tests", "tests")
    assert [each for each in imports_of("core") if is_within(each[1], *others)] == []


def test_training_knows_the_core_alone():
    others = ("evaluation", "service", "benchmarks", "load_tests", "tests")
    assert [each for each in imports_of("training") if is_within(each[1], *others)] == []


def test_the_evaluation_knows_nothing_of_the_service():
    others = ("service", "benchmarks", "load_tests", "tests")
    assert [each for each in imports_of("evaluation") if is_within(each[1], *others)] == []


def test_the_store_knows_nothing_of_the_rest_of_the_service():
    others = ("service", "benchmarks", "load_tests", "tests")
    assert [
        (file, name)
        for file, name in imports_of("service.store")
        if is_within(name, *others) and not is_within(name, "service.store")
    ] == []


def test_nor_does_its_native_part():
    files = [*ROOT.glob("core/*.pyx"), *ROOT.glob("core/*.pxd")]
    assert files
    others = "training|evaluation|service|benchmarks|load_tests|tests"
    importing = re.compile(rf"^\s*(from|c?import)\s+({others})\b", re.M)
    assert [file.name for file in files if importing.search(file.read_text())] == []


@pytest.mark.parametrize("package", ["core", "training", "evaluation", "service"])
def test_no_other_distribution_has_a_package_of_this_name(package):
    assert {*packages_distributions()[package]} == {"manyclass"}


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import service.app as x", ["service.app"]),
        ("def f():\n    from service import app, keys", ["service.app", "service.keys"]),
        ("from .batch import B", ["service.store.batch.B"]),
        ("from . import batch", ["service.store.batch"]),
        ("from ..keys import K", ["service.keys.K"]),
        ("from .. import keys", ["service.keys"]),
    ],
)
def test_every_form_of_import_is_seen(source, names):
    assert [*imported(source, "service.store")] == names
