"""The native reader of vectors in JSON, against a slow reference."""

import base64
import json
import math
import struct
from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from manyclass.core.errors import InstanceError
from manyclass.core.instance import MOST_DIMENSION, Instance

NONE = Instance({})
FORMATS = ("%r", "%.7f", "%.9g", "%.17g", "%.3e", "%.25f", "%.1f")
NUMBERS = st.floats(-1e300, 1e300)
SMALL = st.floats(-0.2, 0.2)
VECTORS = st.lists(SMALL | NUMBERS, min_size=2, max_size=40)
SPACES = st.sampled_from(["", " ", "\n", "\t \r\n  "])


def read(data: bytes | str) -> list[int]:
    vector = NONE.with_vector_of_json(data.encode() if isinstance(data, str) else data).vector
    assert vector is not None
    return vector.tolist()


def refusal(data: bytes | str) -> InstanceError:
    with pytest.raises(InstanceError) as caught:
        read(data)
    return caught.value


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def units_of(numbers: Sequence[float]) -> list[float]:
    """Return the numbers in units of 2^-12 of the length of the vector, not rounded yet."""
    largest = max(map(abs, numbers))
    scaled = [each / largest for each in numbers]
    length = math.sqrt(math.fsum(each * each for each in scaled))
    return [each / length * 4096 for each in scaled]


def assert_is(vector: Sequence[int], numbers: Sequence[float]) -> None:
    """Assert that the vector has the rounded numbers; one near a half may be rounded either way."""
    wanted = units_of(numbers)
    assert len(vector) == len(wanted)
    for number, unit in zip(vector, wanted, strict=True):
        assert number == round(unit) or abs(number - unit) < 0.5 + 1e-9


@given(VECTORS, st.sampled_from(FORMATS), SPACES)
@example([0.012345679104328156, -0.00023064255714416504], "%r", " ")
@example([5e-324, -1.5e-323], "%r", "")
@example([0.1, 1.0], "%.25f", "")
@example([-0.0, 0.5], "%.1f", "")
def test_lists_are_read_as_python_reads_them(numbers: list[float], form: str, space: str) -> None:
    written = [form % each for each in numbers]
    data = "[" + ",".join(f"{space}{each}{space}" for each in written) + "]"
    meant = json.loads(data)
    if not any(meant):
        assert refusal(data).where == ("vector",)
        return
    assert_is(read(data), meant)
    assert_is(read(f"{data}          "), meant)  # the end of the text is not near


@given(st.text("0123456789", min_size=1, max_size=30), st.booleans())
def test_each_number_of_digits_behind_the_point(digits: str, is_negative: bool) -> None:
    number = f"{'-' if is_negative else ''}0.{digits}"
    data = f"[{number}, 0.5, {number}, 0.25]"
    assert_is(read(data), json.loads(data))


@given(st.lists(st.integers(-(10**18), 10**18), min_size=2, max_size=9).filter(any))
def test_whole_numbers(numbers: list[int]) -> None:
    assert_is(read(json.dumps(numbers)), [float(each) for each in numbers])


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=2))
def test_float32(numbers: list[float]) -> None:
    data = json.dumps(encoded(struct.pack(f"<{len(numbers)}f", *numbers)))
    for each in (data, data.replace("/", "\\/")):  # as some writers of JSON escape it
        if any(numbers):
            assert_is(read(each), numbers)
        else:
            assert refusal(each).where == ("vector",)


@given(st.lists(st.integers(-128, 127), min_size=2).filter(any))
def test_int8(numbers: list[int]) -> None:
    text = encoded(struct.pack(f"<{len(numbers)}b", *numbers))
    for data in (f'{{"int8":"{text}"}}', f' {{ "int8" : "{text}" }} '):
        assert_is(read(data), numbers)


