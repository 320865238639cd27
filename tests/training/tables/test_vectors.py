"""Vectors of the rows of tables: in a column, or in a file of NumPy beside the table."""

import json
from base64 import b64decode, b64encode

import numpy as np
import pytest
from arro3.core import Array, DataType, fixed_size_list_array, list_array

from manyclass.training.json_lines import JsonLines
from manyclass.training.lines import FileFault
from manyclass.training.tables.layout import Layout
from manyclass.training.tables.source import TableFault, TableSource
from manyclass.training.vectors import VectorFile
from tests.training.tables.conftest import event
from tests.training.tables.files import write_arrow_file, write_parquet_file, write_spreadsheet

WAY = ": write a number, or leave out the vector"


def unpacked(found):
    """Return events with the numbers of their vectors."""
    return {
        number: {**each, "vector": np.frombuffer(b64decode(each["vector"]), "<f4").tolist()}
        if isinstance(each, dict) and "vector" in each
        else each
        for number, each in found.items()
    }


def test_a_column_of_csv_has_vectors(table):
    content = (
        "text,label,embedding\n"
        'ice,a,"[0.5, 1]"\n'
        "puck,b,0.25 -3\n"
        "net,b,1;2\n"
        "ball,a,\n"
        "bat,a,0 0\n"
        ",b,3 4\n"
    )
    found = unpacked(table(content, vector="embedding"))
    assert found == {
        2: {"text": "ice", "vector": [0.5, 1], "classes": ["a"]},
        3: {"text": "puck", "vector": [0.25, -3], "classes": ["b"]},
        4: {"text": "net", "vector": [1, 2], "classes": ["b"]},
        5: {"text": "ball", "classes": ["a"]},  # an empty cell: a row without a vector
        6: "column embedding: all numbers of the vector are 0: leave out the vector",
        7: {"vector": [3, 4], "classes": ["b"]},
    }


def test_a_column_of_vectors_is_named_by_its_number_too(table):
    content = "text,label,v\nice,a,1 2\n"
    assert unpacked(table(content, vector="3"))[2]["vector"] == [1, 2]
    with pytest.raises(TableFault, match="there is no column `w`, the columns are text, label, v"):
        table(content, vector="w")


def test_a_row_that_is_only_ranked_has_its_vector(table):
    found = table("text,v,key\nice,1 2,k\n", labelled=False, vector="v", id="key")
    assert unpacked(found) == {2: {"text": "ice", "vector": [1, 2], "id": "k"}}


def test_the_name_of_the_column_of_vectors_tells_the_header(table):
    """The first row is otherwise like the others, or a title."""
    content = "a,b,v1\na,b,1 2\na,c,3 4\n"
    found = unpacked(table(content, text=("1",), classes=("2",), vector="v1"))
    assert [each["vector"] for each in found.values()] == [[1, 2], [3, 4]]
    found = unpacked(table("v1,\n1 2,x\n3 4,y\n", classes=("2",), vector="v1"))
    assert [each["vector"] for each in found.values()] == [[1, 2], [3, 4]]


def test_rows_of_vectors_need_no_text(table):
    found = unpacked(table("v,label\n1 2,lost card\n,b\n", vector="v"))
    assert found[2] == {"vector": [1, 2], "classes": ["lost card"]}
    assert found[3] == "no vector: v is empty"
    ranked = unpacked(table("v,label\n1 2,lost card\n", labelled=False, vector="v"))
    assert ranked == {2: {"vector": [1, 2]}}


def test_a_text_is_not_left_out_for_a_vector(table):
    """A column of sentences is likely the text, even by an unknown name."""
    with pytest.raises(TableFault, match="add --text-column utterances_de"):
        table("utterances_de,label,v\nthe ice is thin,a,1 2\n", vector="v")
    with pytest.raises(TableFault, match="add --text-column title --text-column body"):
        table("title,body,label,v\nice,thin,a,1 2\n", vector="v")


@pytest.mark.parametrize(
    "cell", ["[0.1, -2, 3e-05, 4, 5, 6, 7, 8, 9]", "0.1 -.2 0.3 4 5 6 7 8 9", "1;2;3;4;5;6;7;8;9.5"]
)
def test_vectors_are_not_proposed_as_the_text(table, cell):
    """They are longer than the text."""
    with pytest.raises(TableFault) as fault:
        table(f'said,emb,label\nice,"{cell}",a\nnet,,b\n')
    assert "add --text-column said --class-column label" in str(fault.value)
    assert list(table(f'body,text,label\nice,"{cell}",a\n')) == [2]  # the text is in `body`
    words = table("text,label\n12 7 3 12 9 1 4 8 2 6,a\n")  # of a text whose words are numbers
    assert words[2]["text"] == "12 7 3 12 9 1 4 8 2 6"


