"""The reference pages list every command and call; whole, they have all options and types."""

import re

import pytest
from typer.main import get_command

from deploy.reference_pages import api, command_line
from manyclass.cli.main import app
from manyclass.service.config.settings import Settings
from manyclass.service.http.app import create_app


def leaves(name, command):
    if not hasattr(command, "commands"):
        yield name, command
    for each in getattr(command, "commands", {}).values():
        yield from leaves(f"{name} {each.name}", each)


@pytest.fixture(scope="module")
def sections():
    parts = re.split(r"^## (.*)$", command_line(whole=True), flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def test_every_command_has_a_section_with_its_options(sections):
    commands = dict(leaves("manyclass", get_command(app)))
    assert [*sections] == [*commands]
    for name, command in commands.items():
        for parameter in command.params:
            for flag in (*parameter.opts, *parameter.secondary_opts):
                if flag.startswith("--") and flag != "--help":
                    is_hidden = getattr(parameter, "hidden", False)
                    assert (f"`{flag}`" in sections[name]) != is_hidden, (name, flag)


def test_every_call_and_type_has_a_section():
    service = create_app(Settings(store="memory:"))
    service.engine.store.close()
    document = service.api.openapi()
    headings = {*re.findall(r"^#+ (.*)$", api(whole=True), re.MULTILINE)}
    calls = {
        f"{method.upper()} {path}" for path, each in document["paths"].items() for method in each
    }
    assert calls | document["components"]["schemas"].keys() <= headings


def test_the_kept_pages_are_short_lists_of_every_command_and_call(sections):
    calls = re.findall(r"^## ([A-Z]+ /.*)$", api(whole=True), re.MULTILINE)
    for page, names in ((command_line(), [*sections]), (api(), calls)):
        assert len(page.splitlines()) < 150
        assert [
            name for name in names if not re.search(rf"^\| `{re.escape(name)}[` ]", page, re.M)
        ] == []


def test_no_row_of_a_table_has_more_cells_than_its_head():
    for page in (api(), api(True), command_line(), command_line(True)):
        width = 0
        for line in page.splitlines():
            cells = len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else 0
            width = width or cells
            assert cells in (0, width), line
            width = cells
