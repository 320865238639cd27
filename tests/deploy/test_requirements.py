"""The locks in requirements/ hold what pyproject.toml asks for, with hashes and no address."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LOCKS = ["build", "serve", "dev", "docs"]


def locked(name):
    """(requirement, hashes) of each package of a lock."""
    text = (ROOT / f"requirements/{name}.txt").read_text()
    logical = re.sub(r"\\\n", "", text)
    lines = [line for line in logical.splitlines() if line and not line.lstrip().startswith("#")]
    for line in lines:
        requirement, *hashes = re.split(r"\s+--hash=", line)
        yield Requirement(requirement), hashes


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
        "dev": [*serving, *group("dev")],
        "docs": [*group("docs")],
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
    text = (ROOT / f"requirements/{name}.txt").read_text()
    assert not re.search(r"://|--(index|extra-index|find-links|trusted)", text)


@pytest.mark.parametrize("name", LOCKS)
def test_the_lock_has_what_is_declared(name):
    found = versions(name)
    for line in declared(name):
        wanted = Requirement(line)
        if wanted.marker is None or wanted.marker.evaluate():
            version = found.get(canonicalize_name(wanted.name))
            assert version is not None, f"{line} is not locked; run: make lock"
            assert wanted.specifier.contains(version), f"{line}: {version}; run: make lock"


@pytest.mark.parametrize("name", ["build", "serve"])
def test_the_tests_run_with_the_versions_that_are_deployed(name):
    assert versions(name).items() <= versions("dev").items()


def test_a_build_needs_the_same_with_and_without_the_lock():
    assert sorted(PROJECT["build-system"]["requires"]) == sorted(group("build"))


def test_serving_needs_nothing_of_the_documentation():
    assert not {"mkdocs", "mkdocs-material"} & versions("serve").keys()
