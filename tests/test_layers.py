"""Imports and references go down the floors, and the distribution has one importable package."""

import ast
import re
import subprocess
import sys
from collections import deque
from collections.abc import Mapping
from functools import partial
from graphlib import CycleError, TopologicalSorter
from importlib.metadata import packages_distributions
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType, MethodType

import pytest

from tests.service.serving import side_by_side

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


FLOORS = {  # each package, and the packages it may import
    "core": [],
    "client": [],
    "training": ["core"],
    "evaluation": ["core", "training"],
    "service": ["core", "training.tables"],  # the child process that reads a workbook
    "cli": ["service", "client", "evaluation", "training", "core"],
}


@pytest.mark.parametrize("package", FLOORS)
def test_imports_go_down_the_floors(package):
    allowed = [f"manyclass.{each}" for each in [package, *FLOORS[package]]]
    ours = ("manyclass", "benchmarks", "load_tests", "deploy", "studies", "tests")
    assert [
        (file, name)
        for file, name in imports_of(f"manyclass.{package}")
        if is_within(name, *ours) and not is_within(name, *allowed, "manyclass.__version__")
    ] == []


ROOMS = [  # of the service, from the lowest; a module belongs to the longest name that fits
    ["store"],
    ["errors", "runtime", "sealing", "threads", "token_bucket"],
    ["config"],
    ["log"],
    ["cluster"],
    ["snapshots"],
    ["history"],
    ["engine", "engine_stats", "pipeline", "tasks"],
    ["observability"],
    ["ingest"],
    ["http"],  # parts independent of the engine: bodies, limits, problems
    [
        *("http.app", "http.call", "http.event_builder", "http.native_tier", "http.openapi"),
        *("http.bounded_protocol", "http.protocol", "http.routes", "http.server"),
    ],
]
FLOOR_OF = {
    f"manyclass.service.{room}": floor for floor, rooms in enumerate(ROOMS) for room in rooms
}


def floor_of(name):
    """Return the floor of a module of the service, or of a name in one."""
    fitting = [room for room in FLOOR_OF if is_within(name, room)]
    return FLOOR_OF[max(fitting, key=len)] if fitting else None


def module_of(file):
    return ".".join(("manyclass", *Path(file).with_suffix("").parts)).removesuffix(".__init__")


def test_the_rooms_of_the_service_import_downwards():
    upwards = [
        (file, name)
        for file, name in imports_of("manyclass.service")
        if floor_of(name) is not None and floor_of(name) > floor_of(module_of(file))
    ]
    assert upwards == []


def sibling_folders(one, other):
    """Return the folders in their nearest common one that hold each; None if one holds both."""
    parts = [name.split(".") for name in (one, other)]
    depth = next((at for at, (a, b) in enumerate(zip(*parts, strict=False)) if a != b), None)
    return None if depth is None else tuple(".".join(each[: depth + 1]) for each in parts)


def cycles_of_folders(imports):
    """Return each cycle of folders, as its path; `imports` are pairs of two folders."""
    edges = {}
    for pair in filter(None, (sibling_folders(*each) for each in imports)):
        edges.setdefault(pair[0], set()).add(pair[1])
    cycles = []
    while True:
        try:
            TopologicalSorter(edges).prepare()
        except CycleError as error:
            path = error.args[1][::-1]  # each imports the next
            cycles.append(" -> ".join(path))
            edges[path[0]].discard(path[1])
        else:
            return cycles


IMPORTING = re.compile(r"^\s*(?:from\s+(manyclass\S*)\s+c?import|c?import\s+(manyclass\S*))", re.M)


def imports_of_folders():
    """Yield (folder, folder) for each import, those of native modules and for types included."""
    files = [file for each in FLOORS for file in ROOT.joinpath(each).rglob("*.p*")]
    sources = [file for file in files if file.suffix in (".py", ".pyi", ".pyx", ".pxd")]
    packages = {
        file: ".".join(["manyclass", *file.relative_to(ROOT).parts[:-1]]) for file in sources
    }
    folders = sorted({*packages.values(), "manyclass"}, key=len, reverse=True)
    for file, package in packages.items():
        source = file.read_text()
        if file.suffix in (".py", ".pyi"):
            names = imported(source, package)
        else:
            names = map("".join, IMPORTING.findall(source))
        for name in names:
            if is_within(name, "manyclass"):
                yield package, next(each for each in folders if is_within(name, each))


def test_no_folders_import_each_other():
    imports = {*imports_of_folders()}
    assert ("manyclass.service.http", "manyclass.service.observability") in imports
    assert ("manyclass.service.http", "manyclass.core") in imports
    assert cycles_of_folders(imports) == []


