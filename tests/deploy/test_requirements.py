"""The layers of requirements/ hold what pyproject.toml asks for, with hashes and no address."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from deploy.lock import file_name, files_of, is_wanted

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LOCKS = ["build", "serve", "s3", "dev"]


def layers(name):
    """Yield the names of a layer and of the layers that it includes."""
    yield name
    for below in re.findall(r"^-r (\w+)\.txt$", lines(name), re.MULTILINE):
        yield from layers(below)


def lines(name):
    return (ROOT / f"requirements/{name}.txt").read_text().replace("\\\n", "")


def own(name):
    """(requirement, hashes) of each package of a layer without those below it."""
    for line in lines(name).splitlines():
        if not line.startswith(("#", "-r ")):
            requirement, *hashes = re.split(r"\s+--hash=", line)
            yield Requirement(requirement), hashes


def locked(name):
    """(requirement, hashes) of each package of a layer and those below it."""
    return [each for layer in layers(name) for each in own(layer)]


def versions(name):
    """Package -> its version, of what is installed here."""
    here = [each for each, _ in locked(name) if each.marker is None or each.marker.evaluate()]
    return {canonicalize_name(each.name): str(each.specifier)[2:] for each in here}


def group(name):
    """Yield the requirements of a dependency group, included groups too."""
    for each in PROJECT["dependency-groups"][name]:
        if isinstance(each, dict):
            yield from group(each["include-group"])
        else:
            yield each


def declared(name):
    """Return the requirements that a lock is made from."""
    serving = PROJECT["project"]["dependencies"]
    return {
        "build": [*group("build")],
        "serve": serving,
        "s3": [*serving, *PROJECT["project"]["optional-dependencies"]["s3"]],
        "dev": [*serving, *group("dev")],
    }[name]


@pytest.mark.parametrize("name", LOCKS)
def test_each_package_is_one_version_with_hashes(name):
    packages = [*locked(name)]
    assert packages
    for requirement, hashes in packages:
        assert re.fullmatch(r"==[\w.]+", str(requirement.specifier)), requirement
        assert hashes, requirement
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}\s*", each) for each in hashes), requirement


@pytest.mark.parametrize("name", LOCKS)
def test_no_lock_names_an_address(name):
    assert not re.search(r"://|--(index|extra-index|find-links|trusted)", lines(name))


@pytest.mark.parametrize("name", LOCKS)
def test_the_lock_has_what_is_declared(name):
    found = versions(name)
    for line in declared(name):
        wanted = Requirement(line)
        if wanted.marker is None or wanted.marker.evaluate():
            version = found.get(canonicalize_name(wanted.name))
            assert version is not None, f"{line} is not locked; run: make lock"
            assert wanted.specifier.contains(version), f"{line}: {version}; run: make lock"


def test_the_tests_run_with_the_versions_that_are_deployed():
    assert {*layers("dev")} == {*LOCKS}


def test_no_layer_repeats_a_package_of_another():
    here = [str(each) for name in LOCKS for each, _ in own(name)]
    assert len(here) == len({*here})
    names = [
        each.name
        for name in LOCKS
        for each, _ in own(name)
        if each.marker is None or each.marker.evaluate()
    ]
    assert len(names) == len({*names})


@pytest.mark.parametrize(
    ("file", "wanted"),
    [
        ("six-1.17.0-py2.py3-none-any.whl", True),
        ("numpy-2.4.6-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl", True),
        ("uvloop-0.23.0-cp314-cp314-musllinux_1_2_aarch64.whl", True),
        ("ruff-0.17.6-py3-none-manylinux_2_17_aarch64.manylinux2014_aarch64.whl", True),
        ("cryptography-50.0.2-cp311-abi3-manylinux_2_34_x86_64.whl", True),
        ("uvloop-0.23.0-cp310-cp310-manylinux_2_17_x86_64.whl", False),
        ("numpy-2.4.6-cp39-cp39-manylinux_2_27_x86_64.whl", False),
        ("numpy-2.4.6-cp314-cp314t-manylinux_2_27_x86_64.whl", False),
        ("numpy-2.4.6-pp311-pypy311_pp73-manylinux_2_27_x86_64.whl", False),
        ("numpy-2.4.6-cp311-cp311-macosx_14_0_arm64.whl", False),
        ("numpy-2.4.6-cp311-cp311-win_amd64.whl", False),
        ("cryptography-50.0.2-cp311-abi3-manylinux_2_31_armv7l.whl", False),
        ("numpy-2.4.6-cp313-cp313-pyemscripten_2025_0_wasm32.whl", False),
    ],
)
def test_wheels_for_a_supported_python_and_platform_are_locked(file, wanted):
    assert is_wanted(file) is wanted


def test_the_source_is_locked_where_no_wheel_is_for_every_platform():
    def found(*files):
        wheels = [{"url": f"https://host/{file}"} for file in files]
        package = {"wheels": wheels, "sdist": {"url": "https://host/a-1.tar.gz"}}
        return [file_name(each) for each in files_of(package)]

    assert found("a-1-py3-none-any.whl") == ["a-1-py3-none-any.whl"]
    assert found("a-1-cp311-cp311-win_amd64.whl") == ["a-1.tar.gz"]
    linux = "a-1-cp311-cp311-linux_x86_64.whl"
    assert found(linux) == [linux, "a-1.tar.gz"]


def test_a_build_needs_the_same_with_and_without_the_lock():
    assert sorted(PROJECT["build-system"]["requires"]) == sorted(group("build"))


def test_serving_needs_nothing_of_the_tools():
    assert not {"pytest", "mkdocs", "mkdocs-material"} & versions("s3").keys()
