"""Tables as people have them: CSV of spreadsheets, of databases, and written by hand."""

import csv
import gzip
import io

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from manyclass.training.lines import FileFault
from manyclass.training.tables.delimited import records
from manyclass.training.tables.layout import Layout
from manyclass.training.tables.source import TableFault, TableSource
from tests.hypothesis_examples import examples

TWO = {
    2: {"text": "ice and pucks", "classes": ["hockey"]},
    3: {"text": "a serve", "classes": ["tennis"]},
}


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_delimiter_line_end_and_byte_order_mark_are_found(table, delimiter, end, encoding):
    rows = [["text", "label"], ["ice and pucks", "hockey"], ["a serve", "tennis"]]
    text = end.join(delimiter.join(row) for row in rows)
    assert table((text + end).encode(encoding)) == TWO
    assert table(text.encode(encoding)) == TWO


def test_texts_with_other_delimiters_do_not_mislead(table):
    content = 'text;label\n"ice, pucks; and, sticks";hockey\na, b, c, d;tennis\n'
    assert table(content) == {
        2: {"text": "ice, pucks; and, sticks", "classes": ["hockey"]},
        3: {"text": "a, b, c, d", "classes": ["tennis"]},
    }


def test_a_tsv_has_tabs_even_where_commas_are_more(table):
    assert table("text\tlabel\n1,2,3\ta,b\n", "t.tsv") == {2: {"text": "1,2,3", "classes": ["a,b"]}}


@pytest.mark.parametrize(("given", "used"), [("tab", "\t"), ("\\t", "\t"), ("^", "^"), (";", ";")])
def test_a_given_delimiter_wins(table, given, used):
    content = f"text{used}label\na,b{used}c\n"
    assert table(content, delimiter=given) == {2: {"text": "a,b", "classes": ["c"]}}


@pytest.mark.parametrize("given", ["", "ab", '"', "\n"])
def test_a_delimiter_is_one_character(table, given):
    with pytest.raises(TableFault, match="a delimiter is one character"):
        table("text,label\n", delimiter=given)


def test_quoted_cells_span_lines_and_the_first_is_named(table):
    content = 'text,label\n"ice\nand ""pucks""",hockey\n\na serve,\n'
    assert table(content) == {
        2: {"text": 'ice\nand "pucks"', "classes": ["hockey"]},
        5: "no class: label is empty",
    }


def test_a_quote_that_is_not_closed_is_named(table):
    assert table('text,label\na,b\n"c,d\ne,f\n') == {
        2: {"text": "a", "classes": ["b"]},
        3: "lines 3 to 4 are left out: the quote opened in line 3 is not closed",
    }
    assert table('text,label\n"a\nb","c\nd,e\n') == {
        2: "lines 2 to 4 are left out: the quote opened in line 3 is not closed"
    }
    assert table('text,label\n"a,b') == {2: "the quote opened in line 2 is not closed"}


@pytest.mark.parametrize("closing", ['"goalie saved",tennis', 'a "goalie" saved,tennis'])
def test_a_quote_that_a_later_cell_closes_by_mistake_is_named(table, closing):
    assert table(f'text,label\na,b\n"c,d\ne,f\n{closing}\ng,h\n') == {
        2: {"text": "a", "classes": ["b"]},
        3: "lines 3 to 5 are left out: the quote opened in line 3 is not closed",
        6: {"text": "g", "classes": ["h"]},
    }


def test_quotes_within_a_line_may_be_sloppy(table):
    assert table('text,label\n"a" b,c\n')[2] == {"text": "a b", "classes": ["c"]}


def test_rows_with_too_many_cells_are_rejected_and_short_ones_filled(table):
    content = "text,label,note\nice, pucks,hockey,x\nice,hockey\nserve,tennis,,,\n,,\n"
    found = table(content)
    assert found.pop(2).startswith("it has 4 cells, the header has 3 (text, label, note)")
    assert found == {
        3: {"text": "ice", "classes": ["hockey"]},
        4: {"text": "serve", "classes": ["tennis"]},
    }


@pytest.mark.parametrize("text", ["", "  "])
def test_a_row_without_a_text_cannot_be_learned_but_ranked(table, text):
    content = f"text,label\n{text},hockey\n"
    assert table(content) == {2: "no text: text is empty"}
    assert table(content, labelled=False) == {2: {"text": text}}


def test_several_columns_are_joined_and_cells_divided(table):
    content = "title,body,tags,more,key\nIce,and pucks,hockey | sport |,hockey,7\n,serve,tennis,,\n"
    layout = {"text": ("title", "body"), "classes": ("tags", "more"), "id": "key"}
    assert table(content, class_separator="|", **layout) == {
        2: {"text": "Ice and pucks", "classes": ["hockey", "sport"], "event_id": "7"},
        3: {"text": "serve", "classes": ["tennis"]},
    }
    assert table(content, labelled=False, text=("title",), id="key")[2] == {
        "text": "Ice",
        "id": "7",
    }


