"""The image is made of what exists, and runs as it should. None is built here."""

import re
import shlex
from pathlib import Path

from manyclass.service.settings import TABLE

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text()


def image_settings():
    return dict(re.findall(r"^ +(MANYCLASS_\w+)=(\S+)", DOCKERFILE, re.MULTILINE))


def test_its_settings_are_settings():
    assert len(image_settings()) == 3
    assert image_settings().keys() <= {row.variable for row in TABLE}


def test_what_it_copies_is_there_and_not_ignored():
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    copies = re.findall(r"^COPY (?!--from)(.*)$", DOCKERFILE, re.MULTILINE)
    paths = [path for copy in copies for path in shlex.split(copy)[:-1]]
    assert len(paths) == 6
    for path in paths:
        assert (ROOT / path).exists(), path
        assert f"!{path}" in ignored


def test_it_does_not_run_as_root_and_says_how_it_is():
    last_stage = DOCKERFILE.split("\nFROM ")[-1]
    assert re.search(r"^USER manyclass$", last_stage, re.MULTILINE)
    assert "HEALTHCHECK" in last_stage
    assert "/readyz" in last_stage
    assert "g++" not in last_stage