def test_the_proposed_options_name_no_column_of_vectors(table):
    with pytest.raises(TableFault) as fault:
        table("nr,kind,v\n1,x,0.1 0.2 0.3 0.4\n", vector="v")
    assert "--class-column COLUMN" in str(fault.value)
    assert "--text-column" not in str(fault.value)


def test_keys_of_json_lines_have_vectors_in_each_form(table):
    floats = b64encode(np.array([1, 2], "<f4").tobytes()).decode()
    lines = [
        {"text": "ice", "label": "a", "v": [0.5, 2]},
        {"text": "ice", "label": "a", "v": floats},
        {"text": "ice", "label": "a", "v": {"int8": b64encode(b"\x01\xff").decode()}},
        {"text": "ice", "label": "a", "v": None},
        {"text": "ice", "label": "a"},
        {"text": "ice", "label": "a", "v": [1, None, 3]},
    ]
    content = "".join(json.dumps(each) + "\n" for each in lines)
    found = unpacked(table(content, "a.jsonl", format="jsonl", vector="v"))
    assert [each.get("vector") for each in [*found.values()][:5]] == [
        [0.5, 2],
        [1, 2],
        [1, -1],
        None,
        None,
    ]
    assert found[6] == "column v: number 2 of the vector is 'null'" + WAY


@pytest.mark.parametrize("is_fixed", [False, True])
@pytest.mark.parametrize("kind", ["float16", "float32", "float64", "int8"])
def test_lists_of_parquet_are_vectors(tmp_path, kind, is_fixed):
    numbers = Array(np.array([1, 2, 3, -4, 0, 0], "f4")).cast(getattr(DataType, kind)())
    is_absent = Array([False, False, True], DataType.bool())
    if is_fixed:
        vectors = fixed_size_list_array(numbers, 2, mask=is_absent)
    else:
        vectors = list_array(Array(np.array([0, 2, 4, 6], "i4")), numbers, mask=is_absent)
    path = tmp_path / "table.parquet"
    write_parquet_file(path, text=["ice", "puck", "net"], v=vectors, y=["a", "b", "a"])
    source = TableSource(str(path), "parquet", Layout(vector="v"))
    found = unpacked({line.number: event(line) for line in source})
    assert [each.get("vector") for each in found.values()] == [[1, 2], [3, -4], None]
    path = tmp_path / "table.feather"
    write_arrow_file(path, text=["ice", "puck", "net"], v=vectors, y=["a", "b", "a"])
    source = TableSource(str(path), "arrow", Layout(vector="v"))
    assert unpacked({line.number: event(line) for line in source}) == found


def test_a_missing_number_in_parquet_is_a_fault(tmp_path):
    numbers = Array([1.0, None, 2.0, 1.0, float("nan"), 2.0, 1.0, 2.0, 3.0], DataType.float32())
    path = tmp_path / "table.parquet"
    write_parquet_file(path, text=["ice", "puck", "net"], v=fixed_size_list_array(numbers, 3))
    source = TableSource(str(path), "parquet", Layout(vector="v"), labelled=False)
    found = unpacked({line.number: event(line) for line in source})
    assert found[1] == found[2] == "column v: number 2 of the vector is 'null'" + WAY
    assert found[3]["vector"] == [1, 2, 3]


def test_a_cell_of_a_workbook_has_an_array(tmp_path):
    path = tmp_path / "table.xlsx"
    write_spreadsheet(path, [["text", "label", "v"], ["ice", "a", "[0.5, 2]"], ["net", "b", None]])
    source = TableSource(str(path), "xlsx", Layout(vector="v"))
    found = unpacked({line.number: event(line) for line in source})
    assert found == {
        2: {"text": "ice", "vector": [0.5, 2], "classes": ["a"]},
        3: {"text": "net", "classes": ["b"]},
    }


# --- beside the table -----------------------------------------------------------------------------


@pytest.fixture
def vectors(tmp_path):
    """Return a function that saves the vectors of rows."""

    def save(*rows):
        file = tmp_path / "vectors.npy"
        np.save(file, np.array(rows, "f4"))
        return VectorFile(str(file))

    return save


@pytest.fixture
def source(tmp_path, vectors):
    """Return a function that makes the source of a file and of vectors beside it."""

    def make(content, *rows, name="table.csv", **layout):
        file = tmp_path / name
        file.write_text(content)
        beside = vectors(*rows)
        if name.endswith(".jsonl"):
            return JsonLines(str(file), None, layout.get("left_out", ()), vectors=beside)
        layout = Layout(vectors_beside=True, **layout)
        return TableSource(str(file), "csv", layout, vectors=beside)

    return make


