import pytest

from manyclass.evaluation.report import EMPTY
from studies.declaration import Beside, Gaps, Pivot, Plot, Study
from studies.tables import at_pass, figures, tables


def record(estimator="a", dataset="one", split=0, number=1, **measures):
    identity = {"dataset": dataset, "estimator": estimator, "split": split, "pass": number}
    return {**identity, **measures}


def shown(declared, records):
    study = Study("about", [], lambda *_: (), [declared])
    return [
        (table.title, table.columns, [[cell.text for cell in row] for row in table.rows])
        for table in tables(study, records)
    ]


PASSES = [
    record(split=0, number=1, R1=0.5),
    record(split=1, number=1, R1=0.7),
    record(split=0, number=2, R1=0.9),
    record(split=1, number=2, R1=0.1),
    record("b", split=0, number=1, R1=0.2),
]


@pytest.mark.parametrize(
    ("at", "kept"),
    [
        ("first", [0.5, 0.7, 0.2]),
        ("last", [0.9, 0.1, 0.2]),
        ("best", [0.5, 0.7, 0.2]),
        ("every", [0.5, 0.7, 0.9, 0.1, 0.2]),
    ],
)
def test_a_pass_is_chosen_for_each_run_by_its_mean(at, kept):
    assert [each["R1"] for each in at_pass(PASSES, at)] == kept


def test_records_without_a_pass_are_kept():
    printed = {"dataset": "one", "estimator": "paper", "R1": 0.3}

    assert at_pass([printed], "best") == [printed]


def test_a_row_has_the_mean_and_the_deviation_over_splits():
    [(title, columns, rows)] = shown(Pivot("t", ["R1", "P5"], at="first"), PASSES)

    assert title == "one: t"
    assert columns == ["estimator", "R1"]
    assert rows == [["a", "0.600 ± 0.141"], ["b", "0.200"]]


def test_there_is_a_table_for_each_data_set_or_one_without_deviations():
    records = [record(R1=0.25), record(dataset="two", R1=0.75)]

    assert [title for title, *_ in shown(Pivot("t", ["R1"]), records)] == ["one: t", "two: t"]
    [(title, _, rows)] = shown(Pivot("t", ["R1"], each=""), records)
    assert (title, rows) == ("t", [["a", "0.500"]])


def test_the_values_of_a_key_may_be_columns_with_their_mean():
    records = [
        *(record(dataset=each, R1=r1) for each, r1 in (("one", 0.2), ("two", 0.4), ("three", 0.9))),
        *(record("b", dataset=each, R1=r1) for each, r1 in (("one", 0.1), ("two", 0.9))),
    ]

    [(_, columns, rows)] = shown(Pivot("t", ["R1"], across="dataset", each="", mean=True), records)

    assert columns == ["estimator", "one", "two", "three", "mean of 2"]
    assert rows == [
        ["a", "0.200", "0.400", "0.900", "0.300"],
        ["b", "0.100", "0.900", "-", "0.500"],
    ]


def test_several_measures_across_a_key_are_named_with_it():
    records = [record(limit=">= 0.5", answered=0.8, right=0.9)]

    [(_, columns, rows)] = shown(Pivot("t", ["answered", "right"], across="limit"), records)

    assert columns == ["estimator", "answered, limit >= 0.5", "right, limit >= 0.5"]
    assert rows == [["a", "0.800", "0.900"]]


def test_costs_have_three_digits_and_the_least_may_be_best():
    declared = Pivot("t", ["R1", "bytes", "HR"])
    records = [record(R1=0.9, bytes=2_000, HR=1.5), record("b", R1=0.8, bytes=1_500, HR=1.2)]
    study = Study("about", [], lambda *_: (), [declared])

    [table] = tables(study, records)

    assert [cell.text for cell in table.rows[0]] == ["a", "0.900", "2k", "1.500"]
    assert table.best == [-1, 0, 1, 1]


def test_no_cell_of_equal_ones_is_best():
    study = Study("about", [], lambda *_: (), [Pivot("t", ["R1", "P1"])])

    [table] = tables(study, [record(R1=0.5, P1=0.2), record("b", R1=0.5, P1=0.1)])

    assert table.best == [-1, -1, 0]


