"""manyclass convert."""

import json
import shlex

import numpy as np
import pytest

from manyclass.cli.offline_fit import VERSION
from manyclass.client.client import Client
from manyclass.core.instance import Instance
from manyclass.core.model import Model
from manyclass.service.store import open_store
from manyclass.training.klr.model import read_arrays, write_arrays
from tests.system.process import Service

TAXONOMY = {"goalie": "hockey", "puck": "hockey", "hockey": "sports", "bat": "sports"}
NAMES = ["goalie", "puck", "bat", "stock"]


def line(*features, name):
    return json.dumps({"features": features, "classes": [name]}) + "\n"


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return tmp_path_factory.mktemp("fit")


@pytest.fixture
def fit(manyclass, directory):
    """Return the file of a fit, made once."""
    out = directory / "model.npz"
    if not out.exists():
        rows, taxonomy = directory / "rows.jsonl", directory / "parents.json"
        rows.write_text(
            "".join(line(f"f{n % 4}", f"g{n % 3}", name=NAMES[n % 4]) for n in range(120))
        )
        taxonomy.write_text(json.dumps(TAXONOMY))
        given = ["--taxonomy", taxonomy, "--out", out, "--threads", 1, "--evaluations", 2]
        manyclass("fit", rows, *given, "--text", "words")
    return out


@pytest.fixture
def held_out(tmp_path):
    file = tmp_path / "held-out.jsonl"
    file.write_text("".join(line(f"f{n % 4}", name=NAMES[n % 4]) for n in range(8)))
    return file


def test_a_state_is_written_to_a_file_and_compared_with_the_fit(manyclass, fit, held_out, tmp_path):
    out = tmp_path / "state.snapshot"
    result = manyclass("convert", fit, held_out, "--out", out)
    assert "path(sublinear=no): 6 classes and nodes above them, 7 features" in result.stderr
    assert "8 held-out rows: the fit R1 1.0000  R5 1.0000 · the state R1 1.0000" in result.stderr
    assert "100.0 % of the first five classes shared" in result.stderr
    assert f"{out.stat().st_size} bytes in {out}" in result.stderr
    assert f"manyclass copy file:{out} sqlite:NEW.db && manyclass serve" in result.stderr
    assert "--learner 'path(sublinear=no)'" in result.stderr
    state = Model.load([out.read_bytes()])
    assert state.seq == 120
    assert str(state.text) == "words"
    assert state.taxonomy.path("puck") == ["sports", "hockey", "puck"]
    assert state.rank(Instance({"f1": 1.0}), 1)[0][0] == "puck"
    assert state.answering.calibration.outcomes == 120


def test_limits_of_the_learner_are_chosen_and_said(manyclass, fit, held_out, tmp_path):
    out = tmp_path / "state.snapshot"
    given = ["--learner", "path(budget=1,budget_floor=0,replay=0)", "--out", out]
    result = manyclass("convert", fit, held_out, *given)
    assert "7 features, 7 edges of" in result.stderr
    assert "100.0 %" not in result.stderr
    assert Model.load([out.read_bytes()]).learner.options.replay == 0


def test_a_store_is_written_that_a_service_starts_from(manyclass, fit, tmp_path):
    url = f"sqlite:{tmp_path / 'new.db'}"
    result = manyclass("convert", fit, "--store", url)
    assert "as the state after event 120" in result.stdout
    assert f"serve it: manyclass serve --store {url}" in result.stderr
    store = open_store(url, lambda: 0.0)
    assert store.snapshots()[-1].seq == 120
    store.close()
    again = manyclass("convert", fit, "--store", url, exit_code=1)
    assert "not empty" in again.stderr


def test_a_service_serves_the_state_learns_on_and_survives_a_kill(manyclass, fit, tmp_path):
    store = f"sqlite:{tmp_path / 'new.db'}"
    said = manyclass("convert", fit, "--store", store).stderr.splitlines()[-1]
    words = shlex.split(said.removeprefix("serve it: manyclass serve "))
    flags = {word[2:]: value for word, value in zip(words[::2], words[1::2], strict=True)}
    service = Service(tmp_path, **flags).start()
    try:
        with Client(service.url) as client:
            first = client.rank({"features": ["f1"]})
            assert first.ranked[0].name == "puck"
            assert first.confidence > 0.8
            for _ in range(20):
                client.learn({"features": ["f9", "g1"], "classes": ["new"]})
            before = client.rank({"features": ["f9"]}).ranked
            assert before[0].name == "new"
        service.kill()
        service.start()
        with Client(service.url) as client:
            assert client.rank({"features": ["f9"]}).ranked == before
            assert client.rank({"features": ["f1"]}).ranked[0].name == "puck"
    finally:
        service.stop()


def test_bad_lines_among_held_out_rows_are_named(manyclass, fit, held_out, tmp_path):
    held_out.write_text(held_out.read_text() + "{}\n")
    out = tmp_path / "state.snapshot"
    result = manyclass("convert", fit, held_out, "--out", out, exit_code=1)
    assert "held-out.jsonl:9" in result.stderr
    assert out.exists()


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ([], "--store URL or both"),
        (["--learner", "svm"], "a fit becomes 'path'"),
        (["--learner", "path(tfidf=no)"], "as in the fit"),
        (["--learner", "path(max_outdegree=0)"], "max_outdegree"),
    ],
)
def test_a_wrong_command_line_is_refused(manyclass, fit, tmp_path, more, reason):
    out = tmp_path / "state.snapshot"
    target = ["--out", out] if more else []
    result = manyclass("convert", fit, *target, *more, exit_code=2)
    assert reason in " ".join(result.stderr.replace("│", " ").split())
    assert not out.exists()


def changed(fit, tmp_path, without=(), **arrays):
    """Return a copy of the file with other arrays."""
    with fit.open("rb") as file:
        kept = read_arrays(file) | arrays
    copy = tmp_path / "changed.npz"
    with copy.open("wb") as file:
        write_arrays({name: kept[name] for name in kept if name not in without}, file)
    return copy


@pytest.mark.parametrize(
    ("without", "arrays", "reason"),
    [
        (["alpha"], {}, "the fit is not finished"),
        (["taxonomy"], {}, "taxonomy"),
        ([], {"version": np.array(VERSION + 1)}, "version"),
        ([], {"bias": np.array(0.5)}, "fit without --bias"),
        ([], {"alpha": np.zeros((120, 4), np.float32)}, "does not tell classes apart"),
    ],
)
def test_a_file_that_makes_no_state_is_refused(manyclass, fit, tmp_path, without, arrays, reason):
    out = tmp_path / "state.snapshot"
    file = changed(fit, tmp_path, without, **arrays)
    result = manyclass("convert", file, "--out", out, exit_code=1)
    assert reason in result.stderr
    assert not out.exists()


def test_another_file_is_refused(manyclass, held_out, tmp_path):
    result = manyclass("convert", held_out, "--out", tmp_path / "out", exit_code=1)
    assert "not a file of `manyclass fit`" in result.stderr
