import pytest

from manyclass.core.learners.options import Options
from manyclass.evaluation.comparison import label
from manyclass.evaluation.peers import PEERS
from manyclass.evaluation.process import Failed
from manyclass.evaluation.sets import DataSet
from manyclass.evaluation.standing import Standing
from manyclass.evaluation.studies import trees
from manyclass.evaluation.studies.study import parser_of
from manyclass.evaluation.studies.trees import (
    PAIRS,
    PEERS_RUN,
    SETS,
    Run,
    against_napkinxc,
    learners_for,
    run,
    table_of,
)
from tests.evaluation.examples import Always, separable


def easy(name="easy"):
    return DataSet(name, separable(80), published=60)


def standing(p1, seconds=1.0, speed=10.0, size=100):
    return Standing({"P1": p1, "P5": 0.2, "PSP1": p1, "PSP5": 0.5}, seconds, speed, size)


@pytest.fixture
def in_this_process(monkeypatch):
    monkeypatch.setattr(trees, "apart", lambda work, limit: work())


def test_every_contender_can_be_made_and_no_two_have_one_name():
    learners = [label(each) for each in learners_for(1000)]

    names = [*learners, *PEERS_RUN]
    assert len(set(names)) == len(names)
    assert {*PEERS_RUN} <= PEERS.keys()
    assert {"iplt", "oplt", "oplt(policy=random)", "oplt(sample=100)", "svm", "ff"} <= {*names}


def test_the_pairs_are_of_contenders_that_are_run():
    assert {each for pair in PAIRS for each in pair} <= {
        *map(label, learners_for(1000)),
        *PEERS_RUN,
    }


def test_each_learner_and_peer_is_tested_on_the_same_rows(monkeypatch, in_this_process):
    seen = []

    class Peer(Always):
        def fit(self, rows):
            seen.append(rows.class_indices.tolist())

    monkeypatch.setattr(trees, "PEERS", {"one": Peer, "other": Peer})

    ran = run(easy(), [Options.parse("oplt")], ["one", "other"], 0, 60)

    assert [*ran.standings] == ["oplt", "one", "other"]
    assert seen[0] == seen[1]
    assert sorted(seen[0]) == sorted(easy().rows.class_indices[:60].tolist())
    assert ran.standings["oplt"].accuracy["P1"] == 1
    assert ran.standings["one"].accuracy == pytest.approx(
        {"P1": 0.25, "P5": 0.2, "PSP1": 0.25, "PSP5": 1}
    )
    assert ran.standings["one"].bytes == 1000
    assert ran.title == "easy: 60 + 20 rows, 4 classes"


def test_an_incremental_tree_is_planted_over_all_classes_before_it_learns(
    monkeypatch, in_this_process
):
    planted = []
    plant = trees.Indexed.plant

    def noted(self, rows):
        plant(self, rows)
        planted.append((self.learner.learned, self.learner.classes))

    monkeypatch.setattr(trees.Indexed, "plant", noted)

    run(easy(), [Options.parse("iplt(tree=complete)"), Options.parse("oplt")], [], 0, 60)

    assert planted == [(0, 4), (0, 0)]


def test_a_peer_that_fails_is_a_note_below_the_table(monkeypatch):
    class Broken(Always):
        def fit(self, rows):
            raise RuntimeError("out of luck")

    monkeypatch.setattr(trees, "PEERS", {"broken": Broken, "always": Always})

    table = table_of(run(easy(), [], ["broken", "always"], 0, 60))

    assert [row[0].text for row in table.rows] == ["always"]
    assert table.notes == ["broken: RuntimeError: out of luck"]


def test_a_learner_of_ours_that_fails_is_an_error(monkeypatch):
    def broken(self, rows):
        raise RuntimeError("out of luck")

    monkeypatch.setattr(trees.Indexed, "fit", broken)

    with pytest.raises(Failed, match="out of luck"):
        run(easy(), [Options.parse("oplt")], [], 0, 60)


def test_who_takes_too_long_is_a_note_below_the_table(monkeypatch):
    class Slow(Always):
        def fit(self, rows):
            while True:
                pass

    monkeypatch.setattr(trees, "PEERS", {"slow": Slow})
    monkeypatch.setattr(trees.Indexed, "fit", Slow.fit)

    ran = run(easy(), [Options.parse("oplt")], ["slow"], 0, 1)

    assert ran.standings == {}
    assert ran.failed == ["oplt: stopped after 1 CPU seconds", "slow: stopped after 1 CPU seconds"]


def test_the_best_of_each_column_is_the_highest_measure_and_the_lowest_cost():
    ran = Run("title", {"a": standing(0.5, 2.0, 10, 300), "b": standing(0.4, 1.0, 20, 200)}, [])

    table = table_of(ran)

    assert table.columns == [
        *("learner", "P1 %", "P5 %", "PSP1 %", "PSP5 %", "T_train s", "ranks/s", "bytes")
    ]
    assert table.best == [-1, 0, 0, 0, 0, 1, 1, 1]
    assert [cell.text for cell in table.rows[0][:3]] == ["a", "50.00", "20.00"]


def test_trees_are_held_against_napkinxc_where_both_were_run():
    found = {
        "both": Run(
            "", {"oplt": standing(0.5), "napkinxc-oplt+tfidf": standing(0.4, 4, 5, 50)}, []
        ),
        "one": Run("", {"oplt": standing(0.5)}, []),
    }

    table = against_napkinxc(found)

    [row] = table.rows
    assert [cell.text for cell in row[:3]] == ["both", "oplt", "napkinxc-oplt+tfidf"]
    assert [cell.text for cell in row[3:7]] == ["+10.00", "+0.00", "+10.00", "+0.00"]
    assert [cell.text for cell in row[7:]] == ["P1, PSP1", "0.25 x", "2 x", "2 x"]


def test_the_study_shows_each_set_and_then_who_is_ahead(monkeypatch, capsys):
    monkeypatch.setattr(trees.sets, "read", lambda name, folder: easy(name))
    parser = parser_of("about", SETS)
    given = parser.parse_args(["--sets", "bibtex,yso"])
    given.seed, given.learner, given.peers, given.rows = 0, ["oplt", "ff"], [], 50
    given.limit = 60

    trees.main(given)

    shown = capsys.readouterr().out
    titles = [line for line in shown.splitlines() if line and not line.startswith(" ")]
    assert titles == [
        "bibtex: 50 + 10 rows, 4 classes",
        "yso: 50 + 10 rows, 4 classes",
        "Online trees beside napkinXC's",
    ]
