"""The files that a release publishes: an sdist and a wheel hold the sources and nothing else."""

import re
import tarfile
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile

from checking import CheckFailed, expect
from markdown_it import MarkdownIt  # rich needs it, too
from packaging.metadata import Metadata

PACKAGE = "src/manyclass"
# Files of the sdist outside the package; those of setuptools among them.
AROUND = {
    *("LICENSE", "NOTICE", "README.md", "pyproject.toml", "setup.py", "MANIFEST.in"),
    *("PKG-INFO", "setup.cfg"),
}
DIST_INFO = {
    *("METADATA", "RECORD", "WHEEL", "entry_points.txt", "top_level.txt"),
    *("licenses/LICENSE", "licenses/NOTICE"),
}
TEST = re.compile(r"(^|/)(tests?/|test_\w+\.py$|conftest\.py$)")

# The module in which Cython puts the code of typed memoryviews (setup.py).
SHARED = f"{PACKAGE}/core/cython_shared"


def files_of_sdist(sdist: Path) -> dict[str, str]:
    """Return the digest of each file in an sdist, by its path below the top folder."""
    with tarfile.open(sdist) as opened:
        return {
            name.partition("/")[2]: sha256(file.read()).hexdigest()
            for name in opened.getnames()
            if (file := opened.extractfile(name))
        }


def files_of_wheel(wheel: Path) -> dict[str, str]:
    """Return the digest of each file in a wheel."""
    with ZipFile(wheel) as opened:
        return {name: sha256(opened.read(name)).hexdigest() for name in opened.namelist()}


def files_of_package(tree: Path) -> dict[str, str]:
    """Return the digest of each file of the package in a source tree, by its path in the tree."""
    package = tree / PACKAGE
    top = [*package.iterdir()]
    # A search that begins at a link follows it; one that meets a link does not.
    below = (path for folder in top if folder.is_dir() for path in folder.rglob("*"))
    return {
        str(path.relative_to(tree)): sha256(path.read_bytes()).hexdigest()
        for path in (*top, *below)
        if path.is_file()
    }


def check_sdist(sdist: Path, tree: Path) -> None:
    """Raise CheckFailed unless an sdist holds the package of a source tree, unchanged, alone."""
    files = files_of_sdist(sdist)
    around = {name for name in files if not name.startswith(f"{PACKAGE}/")}
    expect({each for each in around if not each.startswith("src/manyclass.egg-info/")}, AROUND)
    check_sources({name: digest for name, digest in files.items() if name not in around}, tree)


def check_wheel(wheel: Path, tree: Path, version: str) -> None:
    """Raise CheckFailed unless a wheel holds the package, with its modules compiled, alone."""
    files = files_of_wheel(wheel)
    expect(
        {name.partition("/")[0] for name in files}, {"manyclass", f"manyclass-{version}.dist-info"}
    )
    inside = {name for name in files if name.startswith("manyclass/")}
    expect({name.partition("/")[2] for name in files if name not in inside}, DIST_INFO)
    compiled = {name for name in inside if name.endswith(".so")}
    sources = files_of_package(tree)
    modules = {name.removesuffix(".pyx") for name in sources if name.endswith(".pyx")}
    expect({f"src/{name}".split(".")[0] for name in compiled}, modules | {SHARED})
    expect({name for name in inside if name.endswith((".pyx", ".pxd", ".cpp", ".hpp"))}, set())
    check_sources({f"src/{name}": files[name] for name in inside - compiled}, tree)


def check_sources(files: dict[str, str], tree: Path) -> None:
    """Raise CheckFailed for a file that the tree does not have as it is, and for a test."""
    sources = files_of_package(tree)
    if strange := sorted(name for name, digest in files.items() if sources.get(name) != digest):
        raise CheckFailed(f"not as in the repository: {strange}")
    if tests := sorted(filter(TEST.search, files)):
        raise CheckFailed(f"tests are not for users: {tests}")


def check_metadata(text: str, version: str) -> None:
    """Raise CheckFailed unless an index of packages takes the metadata and shows its text whole."""
    try:
        metadata = Metadata.from_email(text, validate=True)
    except ExceptionGroup as error:
        raise CheckFailed("; ".join(map(str, error.exceptions))) from error
    expect(str(metadata.version), version)
    expect(metadata.description_content_type, "text/markdown")
    description = MarkdownIt("commonmark").enable("table").render(metadata.description or "")
    expect(re.findall(r"<h1>(.*)</h1>", description), ["manyclass"])
    if dead := re.findall(r'(?:href|src)="(?!https?://)([^"]*)"', description):
        raise CheckFailed(f"links to the repository, which an index of packages has not: {dead}")
