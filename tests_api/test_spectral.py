"""Spectral finds nothing in the OpenAPI document, not even a hint. `make api-check` installs it."""

import json
import subprocess
from pathlib import Path

import pytest

from manyclass.service.config.settings import Settings
from manyclass.service.http.app import create_app
from manyclass.service.http.openapi.document import served_below

HERE = Path(__file__).parent
SPECTRAL = HERE / "node_modules" / ".bin" / "spectral"


def lint(document, folder):
    file = folder / "openapi.json"
    file.write_text(json.dumps(document))
    command = [SPECTRAL, "lint", "--ruleset", HERE / ".spectral.yaml", "--fail-severity", "hint"]
    return subprocess.run([*command, file], capture_output=True, text=True, check=False)


def document(**settings):
    app = create_app(Settings(store="memory:", **settings))
    app.engine.store.close()
    return json.loads(served_below(app.api.openapi(), ""))


@pytest.mark.parametrize("keys", [{}, {"rank_keys": ("r",)}], ids=["open", "keys"])
def test_spectral_finds_nothing(keys, tmp_path):
    found = lint(document(**keys), tmp_path)
    assert found.returncode == 0, found.stdout + found.stderr


def test_spectral_would_find_something(tmp_path):
    made = document()
    del made["info"]["description"]
    found = lint(made, tmp_path)
    assert found.returncode != 0
    assert "info-description" in found.stdout