def test_failures_are_notes_and_have_no_row():
    study = Study("about", [], lambda *_: (), [Pivot("t", ["R1"])])
    failed = {"dataset": "one", "estimator": "b", "split": 0, "failed": "ValueError: no room"}

    [table] = tables(study, [record(R1=0.5), failed])

    assert [row[0].text for row in table.rows] == ["a"]
    assert table.notes == ["b: ValueError: no room"]


def test_wins_are_those_of_the_best_estimator_of_a_prefix():
    records = [record("ff(0)", split=at, R1=0.5) for at in range(10)]
    records += [record("ff(1)", split=at, R1=0.9) for at in range(10)]
    records += [record("svm", split=at, R1=0.6) for at in range(9)]
    records += [record("svm", split=9, R1=0.95), record("once", R1=0.9)]

    [(_, columns, rows)] = shown(Pivot("t", ["R1"], wins_of="ff"), records)

    assert columns[-1] == "ff wins"
    assert [row[-1] for row in rows] == ["10:0*", "-", "9:1*", "0:0"]


def test_pairs_stand_beside_each_other_where_both_were_run():
    declared = Beside("t", [("a", "b"), ("a", "c")], ["R1"], ["bytes"])
    records = [
        record(R1=0.5, bytes=10),
        record(split=1, R1=0.7, bytes=10),
        record("b", R1=0.5, bytes=40),
        record(dataset="two", R1=0.5, bytes=1),
    ]

    [(_, columns, rows)] = shown(declared, records)

    assert columns == ["dataset", "ours", "beside", "R1, points", "bytes"]
    assert rows == [["one", "a", "b", "+10.00", "0.25 x"]]


def test_a_figure_has_a_series_for_each_estimator_of_a_data_set():
    plots = [Plot("line", "tenth", "R1", along="tenth"), Plot("cost", "bytes", "R1")]
    study = Study("about", [], lambda *_: (), [], plots)
    records = [
        {"dataset": "one", "estimator": "a", "split": split, "tenth": tenth, "R1": tenth / 10}
        for split in (0, 1)
        for tenth in (1, 2)
    ]
    records.append(record("b", R1=0.5, bytes=100))

    line, cost = figures(study, records)

    assert (line.title, line.scattered, cost.scattered) == ("one: line", False, True)
    assert [each.name for each in line.series] == ["a"]
    assert line.series[0].points == [(1, 0.1, 0.0), (2, 0.2, 0.0)]
    assert cost.series[0].points == [(100, 0.5, None)]


def test_gaps_are_points_to_the_best_peer_by_each_measure():
    records = [
        record("ours", R1=0.5, R5=0.9),
        record("a", R1=0.6, R5=0.7),
        record("b", R1=0.4, R5=0.8),
        record("ours", "two", R1=0.5),
        record("none of them", "two", R1=0.9),
    ]

    ((_, columns, rows),) = shown(Gaps("t", "ours", ["a", "b"], ["R1", "R5"]), records)

    assert columns[:4] == ["dataset", "R1", "the best peer's R1", "points"]
    assert rows == [
        ["one", "0.5000", "0.6000 (a)", "-10.00", "0.9000", "0.8000 (b)", "+10.00"],
        ["two", *[EMPTY.text] * 6],
    ]


@pytest.mark.parametrize(("side", "front"), [("left", ["a", "c"]), ("right", ["c", "d"])])
def test_a_front_joins_what_no_other_exceeds_in_both_measures(side, front):
    records = [
        record("a", seconds=1, R1=0.8),
        record("b", seconds=2, R1=0.79),
        record("c", seconds=3, R1=0.9),
        record("d", seconds=4, R1=0.85),
        record("far below", seconds=0.1, R1=0.5),
    ]
    plot = Plot("t", "seconds", "R1", front=side)

    (figure,) = figures(Study("about", [], lambda *_: (), [], [plot]), records)

    bold = [each.name for each in figure.series if not each.faint]
    assert sorted(bold) == front
    assert {each.name for each in figure.series} == {"a", "b", "c", "d"}
    assert sorted(figure.front) == sorted(
        (each.points[0][0], each.points[0][1]) for each in figure.series if not each.faint
    )
