"""Change one token of the Python code at a time, and list the changes that no test finds.

python lint/mutate.py FILE-OR-FOLDER...    --count 100 --seed 1

Each change is made in a copy of the tree. The tests that mirror the file run, the nearest first:
those of its name, those in or below its folder that mention it, the others there, and those of the
folder's parent; `--reach` says how far. A survivor is a line of the code whose meaning no test
beside it checks, or a change that keeps the meaning.
"""

import argparse
import ast
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
CODE = ["core", "service", "client", "cli", "training", "evaluation"]
REACHES = ["name", "mention", "folder", "parent"]
TIMEOUT_SECONDS = 300  # of one list of tests; the change may never end
LEFT_OUT = (".git", ".venv*", "build", "dist", "site", "node_modules", ".*_cache")

COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
}
ARITHMETIC: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "+"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "+"),
}
LOGIC: dict[type[ast.boolop], tuple[str, str]] = {ast.And: ("and", "or"), ast.Or: ("or", "and")}


class Mutation(NamedTuple):
    """A piece of a file and its replacement; `begin` and `end` are offsets of bytes."""

    file: str
    line: int
    begin: int
    end: int
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: `{shortened(self.old)}` -> `{shortened(self.new)}`"

    def applied_to(self, source: bytes) -> bytes:
        """Return the changed source."""
        return source[: self.begin] + self.new.encode() + source[self.end :]


def shortened(code: str) -> str:
    """Return the first line of a piece of code, and dots if there are more."""
    first, *more = code.split("\n", 1)
    return f"{first} ..." if more else first


class Finder(ast.NodeVisitor):
    """Collects the mutations of one file."""

    def __init__(self, file: str, source: bytes) -> None:
        self.file = file
        self.source = source
        self.found: list[Mutation] = []
        self._lines = [0, *(match.end() for match in re.finditer(rb"\n", source))]

    def mutations(self) -> list[Mutation]:
        """Return all mutations, in the order of the file."""
        self.visit(ast.parse(self.source))
        return sorted(set(self.found), key=lambda each: (each.begin, each.new))

    def visit_Compare(self, node: ast.Compare) -> None:
        """Shift or invert a comparison."""
        terms = [node.left, *node.comparators]
        for operator, left, right in zip(node.ops, terms, terms[1:], strict=False):
            self._between(left, right, *COMPARISONS[type(operator)])
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        """Replace an operation of numbers."""
        if type(node.op) in ARITHMETIC and not (is_text(node.left) or is_text(node.right)):
            self._between(node.left, node.right, *ARITHMETIC[type(node.op)])
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        """Exchange `and` and `or`."""
        self._between(node.values[0], node.values[1], *LOGIC[type(node.op)])
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        """Drop a `not`."""
        if isinstance(node.op, ast.Not):
            self._replace(node, self._text(node.operand))
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        """Invert a boolean, and add one to a number."""
        if isinstance(node.value, bool):
            self._replace(node, str(not node.value))
        elif isinstance(node.value, int | float):
            self._replace(node, str(node.value + 1))

    def visit_Return(self, node: ast.Return) -> None:
        """Return None."""
        if node.value is not None and not is_none(node.value):
            self._replace(node.value, "None")
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        """Drop a call for its effect; docstrings are no code."""
        if isinstance(node.value, ast.Call):
            self._replace(node, "None")
        if not is_text(node.value):
            self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        """Leave out a named number, which is tuned and not derived."""
        named = all(isinstance(each, ast.Name) and each.id.isupper() for each in node.targets)
        if not (named and isinstance(node.value, ast.Constant)):
            self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """Leave the annotation out."""
        if node.value is not None:
            self.visit(node.value)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """Leave the annotations and decorators out."""
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.visit(default)
        for statement in node.body:
            self.visit(statement)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_If(self, node: ast.If) -> None:
        """Leave out the imports that only checkers of types read."""
        if ast.unparse(node.test) != "TYPE_CHECKING":
            self.generic_visit(node)

    def _offset(self, line: int, column: int) -> int:
        return self._lines[line - 1] + column

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        begin = self._offset(node.lineno, node.col_offset)
        return begin, self._offset(node.end_lineno, node.end_col_offset)

    def _text(self, node: ast.expr | ast.stmt) -> str:
        begin, end = self._span(node)
        return self.source[begin:end].decode()

    def _replace(self, node: ast.expr | ast.stmt, new: str) -> None:
        begin, end = self._span(node)
        old = self.source[begin:end].decode()
        self.found.append(Mutation(self.file, node.lineno, begin, end, old, new))

    def _between(self, left: ast.expr, right: ast.expr, old: str, new: str) -> None:
        """Replace an operator, which is all but parentheses and spaces between two terms."""
        begin, end = self._span(left)[1], self._span(right)[0]
        pattern = rb"\s+".join(re.escape(word) for word in old.encode().split())
        match = re.search(pattern, self.source[begin:end])
        if match and b"#" not in self.source[begin:end]:
            at = begin + match.start()
            line = self.source.count(b"\n", 0, at) + 1
            self.found.append(Mutation(self.file, line, at, begin + match.end(), old, new))


