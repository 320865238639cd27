"""Numbers parsed by std::from_chars, by its fallback strtod, and by Python are equal; numbers are
written as msgspec writes them."""

import math
import random
import struct

import msgspec

from tests.core.test_limits import run


def texts():
    """Yield texts of numbers: short, long, tiny, huge, halfway between two doubles, invalid."""
    drawn = random.Random(5)
    yield from ("0", "-0", "0.0", "1e0", "1E+2", "1e-2", "9007199254740993", "0.1", "1e22", "1e23")
    yield from ("4.9e-324", "2.4e-324", "2.5e-324", "1e-400", "2.2250738585072011e-308", "1e30")
    yield from ("1.7976931348623157e308", "1.7976931348623159e308", "1e309", "-1e400", "1e99999")
    yield from ("", "x", "1x", "1,5", "1.5.5", "1e", "--1")
    for _ in range(3000):
        whole, part = drawn.randrange(10 ** drawn.randrange(1, 20)), drawn.randrange(10**18)
        yield f"{drawn.choice(['', '-'])}{whole}.{part}e{drawn.randrange(-340, 310)}"
        value = struct.unpack("<d", drawn.randbytes(8))[0]
        if math.isfinite(value):
            yield repr(value)
            halfway = abs(int(value)) if abs(value) < 1e60 else 1
            yield str((2 * halfway + 1) * 2**53 // 2)


def expected(text):
    """Return the bits of Python's correctly rounded float, or - if it is not a finite number."""
    try:
        value = float(text)
    except ValueError:
        return "-"
    return struct.pack(">d", value).hex() if math.isfinite(value) else "-"


def test_every_way_to_read_a_number_gives_the_same_bits(tmp_path):
    lines = list(texts())
    wanted = [expected(text) for text in lines]
    for flags in ([], ["-DMANYCLASS_NUMBERS_BY_STRTOD"]):
        found = run(tmp_path, "numbers.cpp", *flags, given="\n".join(lines) + "\n").split()
        differing = [
            (text, bits, right)
            for text, bits, right in zip(lines, found, wanted, strict=True)
            if bits != right
        ]
        assert differing == [], flags


def doubles():
    """Yield numbers of all sizes, at the edges of each form, with few digits and with many."""
    drawn = random.Random(6)
    for power in range(-30, 31):
        for factor in (1.0, 1.5, 9.999999999999999, 1.2345678901234567):
            yield factor * 10.0**power
            yield -math.nextafter(10.0**power, 0)
            yield math.nextafter(10.0**power, math.inf)
    yield from (0.0, -0.0, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 2.0**53, 0.1)
    yield from (9007199254740993.0, 4.35, 2.0**-1074, 1e23, 9.5e-5, 123456789012345680.0)
    for _ in range(20_000):
        yield drawn.uniform(-1, 1)
        yield drawn.randrange(10**6) / 10 ** drawn.randrange(8)
        value = struct.unpack("<d", drawn.randbytes(8))[0]
        if math.isfinite(value):
            yield value


def test_numbers_are_written_as_by_msgspec(tmp_path):
    values = list(doubles())
    given = "".join(f"{struct.pack('>d', value).hex()}\n" for value in values)
    found = run(tmp_path, "decimals.cpp", given=given).split()
    assert found == [msgspec.json.encode(value).decode() for value in values]
