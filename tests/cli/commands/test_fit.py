import errno
import json

import numpy as np
import pytest

from manyclass.training.klr import fit as fit_module

TAXONOMY = {"goalie": "hockey", "puck": "hockey", "hockey": "sports", "bat": "sports"}


def line(*features, name):
    return json.dumps({"features": features, "classes": [name]}) + "\n"


@pytest.fixture
def rows(tmp_path):
    file = tmp_path / "rows.jsonl"
    names = ["goalie", "puck", "bat", "stock"]
    file.write_text("".join(line(f"f{n % 4}", f"g{n % 3}", name=names[n % 4]) for n in range(80)))
    return file


@pytest.fixture
def taxonomy(tmp_path):
    file = tmp_path / "parents.json"
    file.write_text(json.dumps(TAXONOMY))
    return file


def test_a_model_is_fitted_and_ranks_rows(manyclass, rows, taxonomy, tmp_path):
    out = tmp_path / "model.npz"
    result = manyclass("fit", rows, "--taxonomy", taxonomy, "--out", out, "--threads", 1)
    assert "fit: 80 rows (80 in the search), 4 classes, 6 nodes, 3 variances" in result.stderr
    assert "one variance: evaluation 1 of 10 at most" in result.stderr
    assert "variances: evaluation 1 of 30 at most" in result.stderr
    assert "s left at most" in result.stderr
    assert "held-out log loss" in result.stderr
    assert f"{out.stat().st_size} bytes in {out}" in result.stderr
    asked = tmp_path / "asked.jsonl"
    asked.write_text(line("f1", "g1", name="puck"))
    [ranked] = manyclass("probabilities", out, asked, "--top", 2).stdout.splitlines()
    first, second = json.loads(ranked)["ranked"]
    assert first["class"] == "puck"
    assert 0.5 < first["probability"] < 1
    assert second["probability"] < 0.5


def test_a_part_of_the_rows_is_searched(manyclass, rows, tmp_path):
    out = tmp_path / "model.npz"
    result = manyclass("fit", rows, "--out", out, "--threads", 1, "--search-rows", 40)
    assert "fit: 80 rows (40 in the search)" in result.stderr
    [ranked] = manyclass("probabilities", out, rows, "--top", 1).stdout.splitlines()[:1]
    assert json.loads(ranked)["ranked"][0]["class"] == "goalie"


def test_a_stopped_fit_is_resumed(manyclass, rows, taxonomy, tmp_path, monkeypatch):
    monkeypatch.setattr(fit_module, "SECONDS_BETWEEN_SAVES", 0)
    whole, out = tmp_path / "whole.npz", tmp_path / "model.npz"
    arguments = ["fit", rows, "--taxonomy", taxonomy, "--threads", 1]
    manyclass(*arguments, "--out", whole)
    search = fit_module.search

    def interrupted(evaluate, start, most, known=()):
        found = search(evaluate, start, min(most, 2), known)
        if most > 2:
            raise KeyboardInterrupt
        return found

    monkeypatch.setattr(fit_module, "search", interrupted)
    result = manyclass(*arguments, "--out", out, exit_code=130)
    assert "--resume continues from" in result.stderr
    monkeypatch.setattr(fit_module, "search", search)
    result = manyclass(*arguments, "--out", out, "--resume")
    assert "one variance: evaluation 1 " not in result.stderr
    with np.load(whole) as one, np.load(out) as other:
        assert (one["alpha"] == other["alpha"]).all()
    result = manyclass(*arguments, "--out", out, "--resume")
    assert "nothing is left to do" in result.stderr


def test_a_task_is_a_part_of_the_taxonomy(manyclass, rows, taxonomy, tmp_path):
    out = tmp_path / "model.npz"
    given = ["--taxonomy", taxonomy, "--out", out, "--threads", 1, "--evaluations", 1]
    result = manyclass("fit", rows, *given, "--task", "hockey", "--kernel", "f2")
    assert "fit: 40 rows (40 in the search), 2 classes, 2 nodes, 2 variances" in result.stderr
    result = manyclass("fit", rows, *given, "--task", "chess", exit_code=2)
    assert "no class with rows is at or below 'chess'" in result.stderr


def test_digits_are_a_path_with_codes(manyclass, tmp_path):
    rows = tmp_path / "rows.jsonl"
    names = ["45230000-1", "45231000-2", "45232000-3", "33100000-1"]
    rows.write_text("".join(line(f"f{n % 4}", name=names[n % 4]) for n in range(40)))
    given = ["--out", tmp_path / "m.npz", "--threads", 1, "--evaluations", 1]
    result = manyclass("fit", rows, "--codes", *given)
    assert (
        "fit: 40 rows (40 in the search), 4 classes, 5 nodes" in result.stderr
    )  # 4523 and a leaf of its own


@pytest.mark.parametrize(
    ("more", "exit_code", "reason"),
    [
        (["--max-bytes", 1000], 1, "--classes-at-least"),
        (["--kernel", "G1"], 2, "one of F1, F2, H1, H2"),
        (["--folds", 100], 1, "folds"),
        (["--classes-at-least", 50], 1, "two classes"),
        (["--taxonomy", "missing.json"], 2, "missing.json"),
        (["--resume"], 1, "model.npz"),
    ],
)
def test_what_cannot_be_fitted_is_refused(manyclass, rows, tmp_path, more, exit_code, reason):
    out = tmp_path / "model.npz"
    result = manyclass("fit", rows, "--out", out, *more, exit_code=exit_code)
    assert reason in result.stderr
    assert not out.exists()


def test_a_missing_scipy_is_named_with_its_extra(manyclass, rows, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "scipy.optimize", None)
    result = manyclass("fit", rows, "--out", tmp_path / "model.npz", exit_code=1)
    assert "pip install 'manyclass[fit]'" in result.stderr


def test_a_file_that_is_no_model_is_refused(manyclass, rows, tmp_path):
    result = manyclass("probabilities", rows, rows, exit_code=1)
    assert "not a file of `manyclass fit`" in result.stderr


def test_files_that_cannot_be_read_or_written_are_named(manyclass, rows, tmp_path, monkeypatch):
    def fill_the_disk(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    missing = tmp_path / "missing.npz"
    result = manyclass("probabilities", missing, rows, exit_code=1)
    assert result.stderr == f"manyclass: {missing}: No such file or directory\n"
    monkeypatch.setattr("manyclass.cli.offline_fit.write_arrays", fill_the_disk)
    out = tmp_path / "model.npz"
    result = manyclass("fit", rows, "--out", out, exit_code=1)
    assert f"manyclass: {out} cannot be written: " in result.stderr
    assert not out.exists()