@pytest.mark.parametrize(
    ("imports", "cycles"),
    [
        (["a.b a.c", "a.c a.d", "a.b a.d"], []),
        (["a.b a.c", "a.c a.b"], ["a.b -> a.c -> a.b"]),
        (["a.b.x a.c", "a.c.y a.d", "a.d a.b"], ["a.b -> a.c -> a.d -> a.b"]),
        (["a a.b", "a.b a", "a.b.x a.b"], []),  # a folder and one in it
        (["a.b a.c", "a.c a.b", "d.e f", "f d.g"], ["a.b -> a.c -> a.b", "d -> f -> d"]),
    ],
)
def test_every_cycle_of_folders_is_found(imports, cycles):
    def begun_with_the_first(path):
        *folders, _ = path.split(" -> ")
        first = folders.index(min(folders))
        return " -> ".join([*folders[first:], *folders[: first + 1]])

    found = cycles_of_folders(each.split() for each in imports)
    assert sorted(map(begun_with_the_first, found)) == cycles


def test_no_modules_of_the_service_import_each_other():
    imports = {}
    modules = {module_of(file) for file, _ in imports_of("manyclass.service")}
    for file, name in imports_of("manyclass.service"):
        its_module = name if name in modules else name.rpartition(".")[0]
        if its_module in modules and its_module != module_of(file):
            imports.setdefault(module_of(file), set()).add(its_module)
    assert list(TopologicalSorter(imports).static_order())  # CycleError


# --- callbacks ------------------------------------------------------------------------------------


def parts_in(value, depth=3):
    """Yield the objects of the service that a value is, calls or contains."""
    if type(value).__module__.startswith("manyclass.service") and hasattr(value, "__dict__"):
        yield value
    elif isinstance(value, MethodType):
        yield from parts_in(value.__self__, depth)
    elif isinstance(value, partial) and not isinstance(value.func, type):
        yield from parts_in([value.func, *value.args, *value.keywords.values()], depth)
    elif isinstance(value, FunctionType):
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        yield from parts_in(cells, depth)
    elif isinstance(value, Mapping) and depth:
        yield from parts_in([*value.keys(), *value.values()], depth)
    elif isinstance(value, list | tuple | set | frozenset | deque) and depth:
        for each in value:
            yield from parts_in(each, depth - 1)


def parts_below(part):
    """Return, by id, the parts held by each part of the service, starting from this one."""
    held, names, unread = {}, {}, [part]
    while unread:
        one = unread.pop()
        if id(one) not in held:
            below = [each for value in vars(one).values() for each in parts_in(value)]
            held[id(one)] = {id(each) for each in below}
            names[id(one)] = type(one).__name__
            unread += below
    return held, names


async def test_no_part_of_the_service_holds_one_that_holds_it():
    async with side_by_side() as (one, _):
        held, names = parts_below(one.app)
        there = {"Engine", "Cluster", "Replica", "GroupCommit", "ApplyLoop", "SnapshotSchedule"}
        assert there | {"PeerLookup", "EventBuilder", "Restore", "LiveModel"} <= {*names.values()}
        assert list(TopologicalSorter(held).static_order())  # CycleError
        one.app.engine.cluster.live.told = one.app.engine.stats  # a hidden cycle
        with pytest.raises(CycleError):
            list(TopologicalSorter(parts_below(one.app)[0]).static_order())


def callbacks_and_assignments(source):
    """Return the attributes with callables, and the attributes set on objects other than self."""
    callbacks, assigned = set(), set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            callables = {
                each.arg
                for each in [*node.args.args, *node.args.kwonlyargs]
                if each.annotation
                and re.search(r"Callable|\bOn[A-Z]", ast.unparse(each.annotation))
            }
            for each in ast.walk(node):
                if isinstance(each, ast.Assign) and ast.unparse(each.value) in callables:
                    callbacks |= {t.attr for t in each.targets if isinstance(t, ast.Attribute)}
        if isinstance(node, ast.ClassDef):  # the fields of a dataclass
            callbacks |= {
                each.target.id
                for each in node.body
                if isinstance(each, ast.AnnAssign)
                and re.search(r"Callable|\bOn[A-Z]", ast.unparse(each.annotation))
            }
        targets = node.targets if isinstance(node, ast.Assign) else []
        assigned |= {
            t.attr
            for t in targets
            if isinstance(t, ast.Attribute) and ast.unparse(t.value) not in ("self", "cls")
        }
    return callbacks, assigned


def test_callbacks_are_given_to_constructors():
    found = [callbacks_and_assignments(file.read_text()) for file in ROOT.glob("service/**/*.py")]
    callbacks, assigned = (set().union(*each) for each in zip(*found, strict=True))
    assert {"on_applied", "_on_message", "_clock"} <= callbacks
    assert {each for name in callbacks for each in (name, name.strip("_"))} & assigned == set()


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