TABLE = "text,label\nice,a\n\npuck,\ntext,label\nnet,skip\nball,b\n"


def test_each_row_has_the_vector_of_its_place(source):
    """Rows that are rejected or left out have theirs; blank lines and headers have none."""
    rows = source(TABLE, [1, 2], [3, 4], [5, 6], [7, 8], left_out=frozenset({"skip"}))
    rows.check()
    for _ in range(2):
        found = unpacked({line.number: event(line) for line in rows})
        assert found == {
            2: {"text": "ice", "vector": [1, 2], "classes": ["a"]},
            4: "no class: label is empty",
            7: {"text": "ball", "vector": [7, 8], "classes": ["b"]},
        }


def test_a_row_that_is_rejected_has_one_vector_for_all_its_lines(source):
    rows = source('text,label\nice,a\n"open\nnext"x,b\nball,b\n', [1, 2], [3, 4], [5, 6])
    rows.check()
    found = unpacked({line.number: event(line) for line in rows})
    assert "the quote opened in line 3 is not closed" in found[3]
    assert found[5]["vector"] == [5, 6]


def test_a_vector_that_is_none_is_a_fault_of_its_row(source):
    rows = source("text,label\nice,a\npuck,b\n", [0, 0], [3, 4])
    rows.check()
    found = unpacked({line.number: event(line) for line in rows})
    assert found[2] == "all numbers of the vector are 0: leave out the vector"
    assert found[3]["vector"] == [3, 4]


@pytest.mark.parametrize("number", [1, 3])
@pytest.mark.parametrize("name", ["table.csv", "lines.jsonl"])
def test_another_number_of_vectors_is_refused_before_a_row_is_read(source, number, name):
    lines = '{"text": "ice", "classes": ["a"]}\n{"text": "net", "classes": ["b"]}\n'
    content = lines if name.endswith(".jsonl") else "text,label\nice,a\nnet,b\n"
    rows = source(content, *([[1, 2]] * number), name=name)
    expected = rf"{name}: it has 2 rows, but .*vectors.npy has {number} vectors?:"
    with pytest.raises(FileFault, match=expected):
        rows.check()
    assert rows.position == 0


def test_rows_of_vectors_beside_them_need_no_text(source):
    rows = source("nr,label\n1,a\n2,b\n", [1, 2], [3, 4])
    rows.check()
    found = unpacked({line.number: event(line) for line in rows})
    assert found[3] == {"vector": [3, 4], "classes": ["b"]}


def test_each_object_of_json_lines_has_the_vector_of_its_place(source):
    content = (
        '{"text": "ice", "classes": ["a"]}\n'
        "\n"
        '{"text": "net", "classes": ["skip"]}\n'
        '{"text": "wet", "classes": ["a"], "answer": "reject"}\n'
        "{\n"
        '{"text": "own", "classes": ["a"], "vector": [9, 9]}\n'
        '{"features": {"ball": 2}, "classes": ["b"], "vector": null}\n'
    )
    of_rows = [[1, 2], [3, 4], [5, 6], [7, 8], [9, 10], [11, 12]]
    rows = source(content, *of_rows, name="lines.jsonl", left_out=("skip",))
    rows.check()
    found = unpacked({line.number: event(line) for line in rows if line.number != 5})
    assert found == {
        1: {"text": "ice", "classes": ["a"], "vector": [1, 2]},
        6: "it has a `vector` already: leave out --vectors, or this member",
        7: {"features": {"ball": 2}, "classes": ["b"], "vector": [11, 12]},
    }


def test_a_guess_is_said_once_although_the_rows_are_counted_before(tmp_path, vectors):
    file = tmp_path / "lines.jsonl"
    file.write_bytes('{"text": "für später", "classes": ["a"]}\n'.encode("cp1252"))
    said = []
    rows = JsonLines(str(file), guessed=said.append, vectors=vectors([1, 2]))
    rows.check()
    assert said == []
    [line] = rows
    assert event(line)["text"] == "für später"
    assert len(said) == 1


def test_an_array_of_objects_has_a_vector_for_each(source):
    content = '[{"text": "ice", "classes": ["a"]},\n {"text": "net", "classes": ["b"]}]'
    rows = source(content, [1, 2], [3, 4], name="lines.jsonl")
    rows.check()
    found = unpacked({line.number: event(line) for line in rows})
    assert [each["vector"] for each in found.values()] == [[1, 2], [3, 4]]
