"""Benchmarks measure what they say."""

import json
import random
import sys
from statistics import median

import numpy as np
import pytest

from benchmarks import append, committees, ready, texts, vectors
from benchmarks.learner import BoundLearner
from benchmarks.learning import TURN, apply_as_batch, apply_each, events_of, measure
from benchmarks.pairs import interval, times
from benchmarks.serving import ACTIVE, instances_of, many_edges
from benchmarks.speed import ids_of_columns, per_edge_and_feature
from manyclass.core.instance import Instance
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.service.store import open_store
from manyclass.training.rows import Rows

# --- append ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("load", "events"), [(0, 20), (1, 20), (2, 160)])
def test_each_load_appends_all_events(load, events):
    appended = []
    figures = list(append.LOADS.values())[load](appended.extend, 20)
    assert len(appended) == events
    assert set(figures) == {"median", "cpu", "rate"}
    assert figures["median"] > 0


def test_a_run_compares_the_store_with_a_bare_insert(tmp_path, monkeypatch, capsys):
    result = tmp_path / "result.json"
    words = f"append --rounds 1 --appends 5 --folder {tmp_path} --json {result}"
    monkeypatch.setattr(sys, "argv", words.split())
    append.main()
    tables = json.loads(result.read_text())
    assert set(tables) == set(append.LOADS)
    for rows in tables.values():
        store, bare, ratio = (row["CPU ms"] for row in rows)
        assert ratio == pytest.approx(store / bare)
    assert "ratio" in capsys.readouterr().out


# --- committees -----------------------------------------------------------------------------------


@pytest.mark.parametrize("specification", ["committee(members=ff+pa,vote=score)", "iplt"])
def test_each_step_takes_time(specification, monkeypatch):
    monkeypatch.setattr(committees, "ALONE", 5)
    training, test = committees.texts(10, 60).split(0.8)

    spent = committees.microseconds_of(Options.parse(specification), training, test)

    assert list(spent) == list(committees.STEPS)
    assert min(spent.values()) >= 0


def test_a_committee_is_compared_with_the_sum_of_its_members(monkeypatch):
    def microseconds_of(options, training, test):
        spent = {"ff": 1.0, "pa": 2.0, "committee": 6.0}[options.learner]
        return dict.fromkeys(committees.STEPS, spent)

    monkeypatch.setattr(committees, "microseconds_of", microseconds_of)
    rows = committees.texts(2, 4).split(0.5)

    lines = committees.table(rows, "committee(members=ff+pa)", 3)

    assert [line["step"] for line in lines] == list(committees.STEPS)
    assert {line["committee / members"] for line in lines} == {2.0}


# --- learning -------------------------------------------------------------------------------------

ROWS = Rows.of(([f"word {n % 7}", f"word {n % 5}"], [f"class {n % 3}"]) for n in range(2 * TURN))


def test_a_batch_learns_what_its_events_learn_one_by_one():
    each, batched = Model(Options.parse("svm")), Model(Options.parse("svm"))
    events = list(events_of(ROWS))

    apply_each(each, events)
    apply_as_batch(batched, events)

    assert each.seq == batched.seq == len(events)
    assert each.digest() == batched.digest()


def test_all_three_ways_are_measured():
    measured = measure(ROWS, ROWS, "svm")

    assert measured["labels"] == 1
    assert min(measured["rank µs"], measured["learn µs"], measured["batch µs"]) > 0


# --- pairs ----------------------------------------------------------------------------------------


def test_the_interval_holds_the_true_median_as_often_as_it_says():
    draws = random.Random(0)
    held = 0
    for _ in range(2000):
        low, high = interval([draws.expovariate(1.0) for _ in range(10)])
        held += low <= 0.6931 <= high
    assert 0.95 <= held / 2000 < 0.995


def test_few_ratios_have_the_widest_interval():
    assert interval([3.0, 1.0, 2.0]) == (1.0, 3.0)
    assert median([3.0, 1.0, 2.0]) == 2.0


def test_only_cpu_times_are_compared():
    tables = {"costs": [{"set": "words", "rank µs": 4, "active": 11.5, "of": "x"}]}
    assert times(tables) == {("costs", "words", "rank µs"): 4.0}


# --- ready ----------------------------------------------------------------------------------------


def test_the_model_has_as_many_edges_as_asked_for_and_the_options_of_a_service():
    model = ready.grown(50_000)

    assert 0.95 * 50_000 < model.learner.edges <= 50_000
    assert model.learner.features == 2_000
    assert model.options == ready.Settings().model_set().primary


def test_a_saved_model_is_what_is_loaded(tmp_path):
    model = ready.grown(5_000)
    url = f"sqlite:{tmp_path}/store.db"

    size = ready.keep(model, url)

    store = open_store(url, lambda: 0.0)
    [snapshot] = store.snapshots()
    assert (snapshot.seq, snapshot.bytes) == (model.seq, size)
    loaded = ready.Model.load(store.open_snapshot(snapshot.seq))
    assert loaded.digest() == model.digest()
    store.close()