@given(st.text(st.sampled_from("ABab09+/=-_ é"), max_size=12))
@example("0000=")
@example("0000==")
def test_base64_is_read_as_python_reads_it(text: str) -> None:
    """Padding behind whole groups of four, which Python skips, is refused."""
    try:
        data = base64.b64decode(text, validate=True)
        if len(text) % 4 != 0:
            raise ValueError(text)
    except ValueError:
        assert "base64" in str(refusal(json.dumps({"int8": text}, ensure_ascii=False)))
        return
    if len(data) >= 2 and any(data):
        assert_is(read(json.dumps({"int8": text})), struct.unpack(f"<{len(data)}b", data))
    else:
        refusal(json.dumps({"int8": text}))


@pytest.mark.parametrize(
    ("data", "where", "detail"),
    [
        ("[]", (), "not 0"),
        ("[1]", (), "not 1"),
        (f"[{'0.5,' * MOST_DIMENSION}0.5]", (), f"not {MOST_DIMENSION + 1} or more"),
        (f"[{'0.5,' * 9999}0.5]", (), f"not {MOST_DIMENSION + 1} or more"),
        ("[0, 0.0, -0.0, 0e5]", (), "not all of them 0"),
        ("[0.5, null]", (1,), "must be a number"),
        ('["0.5", 1]', (0,), "must be a number"),
        ("[0.5, 0.5, [1]]", (2,), "must be a number"),
        ("[0.5, true, 1]", (1,), "must be a number"),
        ("[1e400, 0]", (0,), "must be a number"),
        ("[0.1, -1e309]", (1,), "must be a number"),
        ("null", (), "a list of 2 to 3072 numbers"),
        ("0.5", (), "a list of 2 to 3072 numbers"),
        ("{}", (), "a list of 2 to 3072 numbers"),
        ('{"float32": "AAAA"}', (), "a list of 2 to 3072 numbers"),
        ('{"int8": [1, 2]}', (), "a list of 2 to 3072 numbers"),
        ('{"int8": "AAAA", "int8": "AAAA"}', (), "a list of 2 to 3072 numbers"),
        ('{"int8": "AAAA"}', (), "not all of them 0"),
        ('{"int8": "AQ=="}', (), "not 1"),
        ('{"int8": ""}', (), "not 0"),
        ('{"int8": "AAA"}', (), "base64"),
        ('{"int8": "A==="}', (), "base64"),
        ('"AAAAAA"', (), "base64"),
        ('"AAAA AAA"', (), "base64"),
        ('"AAAAAA=="', (), "not 1"),
        ('"AAAAAAA="', (), "of 4 bytes each"),
        (f'"{encoded(struct.pack("<2f", math.nan, 1))}"', (), "must be finite"),
        (f'"{encoded(struct.pack("<2f", 1, math.inf))}"', (), "must be finite"),
        (f'"{encoded(bytes(4) * 5000)}"', (), "not 3073 or more"),
        (f'{{"int8": "{encoded(b"a" * 5000)}"}}', (), "not 3073 or more"),
    ],
)
def test_what_is_no_vector_is_refused_with_its_place(
    data: str, where: tuple[int, ...], detail: str
) -> None:
    error = refusal(data)
    assert detail in str(error)
    assert error.where == ("vector", *where)


@given(st.lists(st.integers(-10_000, 10_000), min_size=2, max_size=50).filter(any))
def test_shown_numbers_are_the_same_vector_again(numbers: list[int]) -> None:
    instance = Instance({"a": 1.0}, numbers)
    shown = instance.unit_vector()
    assert shown is not None
    assert instance.with_vector(None).with_vector_of_json(json.dumps(shown).encode()) == instance
    assert NONE.unit_vector() is None


def test_the_largest_dimension_in_each_form() -> None:
    numbers = [(each % 250) - 125 for each in range(MOST_DIMENSION)]
    wanted = read(json.dumps(numbers))
    assert len(wanted) == MOST_DIMENSION
    assert read(json.dumps(encoded(struct.pack(f"<{MOST_DIMENSION}f", *numbers)))) == wanted
    assert (
        read(json.dumps({"int8": encoded(struct.pack(f"{MOST_DIMENSION}b", *numbers))})) == wanted
    )
