import gzip
import json
import shlex
import time
from pathlib import Path
from unittest.mock import Mock

import pytest

from manyclass.cli import offline_training
from manyclass.cli.reading import NAMED_LINES
from manyclass.cli.state_writing import serving
from manyclass.client.client import Client
from manyclass.core.instance import Instance
from manyclass.core.learner import Learner
from manyclass.core.learners.options import Options
from manyclass.core.learners.registry import DEFAULT_LEARNER
from manyclass.core.model import Model
from manyclass.core.text import DEFAULT_TEXT, TextAnalysis
from manyclass.service.store import open_store
from tests.cli.services import chosen_by, new_service
from tests.core.dumps import assert_same_state
from tests.redis_server import RedisServer


def line(feature, name):
    return json.dumps({"features": [feature], "classes": [name]}) + "\n"


def good(count):
    return "".join(line(f"f{n % 3}", f"c{n % 3}") for n in range(count))


@pytest.fixture
def rows(tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text(good(60))
    return file


def loaded(file):
    return Model.load([file.read_bytes()])


def test_a_file_is_learned_and_its_state_written(manyclass, rows, tmp_path):
    out = tmp_path / "model.snapshot"
    result = manyclass("train", rows, "--out", out, "--passes", 2, "--calibration-rows", 5)
    assert f"{out.stat().st_size} bytes in {out}\n" in result.stderr
    assert "read 60 instances in" in result.stderr
    assert "3 classes, 3 features" in result.stderr
    assert "pass 1: 55 rows in" in result.stderr
    assert "pass 2: 55 rows in" in result.stderr
    assert "kept back: 5 rows in" in result.stderr
    assert "before learning R1 1.0000  R5 1.0000  MRR 1.0000" in result.stderr
    assert "held out" not in result.stderr
    model = loaded(out)
    assert model.seq == 2 * 55 + 5
    assert model.options == Options.of(DEFAULT_LEARNER)
    assert model.progress.examples == 0
    assert model.learner.rank(["f1"])[0][0] == "c1"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["model.snapshot", "rows.jsonl"]


@pytest.mark.parametrize("passes", [1, 3])
def test_a_trained_state_is_confident_at_once(manyclass, tmp_path, passes):
    file, out = tmp_path / "rows.jsonl", tmp_path / "model.snapshot"
    file.write_text(good(300))
    manyclass("train", file, "--out", out, "--passes", passes)
    model = loaded(out)
    assert model.answer(Instance(["f1"])).confidence > 0.9
    assert model.progress.examples == 0  # accuracy is that of the service alone


def test_rows_have_the_weights_of_their_lines(manyclass, tmp_path):
    events = [
        ({"features": ["f"], "classes": [name]}, weight) for name, weight in (("a", 1), ("b", 4))
    ]
    file, out = tmp_path / "rows.jsonl", tmp_path / "model.snapshot"
    file.write_text("".join(json.dumps(e | {"weight": w}) + "\n" for e, w in events))
    manyclass("train", file, "--no-shuffle", "--learner", "pa", "--out", out)
    index = Learner(Options.of("pa"))
    for event, weight in events:
        index.learn(event["features"], event["classes"], weight=weight)
    assert_same_state(loaded(out).learner, index)

    refused = manyclass(
        "train", file, "--learner", "frequency", "--out", tmp_path / "no", exit_code=2
    )
    assert "cannot learn" in " ".join(refused.stderr.split())
    assert not (tmp_path / "no").exists()


def test_lines_that_training_cannot_learn_are_named(manyclass, rows, tmp_path):
    wrong = [{"classes": ["a"], "not": ["b"]}, {"classes": ["a"], "weight": 0}]
    lines = [json.dumps({"features": ["f"]} | each) + "\n" for each in wrong]
    rows.write_text(good(10) + "".join(lines))
    result = manyclass("train", rows, "--out", tmp_path / "out", exit_code=1)
    assert "`not` is learned by a service only" in result.stderr
    assert "a weight must be from 0.001 to 1000" in result.stderr


def test_equal_runs_write_equal_states(manyclass, rows, tmp_path):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        arguments = ("--passes", 2, "--held-out", 0.2, "--seed", seed)
        manyclass("train", rows, "--out", tmp_path / name, *arguments)
    first, second, third = (Path(tmp_path, name).read_bytes() for name in "abc")
    assert first == second
    assert first != third


def test_a_store_is_made_that_a_service_goes_on_from(manyclass, rows, tmp_path):
    store = f"sqlite:{tmp_path}/new.db"
    result = manyclass("train", rows, "--store", store)
    assert "as the state after event 60" in result.stdout
    assert f"serve it: manyclass serve --store {store}\n" in result.stderr
    made = open_store(store, time.time)
    try:
        assert Model.load(made.open_snapshot(60)).seq == 60
        assert made.append([b"next"]) == 61
    finally:
        made.close()


@pytest.mark.parametrize(
    "learner", ["svm", "ff", "ff(rating=5,leak=no,max_classes=99)", "pa(replay=2)"]
)
def test_a_service_serves_what_was_trained(manyclass, rows, tmp_path, learner):
    store = f"sqlite:{tmp_path}/new.db"
    trained = manyclass("train", rows, "--store", store, "--learner", learner)
    [said] = [said for said in trained.stderr.splitlines() if said.startswith("serve it: ")]
    words = shlex.split(said.removeprefix("serve it: manyclass serve "))
    flags = {word[2:].replace("-", "_"): value for word, value in batched_by_two(words)}
    with new_service(**chosen_by(flags)) as url, Client(url) as client:
        assert client.rank({"features": ["f2"]}).ranked[0].name == "c2"
        assert client.learn({"features": ["f2"], "classes": ["new"]}).seq == 61


def batched_by_two(words):
    return zip(words[::2], words[1::2], strict=True)


@pytest.mark.parametrize(
    ("analysis", "seen", "unseen"),
    [("words+pairs", "天", "goalkeeping"), ("", "goalkeeping", "x")],
    ids=["words and pairs", "the default"],
)
def test_texts_are_learned_and_served_by_one_analysis(manyclass, tmp_path, analysis, seen, unseen):
    file, store = tmp_path / "texts.jsonl", f"sqlite:{tmp_path}/new.db"
    texts = [("東京の天気 goalkeepers", "one"), ("大阪の電車 batting", "two")]
    lines = [json.dumps({"text": text, "classes": [name]}) + "\n" for text, name in texts]
    file.write_text("".join(lines * 10))
    manyclass("train", file, "--store", store, *(["--text", analysis] if analysis else []))
    with new_service(store=store) as url, Client(url) as client:
        assert client.rank({"text": seen}).ranked[0].name == "one"
        assert not client.rank({"text": unseen}).ranked
    made = open_store(store, time.time)
    try:
        newest = Model.load(made.open_snapshot(made.last_seq))
    finally:
        made.close()
    assert newest.text == (TextAnalysis.parse(analysis) if analysis else DEFAULT_TEXT)


def test_an_unknown_analysis_is_refused_before_anything_is_read(manyclass, rows, tmp_path):
    result = manyclass("train", rows, "--out", tmp_path / "out", "--text", "letters", exit_code=2)
    said = " ".join(result.stderr.replace("│", " ").split())
    assert "'letters' must be words, or words with any of pairs, characters" in said


def test_the_learner_is_the_one_that_is_named(manyclass, rows, tmp_path):
    out = tmp_path / "model.snapshot"
    learner = "ff(margin_threshold=0.3,max_features=1000)"
    result = manyclass("train", rows, "--out", out, "--learner", learner)
    assert loaded(out).options == Options.of("ff", margin_threshold=0.3, max_features=1000)
    assert "ff(margin_threshold=0.3): 3 classes, 3 features" in result.stderr


def test_the_command_to_serve_asks_for_the_options_that_were_trained():
    options = Options.parse("ff(rating=5,leak=no,max_bytes=2097152)")
    command = serving(options, Path("a b.snapshot"), None)
    assert command == (
        "manyclass copy 'file:a b.snapshot' sqlite:NEW.db && manyclass serve --store sqlite:NEW.db"
        " --learner 'ff(rating=5,leak=no,max_bytes=2097152)'"
    )
    default = Options.of(DEFAULT_LEARNER)
    assert serving(default, None, "redis://h/0") == "manyclass serve --store redis://h/0"


@pytest.mark.parametrize("name", ["rows.libsvm", "rows.vw", "rows.ft", "rows.xmc", "rows.any"])
def test_other_formats_are_told_by_the_name_or_named(manyclass, tmp_path, name):
    file, out = tmp_path / f"{name}.gz", tmp_path / "model.snapshot"
    text = {
        "rows.libsvm": "1 7:1\n",
        "rows.vw": "1 | 7\n",
        "rows.ft": "__label__1 7\n",
        "rows.xmc": "1 10 2\n1 7:1\n",
        "rows.any": "1 | 7\n",
    }[name]
    file.write_bytes(gzip.compress(text.encode()))
    named = ("--format", "vw") if name == "rows.any" else ()
    manyclass("train", file, "--out", out, *named)
    assert loaded(out).learner.rank(["7"])[0][0] == "1"


def test_standard_input_is_learned(manyclass, tmp_path):
    out = tmp_path / "model.snapshot"
    manyclass("train", "-", "--out", out, input=gzip.compress(good(9).encode()))
    assert loaded(out).seq == 9


def test_bad_lines_are_named_and_the_rest_is_learned(manyclass, tmp_path):
    file, out = tmp_path / "rows.jsonl", tmp_path / "model.snapshot"
    file.write_text(good(3) + "{\n" + line("", "c0") + good(3) + '{"text": "x"}\n')
    result = manyclass("train", file, "--out", out, exit_code=1)
    complaints = [each for each in result.stderr.splitlines() if each.startswith("manyclass: ")]
    assert [each.split(":")[2] for each in complaints] == ["4", "5", "9"]
    assert all(f"{file}:" in each for each in complaints)
    assert "3 bad lines left out" in result.stderr
    assert loaded(out).seq == 6


def test_some_of_very_many_bad_lines_are_named_and_all_counted(manyclass, tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text(good(1) + "x\n" * (NAMED_LINES + 1234) + good(NAMED_LINES + 1234))
    result = manyclass("train", file, "--out", tmp_path / "model.snapshot", exit_code=1)
    assert result.stderr.count("rows.jsonl:") == NAMED_LINES
    assert "manyclass: and 1,234 more bad lines" in result.stderr
    assert f"{NAMED_LINES + 1234:,} bad lines left out" in result.stderr


def test_values_that_do_not_count_are_counted(manyclass, tmp_path):
    file = tmp_path / "rows.libsvm"
    file.write_text("1 1:-1 2:0 3:1\n2 1:-2 3:1\n")
    told = "2 values below 0, ignored by ff"
    for learner in ("svm", "ff", "committee(members=svm+ff)"):
        result = manyclass(
            "train", file, "--learner", learner, "--out", tmp_path / "model.snapshot"
        )
        assert "1 value of 0 left out" in result.stderr
        assert (told in result.stderr) is (learner != "svm")


def test_training_stops_early_and_keeps_the_best(manyclass, rows, tmp_path):
    out = tmp_path / "model.snapshot"
    arguments = ("--passes", 50, "--held-out", 0.5, "--patience", 2, "--calibration-rows", 0)
    result = manyclass("train", rows, "--out", out, *arguments)
    assert result.stderr.count("held out R1 1.0000") == 3
    assert "kept: the state after pass 1" in result.stderr
    assert loaded(out).seq == 30


def test_oversampled_classes(manyclass, rows, tmp_path):
    rows.write_text(rows.read_text() + line("rare", "rare"))
    out = tmp_path / "model.snapshot"
    arguments = ("--oversample", 5, "--no-shuffle")
    manyclass("train", rows, "--out", out, *arguments)
    assert loaded(out).learner.class_("rare")["learned"] == 5


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "name a place to write to"),
        (("--out", "missing/model.snapshot"), "there is no folder missing"),
        (("--out", "x", "--learner", "nobody"), "--learner"),
        (("--out", "x", "--learner", "ff(rating=x)"), "--learner"),
        (("--out", "x", "--learner", "pa(subsample=0.5)"), "for the members of a committee"),
        (("--out", "x", "--learner", "ff(shuffle=9)"), "for the members of a committee"),
        (("--out", "."), "is a folder"),
        (("--out", ""), "is a folder"),
        (("--out", ".."), "is a folder"),
        (("--out", "x", "--held-out", "1"), "--held-out"),
        (("--out", "x", "--patience", "1"), "--patience"),
        (("--out", "x", "--format", "arff"), "is not a format"),
    ],
)
def test_a_wrong_command_line_is_refused_before_anything_is_read(
    manyclass, tmp_path, monkeypatch, arguments, said
):
    monkeypatch.chdir(tmp_path)
    result = manyclass("train", "no such file.jsonl", *arguments, exit_code=2)
    assert said in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_file_whose_format_is_not_known(manyclass, tmp_path):
    file = tmp_path / "rows.txt"
    file.write_text("a row\n")
    result = manyclass("train", file, "--out", tmp_path / "model.snapshot", exit_code=2)
    assert "--format" in result.stderr