def test_without_a_header_columns_are_numbers(table):
    content = "ice,hockey\nserve,tennis\n"
    assert table(content, text=("1",), classes=("2",), header=False) == {
        1: {"text": "ice", "classes": ["hockey"]},
        2: {"text": "serve", "classes": ["tennis"]},
    }


def test_a_header_amid_files_that_were_put_together_is_skipped(table):
    assert list(table("text,label\nice,hockey\ntext,label\nserve,tennis\n")) == [2, 4]


def test_a_file_of_windows_is_read_or_named_with_its_remedy(table):
    content = "text,label\nfine,a\nschöne Grüße,b\n".encode("cp1252")
    assert table(content)[3] == {"text": "schöne Grüße", "classes": ["b"]}
    polish = "text,label\nfine,a\nzażółć gęślą jaźń,b\n".encode("cp1250")
    with pytest.raises(TableFault, match=r"line 3 is not UTF-8 .byte 0xBF.; add --encoding cp1252"):
        table(polish)
    assert table(polish, encoding="cp1250")[3]["text"] == "zażółć gęślą jaźń"
    with pytest.raises(TableFault, match="there is no encoding 'cp99'"):
        table(content, encoding="cp99")


def test_one_byte_that_is_not_utf_8_far_behind_rejects_its_row_alone(table):
    good = b"a text of some length,a\n"
    found = table(b"text,label\n" + good * 50_000 + b"sch\xf6n,b\n" + good)
    assert "it is not UTF-8" in found[50_002]
    assert found[50_003]["classes"] == found[2]["classes"] == ["a"]
    assert len(found) == 50_002


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "it is empty"),
        ("\n \n", "it is empty"),
        (
            "text,label\n",
            "it has a header and no rows (text, label): if it has none, add --no-header",
        ),
    ],
)
def test_a_table_without_rows_is_refused(table, content, reason):
    with pytest.raises(TableFault) as caught:
        table(content)
    assert caught.value.reason == reason


def test_a_compressed_table(table):
    assert table(gzip.compress(b"text,label\nice and pucks,hockey\na serve,tennis\n")) == TWO


@pytest.mark.parametrize(
    ("content", "likely"),
    [
        (b'{"text": "a"}\n', "JSON"),
        (b'[{"text": "a"}]', "JSON"),
        (b"PAR1xxxx", "Parquet"),
    ],
)
def test_another_format_is_recognised(table, content, likely):
    with pytest.raises(TableFault, match=f"this looks like {likely}"):
        table(content)


def test_a_missing_file_is_not_a_fault_of_the_layout(tmp_path):
    source = TableSource(str(tmp_path / "missing.csv"), "csv", Layout())
    source.check()
    with pytest.raises(FileFault, match="No such file"):
        list(source)


def test_a_check_reads_nothing_for_good(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("text,label\na,b\n")
    guesses = []
    source = TableSource(str(file), "csv", Layout(), guessed=guesses.append)
    source.check()
    assert source.position == 0
    assert guesses == []
    assert len(list(source)) == 1
    assert guesses == ["the text is in column `text`, the class is in column `label`"]


CELLS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)


@given(st.lists(st.lists(CELLS, min_size=2, max_size=4), min_size=1), st.sampled_from(",;\t|"))
@examples(200)
def test_any_cells_survive_their_quotes(rows, delimiter):
    assume(
        not rows[0][0].startswith("\ufeff")
    )  # at the beginning of a file it stands for no letter
    written = io.StringIO(newline="")
    csv.writer(written, delimiter=delimiter).writerows(rows)
    plain = io.BytesIO(written.getvalue().encode())
    found = list(records(plain, "utf-8", delimiter))
    assert [record.cells for record in found] == rows
    assert not any(record.fault for record in found)


def test_a_quote_that_swallows_the_rest_of_a_large_file_ends_it(table, monkeypatch):
    monkeypatch.setattr("manyclass.training.tables.delimited.LONGEST_LINE", 1000)
    with pytest.raises(TableFault, match="the quote opened in line 3 is not closed"):
        table('text,label\na,b\n"c,d\n' + "e,f\n" * 1000)
    with pytest.raises(TableFault, match="line 2 is longer than 1,000 letters"):
        table("text,label\n" + "a" * 2000)
    monkeypatch.undo()
    assert len(table("text,label\na,b\n")) == 1  # sets the limit of the module again


@pytest.mark.parametrize("encoding", ["utf-16", "undefined"])
def test_an_encoding_that_the_file_is_not_of_is_named(table, encoding):
    with pytest.raises((TableFault, FileFault), match="encoding"):
        table(b"text,label\nice,hockey\n", encoding=encoding)
