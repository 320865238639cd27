import numpy as np
import pytest

from manyclass.core.learners.options import Options
from manyclass.evaluation.peers import PeerMissing
from manyclass.evaluation.sets import DataSet
from manyclass.evaluation.studies import fewshot
from manyclass.evaluation.studies.fewshot import (
    FEW,
    LEARNERS,
    POINTS,
    Progress,
    arriving,
    curves_of,
    measure,
    of_one_class,
    seen_before,
    table_of,
    title_of,
)
from manyclass.evaluation.studies.study import parser_of
from manyclass.training.rows import Rows
from tests.evaluation.examples import separable


def labelled(*classes):
    return Rows.of(([f"f{each}"], [each]) for each in classes)


def progress(r1=0.5, latest=0.5, few=0.5, seconds=1.0):
    return Progress((r1,) * POINTS, (latest,) * POINTS, few, seconds)


def test_every_learner_is_written_as_it_is_named_in_tables():
    assert [Options.parse(each).specification for each in LEARNERS] == list(LEARNERS)


def test_only_the_first_class_of_an_instance_is_kept():
    rows = Rows.of([(["a"], ["x", "y"]), (["b"], ["y"]), (["c"], ["z", "x"])])

    single = of_one_class(rows)

    assert [single.classes[each] for each in single.class_indices] == ["x", "y", "z"]
    assert single.class_indptr.tolist() == [0, 1, 2, 3]
    assert single.indices.tolist() == rows.indices.tolist()


def test_classes_arrive_over_the_whole_stream_and_no_row_is_lost():
    rows = separable(2000, classes=100)

    stream = arriving(rows, 1)

    assert sorted(stream.class_indices) == sorted(rows.class_indices)
    first = np.flatnonzero(seen_before(stream) == 0) / len(stream)
    assert len(first) == 100
    assert (first < 0.25).sum() > 20
    assert ((first > 0.25) & (first < 0.5)).sum() > 10
    assert first.max() > 0.65
    assert arriving(rows, 1).class_indices.tolist() == stream.class_indices.tolist()
    assert arriving(rows, 2).class_indices.tolist() != stream.class_indices.tolist()


def test_how_often_a_class_came_is_counted_before_each_row():
    assert seen_before(labelled(*"abacaab")).tolist() == [0, 0, 1, 0, 2, 3, 1]


def test_progress_is_of_all_so_far_of_the_latest_and_of_rare_classes():
    ranks = np.array([0] * 50 + [1] * 40 + [2] * 10, np.int32)
    seen = np.array([0] * 50 + [FEW] * 40 + [FEW + 1] * 8 + [1] * 2)

    found = Progress.of(ranks, seen, 3.0)

    assert len(found.so_far) == len(found.latest) == POINTS
    assert found.latest[:10] == (0,) * 10
    assert found.latest[10:18] == (1,) * 8
    assert found.so_far[-1] == pytest.approx(0.4)
    assert found.so_far[14] == pytest.approx(25 / 75)
    assert found.last_tenth == 0
    assert found.of_few == pytest.approx(40 / 42)


def test_learners_and_peers_see_the_same_stream():
    stream = arriving(separable(200), 0)
    seen = []

    def peer(rows, seed):
        seen.append((rows.class_indices.tolist(), seed))
        return np.ones(len(rows), np.int32)

    found, missing = measure(stream, [Options.parse("oplt")], {"peer": peer}, 7)

    assert seen == [(stream.class_indices.tolist(), 7)]
    assert found["peer"].so_far[-1] == 1
    assert 0.5 < found["oplt"].so_far[-1] < 1
    assert found["oplt"].last_tenth == 1
    assert missing == []


def test_a_peer_without_its_package_is_a_note_below_the_table():
    def peer(rows, seed):
        raise PeerMissing("vowpalwabbit", "no module")

    found, missing = measure(arriving(separable(40), 0), [Options.of("ff")], {"vw": peer}, 0)
    table = table_of("title", found, missing)

    assert [row[0].text for row in table.rows] == ["ff"]
    assert "vw needs the package vowpalwabbit" in table.notes[0]


def test_tables_have_final_figures_and_curves_have_every_point():
    found = {"a": progress(0.5, 0.6, 0.1, 2), "b": progress(0.4, 0.7, 0.2, 1)}

    table = table_of("title", found, [])
    curves = curves_of("set", found, 1000)

    assert [[cell.text for cell in row] for row in table.rows] == [
        ["a", "0.5000", "0.6000", "0.1000", "2"],
        ["b", "0.4000", "0.7000", "0.2000", "1"],
    ]
    assert table.best == [-1, 0, 1, 1, 1]
    assert [each.plot.title for each in curves] == [
        "set: R1 of all instances so far",
        "set: R1 of the last 50 instances",
    ]
    for each in curves:
        assert [point.x for point in each.plot.series[1].points] == list(range(50, 1001, 50))


def test_the_title_says_how_many_rows_nobody_can_get_right():
    title = title_of("set", labelled(*"abab"))

    assert title == "set: 4 instances of 2 classes; 50.0% of them are the first of their class"


def test_the_study_cuts_large_sets_and_draws_curves(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(fewshot.sets, "read", lambda name, _: DataSet(name, separable(80)))
    monkeypatch.setattr(fewshot, "PEERS", {})
    page = tmp_path / "page.html"
    given = parser_of("", fewshot.SETS).parse_args(["--sets", "clinc", "--html", str(page)])
    given.rows, given.seed, given.learner = 40, 0, ["ff"]

    fewshot.main(given)

    assert "clinc: 40 instances of 4 classes" in capsys.readouterr().out
    assert page.read_text().count("<svg viewBox") >= 2
