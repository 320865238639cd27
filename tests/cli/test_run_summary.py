import pytest

from manyclass.cli.run_summary import RunSummary, counted
from manyclass.training.lines import FileFault, Line


def summary_at(*times):
    return RunSummary(iter(times).__next__)


def test_a_clean_run():
    summary = summary_at(10.0, 12.0, 12.0)
    summary.add(1000)
    summary.add_ranks([1, 5, 6, None])
    assert summary.clean
    assert summary.text("learned") == ("learned 1,000 in 2.0 s, 500 a second · R1 0.250  R5 0.500")


def test_a_run_with_something_left_out(capsys):
    summary = summary_at(0.0, 1.0, 1.0)
    summary.add(3, duplicates=2)
    summary.bad_line(Line("events.jsonl", 4, b"{"), "not JSON")
    summary.bad_file(FileFault("more.gz", "ends in the middle"))
    assert not summary.clean
    assert summary.text("learned") == (
        "learned 1, skipped 2 duplicates and 1 invalid row, in 1.0 s, 3 a second"
        " · 1 file not read to the end"
    )
    written = capsys.readouterr()
    assert written.err == (
        "manyclass: events.jsonl:4: not JSON\nmanyclass: more.gz: ends in the middle\n"
    )
    assert written.out == ""


def test_rows_without_a_class_are_counted_by_themselves():
    summary = summary_at(0.0, 1.0, 1.0)
    summary.add(3, duplicates=1)
    for number in (2, 3):
        summary.bad_line(Line("a.csv", number, b""), "no class: label is empty")
    assert "skipped 1 duplicate and 2 rows without a class, in" in summary.text("learned")
    summary = summary_at(0.0, 1.0, 1.0)
    summary.add(3, duplicates=1)
    summary.bad_line(Line("a.csv", 2, b""), "no class: label is empty")
    summary.bad_line(Line("a.csv", 4, b""), "not JSON")
    said = "skipped 1 duplicate, 1 row without a class and 1 invalid row, in"
    assert said in summary.text("learned")


def test_no_recall_without_ranks():
    assert summary_at(0.0, 1.0).recall == ""


@pytest.mark.parametrize(
    ("noun", "several"),
    [
        ("event", "2 events"),
        ("row without a class", "2 rows without a class"),
        ("row by its label", "2 rows by its label"),
        ("rejected answer", "2 rejected answers"),
    ],
)
def test_a_number_with_its_noun(noun, several):
    assert counted(1, noun) == f"1 {noun}"
    assert counted(2, noun) == several