def is_text(node: ast.expr) -> bool:
    """Return whether the expression is a literal string."""
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    )


def is_none(node: ast.expr) -> bool:
    """Return whether the expression is None."""
    return isinstance(node, ast.Constant) and node.value is None


def files_of(names: Sequence[str], root: Path = ROOT) -> list[str]:
    """Return the Python files below these names, relative to the root."""
    found: set[Path] = set()
    for name in names:
        path = root / name
        found.update(path.rglob("*.py") if path.is_dir() else [path])
    return sorted(str(path.relative_to(root)) for path in found)


def chosen(files: Sequence[str], count: int, seed: int, root: Path = ROOT) -> list[Mutation]:
    """Return random mutations of the files: each line is as likely as any other."""
    lines: dict[tuple[str, int], list[Mutation]] = {}
    for file in files:
        for mutation in Finder(file, (root / file).read_bytes()).mutations():
            lines.setdefault((file, mutation.line), []).append(mutation)
    source = random.Random(seed)
    taken = source.sample(list(lines.values()), min(count, len(lines)))
    return [source.choice(mutations) for mutations in taken]


def mirrored(file: str, reach: str, root: Path = ROOT) -> Iterator[list[str]]:
    """Yield lists of test files for a file of the code, the nearest first, each file once."""
    folder = root / "tests" / Path(file).parent
    while not folder.is_dir():
        folder = folder.parent
    stem = Path(file).stem
    beside = sorted(folder.rglob("test_*.py"))
    named = [path for path in beside if re.match(f"test_{stem}(_|$)", path.stem)]
    others = [path for path in beside if path not in named]
    mention = [path for path in others if re.search(rf"\b{stem}\b", path.read_text())]
    far = [path for path in others if path not in mention]
    above = sorted(folder.parent.glob("test_*.py"))
    for paths in (named, mention, far, above)[: REACHES.index(reach) + 1]:
        if paths:
            yield [str(path.relative_to(root)) for path in paths]


def is_found(mutation: Mutation, tree: Path, reach: str) -> bool:
    """Return whether a test fails or does not end; `tree` is a copy with the change."""
    environment = os.environ | {
        "PYTHONPATH": f"{tree / 'src'}:{tree}:{tree / 'dev'}",
        "PYTHONDONTWRITEBYTECODE": "",  # a start takes three times as long without bytecode
    }
    options = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:schemathesis", "-m", "not slow"]
    for tests in mirrored(mutation.file, reach, tree):
        command = [sys.executable, "-m", "pytest", *options, "--hypothesis-profile", "quick"]
        try:
            done = subprocess.run(
                [*command, *tests],
                cwd=tree,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=TIMEOUT_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return True
        if done.returncode not in (0, 5):  # 5: no tests were left
            return True
    return False


def survivors(mutations: Sequence[Mutation], reach: str) -> Iterator[Mutation]:
    """Yield each mutation that no test finds."""
    with TemporaryDirectory(prefix="mutate-") as folder:
        tree = Path(folder, "tree")
        shutil.copytree(ROOT, tree, symlinks=True, ignore=shutil.ignore_patterns(*LEFT_OUT))
        for number, mutation in enumerate(mutations, 1):
            path = tree / mutation.file
            source = path.read_bytes()
            path.write_bytes(mutation.applied_to(source))
            os.utime(path, (number, number))  # Python takes bytecode of the same second for new
            found = is_found(mutation, tree, reach)
            path.write_bytes(source)
            print(f"{number} {'found' if found else 'SURVIVED'} {mutation}", flush=True)
            if not found:
                yield mutation


def main(arguments: Sequence[str]) -> int:
    """Print each mutation and, last, the survivors; return the exit status."""
    parser = argparse.ArgumentParser(description="List the changes of the code that no test finds.")
    parser.add_argument("names", nargs="*", default=CODE, metavar="FILE-OR-FOLDER")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--reach", choices=REACHES, default="folder", help="how many tests run")
    parser.add_argument("--first", type=int, default=1, help="begin with this one of them")
    parser.add_argument("--list", action="store_true", help="print the mutations, and run nothing")
    options = parser.parse_args(arguments)
    mutations = chosen(files_of(options.names), options.count, options.seed)
    if options.list:
        sys.stdout.writelines(f"{mutation}\n" for mutation in mutations)
        return 0
    mutations = mutations[options.first - 1 :]
    left = list(survivors(mutations, options.reach))
    print(f"{len(mutations) - len(left)} of {len(mutations)} found")
    sys.stdout.writelines(f"{mutation}\n" for mutation in left)
    return bool(left)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
