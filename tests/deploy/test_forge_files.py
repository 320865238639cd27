"""The files for the code host and for editors say what the Makefile and the pages say."""

import configparser
import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
TEMPLATES = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"))
MAKEFILE = (ROOT / "Makefile").read_text()


def test_the_workflow_runs_the_checks_from_a_clone():
    workflow = yaml.safe_load((ROOT / ".github/workflows/checks.yml").read_text())
    steps = workflow["jobs"]["checks"]["steps"]
    commands = [each["run"] for each in steps if "run" in each]
    assert ".ci/run" in commands
    assert workflow[True].keys() == {"push", "pull_request"}  # YAML reads the key `on` as true
    [release] = [each for each in steps if "release-check" in each.get("run", "")]
    assert "tag" in release["if"]
    assert (ROOT / ".ci/run").stat().st_mode & 0o111


def test_the_hook_of_a_commit_is_make_lint_which_compiles_nothing():
    [repository] = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    [hook] = repository["hooks"]
    assert (repository["repo"], hook["entry"], hook["language"]) == ("local", "make lint", "system")
    assert re.search(r"^lint: \$\(VENV\)/tools ##", MAKEFILE, re.MULTILINE)
    assert re.search(
        r"^\$\(VENV\)/tools: \$\(VENV\)/serve( requirements/\S+)+$", MAKEFILE, re.MULTILINE
    )


@pytest.mark.parametrize("file", TEMPLATES, ids=lambda file: file.stem)
def test_a_template_asks_for_what_it_names(file):
    template = yaml.safe_load(file.read_text())
    assert {*template} == {"name", "description", "labels", "body"}
    fields = [each for each in template["body"] if each["type"] != "markdown"]
    assert len({each["id"] for each in fields}) == len(fields)
    for each in fields:
        assert each["attributes"].keys() >= {"label", "description"}


def test_files_that_templates_name_exist():
    pages = [*TEMPLATES, ROOT / ".github/pull_request_template.md"]
    named = {name for page in pages for name in re.findall(r"[\w/]+\.(?:md|py)", page.read_text())}
    assert named
    assert [name for name in named if not (ROOT / name).is_file()] == []


def test_editors_get_the_line_length_of_the_linters():
    settings = configparser.ConfigParser()
    settings.read_string("[top]\n" + (ROOT / ".editorconfig").read_text())
    [length] = {
        section["max_line_length"] for section in settings.values() if "max_line_length" in section
    }
    layout = yaml.safe_load((ROOT / ".clang-format").read_text())
    assert int(length) == layout["ColumnLimit"] == 100
    assert f"line-length = {length}" in (ROOT / "pyproject.toml").read_text()