@pytest.mark.slow
def test_all_of_it_in_short(tmp_path):
    result = tmp_path / "figures.json"
    options = ready.parser().parse_args(
        ["--edges", "5000", "--rounds", "1", "--folder", str(tmp_path), "--json", str(result)]
    )

    ready.main(options)

    [rows] = json.loads(result.read_text()).values()
    assert [row["snapshot in"] for row in rows] == ["sqlite", "redis"]
    for row in rows:
        assert all(row[figure] > 0 for figure in ("ready s", "store s", "core s", "plain read s"))
        assert row["peak MB"] >= row["resident MB"] > 10


# --- serving --------------------------------------------------------------------------------------


def test_instances_are_half_words_and_half_pairs():
    text = " ".join(f"word{number % 60}" for number in range(120))

    (instance,) = instances_of([(text, ["a"]), ("too short", ["b"])])

    assert len(instance.features) == ACTIVE
    assert instance.features["word0"] == 2
    assert instance.features["word0 word1"] == 2
    assert sum(" " in name for name in instance.features) == ACTIVE // 2
    assert instance.learned() == {"features": instance.features, "classes": ["a"]}


def test_events_make_about_as_many_edges_as_asked_for():
    pairs = {
        (feature, event["classes"][0])
        for event in many_edges(50_000)
        for feature in event["features"]
    }

    assert 0.99 * 50_000 < len(pairs) <= 50_000


# --- speed ----------------------------------------------------------------------------------------


def test_columns_are_found_in_a_dumped_state():
    rows = Rows.of([(["a", "bc", "def"], ["x"]), (["unknown"], ["x"])])
    bound = BoundLearner(rows, Options())
    bound.learn(rows.take(np.array([0])))
    bound.learner.forget_feature("bc")

    ids = ids_of_columns(bound.learner.dump(), rows.features)

    assert ids.tolist() == [0, -1, 2, -1]


def test_memory_is_split_between_edges_and_features():
    def measured(edges, megabytes):
        measures = dict.fromkeys(("counted MB", "arenas MB", "process MB"), megabytes)
        return {"features": 100_000, "edges": edges, **measures}

    split = per_edge_and_feature(measured(100_000, 6.0), measured(1_100_000, 16.0))

    assert [(row["bytes an edge"], row["bytes a feature"]) for row in split] == [(10, 50)] * 3


# --- texts ----------------------------------------------------------------------------------------

QUESTIONS = [{"text": "Where is my card?", "classes": ["card"]}]
SAMPLES = (QUESTIONS, [{"text": "The council passed a budget.", "classes": ["news"]}])


def test_each_text_is_timed_by_each_analysis(monkeypatch):
    monkeypatch.setattr(texts, "ROUNDS", 1)
    monkeypatch.setattr(texts, "MEASURED", 1)
    rows = texts.analysis_rows(SAMPLES)
    assert len(rows) == len(texts.texts(SAMPLES))
    assert all(float(row[each]) > 0 for row in rows for each in texts.ANALYSES)


def test_a_text_is_cut_between_words():
    assert texts.pieces("one two  three fourteen", 8) == ["one two", "three"]


def test_made_texts_have_one_length_and_many_pairs():
    made = [some for name, some in texts.texts(SAMPLES).items() if name.startswith("made")]
    assert {len(text) for some in made for text in some} == {texts.LONG}
    for some in made:
        assert len({*some}) == len(some)
        words = [*texts.TextAnalysis.parse("words+pairs").features_of(some[0])]
        assert sum(" " in each for each in words) > 100


# --- vectors --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", vectors.KINDS)
def test_requests_have_the_same_vectors_in_each_form(kind):
    questions = [{"text": f"a {number}", "classes": [f"c{number % 7}"]} for number in range(60)]
    made = vectors.vectors_of(questions, 64)
    found = {}
    for name, form in vectors.FORMS.items():
        requests = vectors.requests_of(kind, form, questions, made)
        bodies = [json.loads(each.partition(b"\r\n\r\n")[2]) for each in requests]
        instances = [one for body in bodies for one in body.get("instances", [body])]
        assert len(instances) == 60
        if form is not None:
            values = [json.dumps(each["vector"]).encode() for each in instances]
            found[name] = [Instance({}).with_vector_of_json(each).vector / 4096 for each in values]
    for name, several in found.items():
        for one, vector in zip(several, made, strict=True):
            assert one @ vector > 0.999, name


def test_the_event_after_a_deletion_computes_the_covariance():
    sizes = [(8, 30), (16, 4)]
    rows = vectors.covariance_rows(sizes)
    assert [(row["numbers"], row["classes"]) for row in rows] == sizes
    assert all(row["ms"] > 0 for row in rows)
    model = vectors.learned_vectors(*sizes[0])
    assert (model.evidence.sizes()["classes"], model.evidence.sizes()["events"]) == (30, 44)
