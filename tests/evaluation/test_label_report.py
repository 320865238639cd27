import csv
import re
from io import StringIO

import pytest

from manyclass.evaluation.label_report import NO_CONFIDENCE, figures_of, label_page, tables_of
from manyclass.evaluation.origins import Origins
from manyclass.training.formats.given import Given
from manyclass.training.lines import Line
from manyclass.training.rows import Rows
from tests.evaluation.test_html_report import Outline
from tests.evaluation.test_label_review import WRONG, mislabelled, ranked, reviewed


def origins_of(rows, text="text of line {}"):
    """Return origins of rows on the lines from 1."""
    origins = Origins()
    for number in range(1, len(rows) + 1):
        origins.add(Given(Line("a.jsonl", number, b""), [], ["c"], text=text.format(number)))
    return origins


@pytest.fixture(scope="module")
def review():
    return reviewed(mislabelled())


@pytest.fixture
def tables(review):
    return tables_of(review, origins_of(review.rows), "Ranked somehow.")


@pytest.fixture
def odd():
    """Return tables of names and texts that are markup, separators and control characters."""
    rows = Rows.of([({"f": 1}, ["<b>&", "c,d"]), ({"f": 1}, ['"e"\n\x1b[1m'])] * 60)
    review = ranked(rows, ["<b>&", "<b>&"] * 60, [1, 0] * 60)
    return tables_of(review, origins_of(rows, '<script>alert("{}")</script>, \x1b[31m'), "<method>")


def lines_of(table):
    return list(csv.DictReader(StringIO(table.csv(), newline="")))


def test_the_overall_counts_are_those_of_the_rows(review, tables):
    (line,) = lines_of(tables["overall"])

    assert line["rows"] == "400"
    assert float(line["R1"]) == review.recalls["R1"]
    assert float(line["R5"]) == review.recalls["R5"]
    assert sum(int(line[each]) for each in ("right", "contradicted", "without a ranking")) == 400
    assert "Ranked somehow." in tables["overall"].text()


def test_suspects_are_shown_with_line_label_and_text(tables):
    suspects = lines_of(tables["suspects"])[: len(WRONG)]

    assert {int(each["line"]) - 1 for each in suspects} == {*WRONG}
    for each in suspects:
        row = int(each["line"]) - 1
        assert each["label"] == f"class {(row + 2) % 5}"
        assert each["ranked first"] == f"class {row % 5}"
        assert each["beginning"] == f"text of line {row + 1}"
        assert 0.9 < float(each["suspicion"]) <= 1


def test_confusions_have_examples(tables):
    confusions = lines_of(tables["confusions"])

    assert sum(int(each["rows"]) for each in confusions) == len(lines_of(tables["suspects"]))
    for each in confusions:
        examples = re.findall(r"(\d+): text of line \1", each["examples"])
        assert len(examples) == min(int(each["rows"]), 3)


def test_a_limit_cuts_each_table_and_its_title_says_so(review):
    tables = tables_of(review, origins_of(review.rows), "", limit=2)

    assert [len(table.rows) for table in tables.values()] == [1, 4, 2, 2, 2]  # four targets
    assert tables["classes"].title == "Classes: 2 of 5"
    assert tables["suspects"].title == f"Suspects: 2 of {len(review.suspects())}"


def test_without_confidence_the_table_says_why():
    rows = Rows.of([({"f": 1}, ["a"]), ({"f": 1}, ["b"])])
    table = tables_of(ranked(rows, ["a", "a"], [1, 2]), origins_of(rows), "")["suspects"]

    assert table.rows == []
    assert table.notes == [NO_CONFIDENCE]


def test_names_and_texts_survive_csv(odd):
    assert {each["class"] for each in lines_of(odd["classes"])} == {
        "<b>&",
        "c,d",
        '"e"\n\x1b[1m',
    }
    assert lines_of(odd["suspects"])[0]["beginning"].startswith("<script>alert(")
    assert lines_of(odd["classes"])[-1]["precision"] == ""


def test_text_for_a_terminal_has_no_control_characters(odd):
    shown = "\n".join(table.text() for table in odd.values())

    assert "\x1b" not in shown
    assert '"e"\\n\\x1b[1m' in shown


def test_the_page_escapes_names_and_needs_nothing_else(odd):
    text = label_page("<i>.jsonl", odd, {"command": "manyclass report <i>.jsonl"})
    outline = Outline(text)

    assert outline.tags.count("table") == 5
    assert {"link", "i", "b", "method"} & {*outline.tags} == set()
    assert outline.tags.count("script") == 1  # to sort the tables
    assert "<b>&" in outline.texts["td"]
    sections = [value for tag, name, value in outline.attributes if (tag, name) == ("h2", "id")]
    assert sections == ["overall", "limits", "classes", "confusions", "suspects"]
    references = [value for _, name, value in outline.attributes if name in ("src", "href")]
    assert references == [f"#{each}" for each in sections]
    assert "prefers-color-scheme: dark" in text
    assert 'name="viewport"' in text


def test_the_recall_of_each_class_is_drawn(review, tables):
    [figure] = figures_of(review)
    drawn = [(rows, recall) for rows, recall, _ in figure.series[0].points]
    assert drawn == [
        (float(each["rows"]), pytest.approx(float(each["recall"])))
        for each in lines_of(tables["classes"])
    ]
    assert "<img" in label_page("a", tables, {}, [figure])


def test_limits_are_the_least_for_each_target_or_what_is_possible(review, tables):
    limits = lines_of(tables["limits"])

    assert [float(each["target"]) for each in limits] == [0.8, 0.9, 0.95, 0.99]
    curve = review.calibration.curve(10**6, {})
    assert curve.outcomes == len(review.rows) - 100
    for each in limits:
        if each["limit"]:
            assert float(each["at least"]) >= float(each["target"])
            [point] = [one for one in curve.points if one.limit == float(each["limit"])]
            assert float(each["answered"]) == pytest.approx(point.answers / curve.outcomes)
            assert float(each["right of these"]) == pytest.approx(point.accuracy)
        else:
            assert f"{float(each['target']):.0%} is not reached: at best" in tables["limits"].text()
    assert any(each["limit"] for each in limits)
    assert not all(each["limit"] for each in limits)
