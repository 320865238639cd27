import json
import math
from base64 import b64decode, b64encode

import numpy as np
import pytest

from manyclass.core.instance import Instance
from manyclass.training.lines import FileFault, LineFault
from manyclass.training.vectors import VectorFile, packed, vector_of_cell, vector_of_json

NUMBERS = [0.5, -2.0, 1e-3]
FLOATS = b64encode(np.array(NUMBERS, "<f4").tobytes()).decode()
NO_ARRAY = r"it is not an array that `numpy\.save` wrote"
BYTES = b64encode(np.array([1, -128, 127], "<i1").tobytes()).decode()


@pytest.mark.parametrize(
    "cell",
    [
        "[0.5, -2, 0.001]",
        " [0.5,-2.0,1e-3]\n",
        "0.5 -2 0.001",
        "0.5; -2; 0.001",
        "0.5;-2;1e-3",
        "0.5, -2, 0.001",
        "0.5,-2,0.001",
        "0.5\t-2\t0.001",
        "[ 0.5   -2.\n  0.001]",  # as NumPy prints an array
        FLOATS,
    ],
)
def test_a_cell_has_numbers_in_each_usual_notation(cell):
    assert vector_of_cell(cell) == pytest.approx(NUMBERS)


@pytest.mark.parametrize(
    ("value", "numbers"),
    [
        ([0.5, -2, 1e-3], NUMBERS),
        (FLOATS, NUMBERS),
        ({"int8": BYTES}, [1, -128, 127]),
    ],
)
def test_json_has_three_forms(value, numbers):
    written = json.dumps(value)
    assert vector_of_json(written.encode()) == pytest.approx(numbers)
    if not isinstance(value, str):
        assert vector_of_cell(written) == pytest.approx(numbers)


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ("[1]", "from 2 to 3,072 numbers, not 1"),
        ("[]", "not 0"),
        (json.dumps([1] * 3073), "not 3,073"),
        ("[0, 0.0]", "all numbers of the vector are 0"),
        ("1 nan 2", "number 2 of the vector is nan"),
        ("[1, NaN]", "number 2 of the vector is nan"),
        ("[1, 1e400]", "number 2 of the vector is inf"),
        ("[1, null]", "number 2 of the vector is 'null'"),
        ("[0.1 0.2 ... 0.3]", "the vector is cut"),
        ("0,5 0,25", "number 1 of the vector is '0,5': write it with a point"),
        ("1 two", "number 2 of the vector is 'two': write a number, or leave out the vector"),
        ("{0.5,0.25}", 'a vector is an array of numbers, a text of base64 of float32, or {"int8"'),
        ("goalie", "the vector is 'goalie', but a vector is an array of numbers"),
        ("AAAA", "the vector is 'AAAA'"),  # three bytes
        ('{"int4": "AAAA"}', "a vector is an array of numbers"),
    ],
)
def test_a_cell_that_is_no_vector_is_a_fault_with_its_reason(cell, reason):
    with pytest.raises(LineFault) as fault:
        vector_of_cell(cell)
    assert reason in str(fault.value)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (b"[1, null]", "number 2 of the vector is null: write a number, or leave out the vector"),
        (b"[true, 1]", "number 1 of the vector is true"),
        (b'["1", 2]', 'number 1 of the vector is "1"'),
        (b"[1, 1" + 400 * b"0" + b"]", "number 2 of the vector is inf"),
        (b'"\xff"', "the vector: "),
        (b"null", "a vector is an array of numbers"),
        (b'{"int8": 5}', "a vector is an array of numbers"),
    ],
)
def test_json_that_is_no_vector_is_a_fault_with_its_reason(value, reason):
    with pytest.raises(LineFault) as fault:
        vector_of_json(value)
    assert reason in str(fault.value)


@pytest.mark.parametrize("scale", [1, 1e-200, 1e200])
def test_the_packed_vector_has_the_same_direction(scale):
    given = np.array([3.0, -4.0, 12.0]) * scale
    found = np.frombuffer(b64decode(packed(given)), "<f4")
    assert np.isfinite(found).all()
    assert Instance([], found) == Instance([], [3, -4, 12])


# --- files of NumPy -------------------------------------------------------------------------------


@pytest.fixture
def saved(tmp_path):
    """Return a function that saves an array and opens it as a file of vectors."""

    def open_(array):
        file = tmp_path / "vectors.npy"
        np.save(file, array)
        return VectorFile(str(file))

    return open_


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "i2", ">f4"])
def test_each_kind_of_number_is_read_row_by_row(saved, dtype):
    array = np.array([[1, 2], [3, -4], [0, 0]], dtype)
    vectors = saved(array)
    for _ in range(2):  # as a file that is read twice
        vectors.begin()
        assert vectors.next_of("a.csv").tolist() == [1, 2]
        assert vectors.next_of("a.csv").tolist() == [3, -4]
        with pytest.raises(LineFault, match="all numbers of the vector are 0"):
            vectors.next_of("a.csv")
        vectors.end("a.csv")


def test_a_row_that_is_not_finite_is_a_fault_of_its_row(saved):
    vectors = saved(np.array([[1, math.nan], [1, 2]], "f4"))
    with pytest.raises(LineFault, match="number 2 of the vector is nan"):
        vectors.next_of("a.csv")
    assert vectors.next_of("a.csv").tolist() == [1, 2]


def test_another_number_of_rows_is_refused_with_both_numbers(saved):
    vectors = saved(np.ones((2, 3), "f4"))
    vectors.next_of("a.csv")
    with pytest.raises(FileFault, match=r"a.csv: it has 1 row, but .*vectors.npy has 2 vectors"):
        vectors.end("a.csv")
    vectors.next_of("a.csv")
    with pytest.raises(FileFault, match=r"a.csv: it has more than 2 rows, but .* has 2 vectors"):
        vectors.next_of("a.csv")


@pytest.mark.parametrize(
    ("array", "reason"),
    [
        (np.ones(3), r"its array has the shape \(3,\)"),
        (np.ones((3, 2, 2)), r"its array has the shape \(3, 2, 2\)"),
        (np.ones((3, 2), "i8"), "its numbers are int64, in place of float32"),
        (np.array([["a", "b"]]), "its numbers are <U1"),
        (np.ones((3, 1)), "from 2 to 3,072 numbers, not 1"),
        (np.ones((1, 3073)), "from 2 to 3,072 numbers, not 3,073"),
        (np.array([[1, None]], object), NO_ARRAY),
    ],
)
def test_an_array_that_has_no_vectors_is_refused(saved, array, reason):
    with pytest.raises(FileFault, match=reason):
        saved(array)


def test_a_file_that_is_no_array_is_refused(tmp_path):
    file = tmp_path / "vectors.npy"
    with pytest.raises(FileFault, match="No such file"):
        VectorFile(str(file))
    for content in (b"", b"text,label\n", b"\x93NUMPY\x01\x00"):
        file.write_bytes(content)
        with pytest.raises(FileFault, match=NO_ARRAY):
            VectorFile(str(file))
    np.savez(tmp_path / "vectors.npz", a=np.ones((2, 2)), b=np.ones(2))
    with pytest.raises(FileFault, match="an archive of the arrays a, b: save one of them"):
        VectorFile(str(tmp_path / "vectors.npz"))


def test_an_array_that_is_cut_is_refused(tmp_path):
    file = tmp_path / "vectors.npy"
    np.save(file, np.ones((10, 10)))
    file.write_bytes(file.read_bytes()[:-8])
    with pytest.raises(FileFault, match=NO_ARRAY):
        VectorFile(str(file))