CUT_SHORT = gzip.compress(good(99).encode(), mtime=0)[:-20]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "No such file"),
        (b"", "the files hold no instance"),
        (b'{"text": "x", "classes": []}\n', "the files hold no instance"),
        (b"x\n", "this looks like plain text"),
        (b"x\n" * 4 + good(3).encode(), "most lines are bad"),
        (CUT_SHORT, "ends in the middle"),
    ],
)
def test_a_file_that_cannot_be_learned_leaves_everything_as_it_was(
    manyclass, tmp_path, content, said
):
    file, out = tmp_path / "rows.jsonl", tmp_path / "model.snapshot"
    out.write_bytes(b"from before")
    if content is not None:
        file.write_bytes(content)
    targets = ("--out", out, "--store", f"sqlite:{tmp_path}/left.db")
    result = manyclass("train", file, *targets, exit_code=1)
    assert said in result.stderr
    assert "pass 1" not in result.stderr
    assert out.read_bytes() == b"from before"
    assert {*tmp_path.iterdir()} <= {file, out}


def test_a_store_that_holds_something_is_left_alone(manyclass, rows, tmp_path):
    url = f"sqlite:{tmp_path}/used.db"
    store = open_store(url, time.time)
    store.append([b"event"])
    store.close()
    result = manyclass("train", rows, "--store", url, exit_code=1)
    assert "it is not empty; name a new one" in result.stderr
    assert "pass 1" not in result.stderr
    wrong = manyclass("train", rows, "--store", "mysql://h", exit_code=1)
    assert "is not a store" in wrong.stderr


