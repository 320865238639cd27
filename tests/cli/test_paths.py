"""Paths of the command line: ~ is the home folder, - is standard output."""

import json
from pathlib import Path

import pytest
import typer

from manyclass.cli.paths import STANDARD_OUTPUT, path_of
from manyclass.core.model import Model

ROWS = "".join(
    json.dumps({"features": [name], "classes": [name]}) + "\n" for name in ("ice", "ball") * 4
)

IGNORE = ("--ignore-unknown",)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Return a home folder with rows.jsonl; the current folder is another one, and empty."""
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "rows.jsonl").write_text(ROWS)
    current = tmp_path / "current"
    current.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.chdir(current)
    yield folder
    assert not [*current.iterdir()]  # no folder `~`, no file `-`


def test_the_home_folder_is_found_in_every_kind_of_path(manyclass, home):
    (home / "tree.csv").write_text("ice,sports\nball,sports\n")
    tree = "--taxonomy=~/tree.csv"
    manyclass("train", "~/rows.jsonl", tree, "--out=~/a.snapshot", "--store=sqlite:~/data/a.db")
    assert (home / "data" / "a.db").exists()
    model = Model.load([(home / "a.snapshot").read_bytes()])
    assert model.taxonomy.path("ice") == ["sports", "ice"]
    assert "ice" in manyclass("export", "~/a.snapshot").stdout
    assert "ice" in manyclass("export", "--store", "sqlite:~/data/a.db").stdout
    manyclass("copy", "file:~/a.snapshot", "sqlite:~/b.db")
    manyclass("copy", "sqlite:~/b.db", "sqlite:~/c.db")
    assert (home / "c.db").exists()
    assert "is accepted" in manyclass("store", "accept", "sqlite:~/c.db").stdout
    report = ("report", "~/rows.jsonl", "--folds", 2, "--html=~/page.html", "--csv=~/tables")
    manyclass(*report)
    assert (home / "page.html").exists()
    assert [*(home / "tables").iterdir()]


def test_results_are_written_to_the_home_folder(manyclass, service, home):
    manyclass("rank", "~/rows.jsonl", "--url", service, *IGNORE, "--out", "~/ranked.jsonl")
    assert len((home / "ranked.jsonl").read_text().splitlines()) == 8
    manyclass("snapshot", "save", "~/state.snapshot", "--url", service)
    assert (home / "state.snapshot").stat().st_size


def test_an_unknown_user_is_named(manyclass, home):
    store = manyclass("export", "--store", "sqlite:~nobody-here/x.db", exit_code=1)
    assert "there is no user 'nobody-here'" in store.stderr
    out = manyclass("train", "~/rows.jsonl", "--out", "~nobody-here/x", exit_code=2)
    assert "there is no user" in out.output


def test_without_a_home_folder_the_path_is_asked_for(monkeypatch):
    def lacking(path):
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "expanduser", lacking)
    with pytest.raises(typer.BadParameter, match="the home folder is not known: write '~/x'"):
        path_of("~/x")
    assert path_of("~copy.db") == Path("~copy.db")


def test_a_file_of_the_name_of_standard_output_has_a_folder():
    assert path_of("-") == STANDARD_OUTPUT
    assert path_of("./-").is_absolute()
    assert path_of("./-").name == "-"


def test_results_go_to_standard_output(manyclass, service, home):
    result = manyclass("rank", "~/rows.jsonl", "--url", service, *IGNORE, "--out", "-")
    assert len(result.stdout.splitlines()) == 8
    saved = manyclass("snapshot", "save", "-", "--url", service)
    assert Model.load([saved.stdout_bytes])
    assert "bytes in standard output" in saved.stderr
    trained = manyclass("train", "~/rows.jsonl", "--out", "-")
    assert Model.load([trained.stdout_bytes]).learner.classes == 2
    assert "manyclass copy file:FILE sqlite:NEW.db" in trained.stderr


@pytest.mark.parametrize(
    "command",
    [
        ("fit", "~/rows.jsonl", "--out", "-"),
        ("report", "~/rows.jsonl", "--html", "-"),
        ("report", "~/rows.jsonl", "--csv", "-"),
        ("evaluate", "~/rows.jsonl", "--json", "-"),
        ("evaluate", "~/rows.jsonl", "--html", "-"),
    ],
)
def test_a_place_that_cannot_be_standard_output_is_refused(manyclass, home, command):
    assert "name a file" in manyclass(*command, exit_code=2).output


def test_bytes_are_not_written_to_a_terminal(manyclass, home, service, monkeypatch):
    monkeypatch.setattr("manyclass.cli.atomic_write.is_terminal", lambda: True)
    for command in (
        ("train", "~/rows.jsonl", "--out", "-"),
        ("snapshot", "save", "-", "--url", service),
    ):
        assert "standard output is a terminal" in manyclass(*command, exit_code=2).output
    assert manyclass("rank", "~/rows.jsonl", "--url", service, *IGNORE, "--out", "-").stdout
