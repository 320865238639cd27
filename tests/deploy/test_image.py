"""The Dockerfile copies all that the wheel is made of. `deploy/image-check` builds and runs it."""

import re
import shlex
from pathlib import Path

import pytest

from manyclass.service.config.settings import TABLE

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
DIGEST = "@sha256:[0-9a-f]{64}"
LINKED = [each.name for each in (ROOT / "src/manyclass").iterdir() if each.is_symlink()]


def image_settings():
    return dict(re.findall(r"^ +(MANYCLASS_\w+)=(\S+)", DOCKERFILE, re.MULTILINE))


def copied():
    copies = re.findall(r"^COPY (?!--from)(.*)$", DOCKERFILE, re.MULTILINE)
    return {path for copy in copies for path in shlex.split(copy)[:-1]}


def test_its_settings_are_settings():
    assert len(image_settings()) == 3
    assert image_settings().keys() <= {row.variable for row in TABLE}


@pytest.mark.parametrize("folder", LINKED)
def test_it_copies_each_folder_the_package_links_to(folder):
    assert folder in copied()


def test_copied_paths_exist_and_are_not_ignored():
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    for path in copied():
        assert (ROOT / path).exists(), path
        assert f"!{path}" in ignored


def test_both_stages_start_from_the_same_bytes_of_one_version_of_python():
    sources = re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)
    assert sources[1:] == ["base", "base"]
    assert re.fullmatch(rf"python:3\.11\.\d+-slim-[a-z]+{DIGEST}", sources[0])


def test_it_installs_only_what_the_locks_have():
    installs = re.findall(r"pip (?:--\S+ \S+ )?install .*", DOCKERFILE)
    assert len(installs) == 4
    for install in installs:
        assert "--require-hashes" in install or "--no-index --no-deps" in install, install


def test_it_does_not_run_as_root_and_says_how_it_is():
    last_stage = DOCKERFILE.split("\nFROM ")[-1]
    assert re.search(r"^USER manyclass$", last_stage, re.MULTILINE)
    assert "HEALTHCHECK" in last_stage
    assert "/readyz" in last_stage
    assert "g++" not in last_stage