@pytest.fixture
def redis_server(tmp_path):
    with RedisServer(tmp_path / "redis") as server:
        yield server


def test_a_store_on_redis_is_made_when_there_is_something_to_write(
    manyclass, rows, tmp_path, redis_server
):
    manyclass("train", tmp_path / "no such.jsonl", "--store", redis_server.url, exit_code=1)
    with redis_server.client() as client:
        assert client.keys() == []
    result = manyclass("train", rows, "--store", redis_server.url)
    assert "as the state after event 60" in result.stdout
    again = manyclass("train", rows, "--store", redis_server.url, exit_code=1)
    assert "it is not empty; name a new one" in again.stderr


def test_a_state_that_cannot_be_written_leaves_nothing_behind(
    manyclass, rows, tmp_path, monkeypatch
):
    def dump(model):
        yield b"some"
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Model, "dump", dump)
    out = tmp_path / "model.snapshot"
    out.write_bytes(b"from before")
    result = manyclass("train", rows, "--out", out, exit_code=1)
    assert "cannot be written" in result.stderr
    assert out.read_bytes() == b"from before"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["model.snapshot", "rows.jsonl"]


def test_ctrl_c_ends_it_with_nothing_written(manyclass, rows, tmp_path, monkeypatch):
    monkeypatch.setattr(offline_training, "train", Mock(side_effect=KeyboardInterrupt))
    targets = ("--out", tmp_path / "model.snapshot", "--store", f"sqlite:{tmp_path}/left.db")
    result = manyclass("train", rows, *targets, exit_code=130)
    assert "stopped: nothing was written" in result.stderr
    assert [*tmp_path.iterdir()] == [rows]
