"""A commit is a release if its version is the same everywhere, and nothing waits beside it."""

import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = "# C\n\n## [Unreleased]\n{}\n## [0.2.0] - 2026-01-02\n\nNew.\n"


@pytest.fixture
def script(monkeypatch):
    """Return the script as a module."""
    monkeypatch.syspath_prepend(str(ROOT / "deploy"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # beside the script, without an ending
    loader = SourceFileLoader("release_check", str(ROOT / "deploy/release-check"))
    module = module_from_spec(spec_from_loader("release_check", loader))
    loader.exec_module(module)
    return module


@pytest.fixture
def git(tmp_path):
    """Return a function that runs git in a repository with one commit."""

    def run(*arguments):
        author = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(["git", "-C", tmp_path, *author, *arguments], check=True)

    run("init", "-q")
    run("commit", "-q", "--allow-empty", "-m", "Begin")
    return run


def test_the_newest_entry_is_of_the_version(script):
    script.check_changelog(PAGE.format(""), "0.2.0")
    with pytest.raises(script.CheckFailed, match=r"0\.2\.0"):
        script.check_changelog(PAGE.format(""), "0.3.0")
    with pytest.raises(script.CheckFailed, match="need a version"):
        script.check_changelog(PAGE.format("\n### Added\n\n- More.\n"), "0.2.0")


def test_the_image_of_the_version_is_run(script):
    version = script.version_of(ROOT)
    script.check_image(ROOT, version)
    with pytest.raises(script.CheckFailed, match=version):
        script.check_image(ROOT, "9.9.9")


def test_everything_is_committed_and_the_tag_is_of_the_version(script, git, tmp_path):
    script.check_commit(tmp_path, "v1")
    git("tag", "v1")
    script.check_commit(tmp_path, "v1")
    with pytest.raises(script.CheckFailed, match="v1"):
        script.check_commit(tmp_path, "v2")
    (tmp_path / "new").touch()
    with pytest.raises(script.CheckFailed, match="not committed"):
        script.check_commit(tmp_path, "v1")
