"""An sdist or a wheel with a stray file, and a page with dead links, are no release."""

import io
import sys
import tarfile
from importlib import import_module
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = {"__init__.py": b"", "core/index.pyx": b"1", "core/model.py": b"2"}
COMPILED = {
    "__init__.py": b"",
    "core/index.cpython-311.so": b"x",
    "core/cython_shared.cpython-311.so": b"y",
    "core/model.py": b"2",
}
METADATA = """\
Metadata-Version: 2.4
Name: manyclass
Version: 0.1.0
License-Expression: Apache-2.0
Description-Content-Type: text/markdown

# manyclass

See [this](https://example.org).
"""


@pytest.fixture
def published(monkeypatch):
    """Return the module, as the scripts in deploy/ import it."""
    monkeypatch.syspath_prepend(str(ROOT / "deploy"))
    before = {*sys.modules}
    yield import_module("published")
    for name in {*sys.modules} - before:
        if name in ("published", "checking"):
            del sys.modules[name]


@pytest.fixture
def tree(tmp_path):
    """Make a source tree whose package links to a folder."""
    tree = tmp_path / "tree"
    (tree / "src/manyclass").mkdir(parents=True)
    (tree / "core").mkdir()
    (tree / "src/manyclass/core").symlink_to("../../core")
    for name, content in SOURCES.items():
        (tree / "src/manyclass" / name).write_bytes(content)
    return tree


def sdist(folder, published, **others):
    """Make an sdist of the sources and of other files."""
    files = {name: b"" for name in (*published.AROUND, "src/manyclass.egg-info/PKG-INFO")}
    files |= {f"src/manyclass/{name}": content for name, content in SOURCES.items()}
    with tarfile.open(folder / "x.tar.gz", "w:gz") as opened:
        for name, content in (files | others).items():
            info = tarfile.TarInfo(f"manyclass-0.1.0/{name}")
            info.size = len(content)
            opened.addfile(info, io.BytesIO(content))
    return folder / "x.tar.gz"


def wheel(folder, published, **others):
    """Make a wheel of the compiled package and of other files."""
    files = {f"manyclass-0.1.0.dist-info/{name}": b"" for name in published.DIST_INFO}
    files |= {f"manyclass/{name}": content for name, content in COMPILED.items()}
    with ZipFile(folder / "x.whl", "w") as opened:
        for name, content in (files | others).items():
            opened.writestr(name, content)
    return folder / "x.whl"


def test_an_sdist_holds_the_sources_alone(published, tree, tmp_path):
    published.check_sdist(sdist(tmp_path, published), tree)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("tests/test_layers.py", b""),
        ("notes.txt", b""),
        ("src/manyclass/core/index.so", b"x"),
        ("src/manyclass/core/model.py", b"changed"),
    ],
)
def test_a_stray_file_in_an_sdist_is_named(published, tree, tmp_path, name, content):
    with pytest.raises(published.CheckFailed, match=name.rpartition("/")[2]):
        published.check_sdist(sdist(tmp_path, published, **{name: content}), tree)


def test_a_test_is_found_that_the_repository_has_in_the_package(published, tree, tmp_path):
    (tree / "core/test_model.py").touch()
    with pytest.raises(published.CheckFailed, match="tests are not for users"):
        published.check_sdist(
            sdist(tmp_path, published, **{"src/manyclass/core/test_model.py": b""}), tree
        )


def test_a_wheel_holds_the_package_alone(published, tree, tmp_path):
    published.check_wheel(wheel(tmp_path, published), tree, "0.1.0")


@pytest.mark.parametrize(
    ("name", "content", "named"),
    [
        ("tests/test_layers.py", b"", "tests"),
        ("manyclass/core/index.pyx", b"1", "index"),
        ("manyclass/core/old.cpython-311.so", b"x", "old"),
        ("manyclass/core/model.py", b"changed", "model"),
        ("manyclass-0.1.0.dist-info/direct_url.json", b"", "direct_url"),
    ],
)
def test_a_stray_file_in_a_wheel_is_named(published, tree, tmp_path, name, content, named):
    with pytest.raises(published.CheckFailed, match=named):
        published.check_wheel(wheel(tmp_path, published, **{name: content}), tree, "0.1.0")


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("Version: 0.1.0", "Version: 0.2.0", "0.2.0"),
        ("text/markdown", "text/plain", "text/plain"),
        ("Apache-2.0", "Apache the second", "license"),
        ("https://example.org", "docs/requests.md", r"docs/requests\.md"),
        ("[this]", "![this]", None),
        ("# manyclass", "manyclass", "manyclass"),
    ],
)
def test_metadata_that_an_index_refuses_or_shows_badly(published, before, after, message):
    published.check_metadata(METADATA, "0.1.0")
    changed = METADATA.replace(before, after)
    if message is None:  # a picture at an address of its own is fine
        published.check_metadata(changed, "0.1.0")
    else:
        with pytest.raises(published.CheckFailed, match=message):
            published.check_metadata(changed, "0.1.0")
