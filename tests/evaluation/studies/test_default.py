from argparse import Namespace
from dataclasses import replace

import numpy as np
import pytest

from manyclass.evaluation.sets import DataSet
from manyclass.evaluation.standing import Standing
from manyclass.evaluation.studies import default
from manyclass.evaluation.studies.default import (
    CHOSEN,
    EVERYWHERE,
    ON_SMALL,
    aim_table,
    by_set,
    learner,
    part_of,
    training_part,
    trials,
)
from manyclass.evaluation.studies.study import Study
from tests.evaluation.examples import Always, separable


def published(training=60, test=20):
    return DataSet("easy", separable(training + test), published=training)


def trial(r1=0.5, r5=0.5, p5=0.5, seconds=1.0, speed=1.0):
    return Standing({"R1": r1, "R5": r5, "P5": p5}, seconds, speed, 0)


def always(name="always"):
    return {name: lambda rows, seed: Always(seed)}


def test_every_candidate_can_be_made_and_is_written_as_it_is_named_in_tables():
    specifications = [*EVERYWHERE, *ON_SMALL]

    assert [learner(each)[0] for each in specifications] == specifications
    assert len(set(specifications)) == len(specifications)
    assert CHOSEN in EVERYWHERE


def test_no_test_row_is_in_what_is_chosen_on():
    data = published()

    chosen_on = training_part(data)

    assert len(chosen_on.rows) == 60
    learned, held_out = chosen_on.split(3)
    assert (len(learned), len(held_out)) == (54, 6)
    given = data.rows.take(np.arange(60))
    assert sorted(learned.indices.tolist() + held_out.indices.tolist()) == sorted(
        given.indices.tolist()
    )


def test_a_set_without_published_test_rows_is_refused():
    with pytest.raises(ValueError, match="easy has no published test rows"):
        part_of(DataSet("easy", separable()))


def test_large_parts_are_sampled_from_their_own_side(monkeypatch):
    monkeypatch.setattr(default, "MOST_TRAINING", 10)
    monkeypatch.setattr(default, "MOST_TEST", 5)
    data = published()
    numbered = replace(data, rows=replace(data.rows, values=np.arange(160, dtype=np.float32)))

    part = part_of(numbered)

    assert (part.published, len(part.rows)) == (10, 15)
    firsts = part.rows.values[part.rows.indptr[:-1]] / 2
    assert (firsts[:10] < 60).all()
    assert (firsts[10:] >= 60).all()
    assert len(set(firsts)) == 15
    assert part_of(published(10, 5)).published == 10


def test_contenders_are_trained_and_tested_on_the_same_splits():
    made = {"ff": learner("ff")[1], **always()}

    found = trials(published(), made, [0, 1])

    assert {name: len(each) for name, each in found.items()} == {"ff": 2, "always": 2}
    assert [each.accuracy["R1"] for each in found["ff"]] == [1, 1]
    assert found["always"][0].accuracy == {"R1": 0.25, "R5": 1, "P5": 0.2}
    assert found["ff"][0].ranks_per_second > 0


def test_every_seed_makes_another_order_and_another_contender():
    seen = []

    def make(rows, seed):
        seen.append((seed, rows.class_indices.tolist()))
        return Always(seed)

    trials(published(), {"always": make}, [3, 4])

    (one, order), (other, another) = seen
    assert (one, other) == (3, 4)
    assert order != another


def test_a_row_has_every_set_and_the_mean_of_those_all_were_on():
    found = {
        "one": {"a": [trial(0.2), trial(0.4)], "b": [trial(0.1)]},
        "two": {"a": [trial(0.5)], "b": [trial(0.9)]},
        "three": {"a": [trial(0.6)]},
    }

    table = by_set("R1", found, lambda each: each.accuracy["R1"], "more")

    assert table.columns == ["learner", "one", "two", "three", "mean of 2"]
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["a", "0.300 ± 0.141", "0.500", "0.600", "0.400"],
        ["b", "0.100", "0.900", "-", "0.500"],
    ]
    assert table.best == [-1, 0, 1, -1, 1]


def test_the_aim_is_held_against_the_peer_with_the_best_r1():
    found = {
        "met": {
            "ours": [trial(0.52, 0.9, seconds=1, speed=100)],
            "x (peer)": [trial(0.5, 0.9, seconds=10, speed=10)],
            "y (peer)": [trial(0.4, 1.0, seconds=1, speed=1000)],
        },
        "missed": {
            "ours": [trial(0.49, 0.89, seconds=1.1, speed=99)],
            "x (peer)": [trial(0.5, 0.9, seconds=10, speed=10)],
        },
        "alone": {"ours": [trial()]},
    }

    table = aim_table(found, "ours")

    assert [[cell.text for cell in row] for row in table.rows] == [
        [
            "met",
            "x (peer)",
            "+2.00",
            "+0.00",
            "+0.00",
            "1/10.0",
            "10 x",
            "R1, R5, T_train, ranks/s",
        ],
        ["missed", "x (peer)", "-1.00", "-1.00", "+0.00", "1/9.1", "9.9 x", "-"],
    ]


@pytest.fixture
def given(monkeypatch, tmp_path):
    """Options of a run on one made set."""
    monkeypatch.setattr(default.sets, "read", lambda name, folder: published())
    return Namespace(
        sets=["clinc"],
        data=tmp_path,
        splits=2,
        seed=0,
        learner=["svm", "ff"],
        peers=["linearsvc"],
        json=None,
        html=None,
        markdown=False,
    )


def test_the_choice_is_made_without_the_test_rows(given, monkeypatch):
    rows = []
    of = Standing.of.__func__
    monkeypatch.setattr(
        Standing,
        "of",
        classmethod(
            lambda cls, one, learned, held, wanted: (
                rows.append((len(learned), len(held))) or of(cls, one, learned, held, wanted)
            )
        ),
    )
    study = Study("made", given)

    default.choose(study, given)

    assert rows == [(54, 6)] * 4
    titles = [table.title for table in study.tables]
    assert titles[0] == "R1 on held-out training rows"
    assert titles[-3:] == ["T_train, CPU seconds", "ranks/s", "bytes"]
    assert [row[0].text for row in study.tables[0].rows] == ["svm", "ff"]
    assert "±" not in study.tables[-1].rows[0][1].text


def test_large_sets_have_one_order_and_fewer_candidates(given, monkeypatch):
    monkeypatch.setattr(default, "EVERYWHERE", ("ff",))
    monkeypatch.setattr(default, "ON_SMALL", ("pa",))
    given.sets, given.learner = ["clinc", "yso"], None
    study = Study("made", given)

    default.choose(study, given)

    rows = [[cell.text for cell in row] for row in study.tables[0].rows]
    assert [row[0] for row in rows] == ["ff", "pa"]
    assert ["±" in row[1] for row in rows] == [True, True]
    assert rows[0][2] == "1.000"
    assert rows[1][2] == "-"


def test_the_test_has_learners_in_all_orders_and_peers_once(given, monkeypatch):
    monkeypatch.setattr(
        default, "peer", lambda name: (f"{name} (peer)", lambda rows, seed: Always(seed))
    )
    study = Study("made", given)

    default.test(study, given)

    first = [[cell.text for cell in row] for row in study.tables[0].rows]
    assert [row[0] for row in first] == ["svm", "ff", "linearsvc (peer)"]
    assert ["±" in row[1] for row in first] == [True, True, False]
    aim = study.tables[-1]
    assert aim.title == "svm beside a batch linear SVM"
    assert [cell.text for cell in aim.rows[0][:3]] == ["clinc", "linearsvc (peer)", "+75.00"]
