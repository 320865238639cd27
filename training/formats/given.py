"""Results of reading a line, and helpers shared by the formats of words and numbers."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

import msgspec

from manyclass.training.encodings import not_utf8
from manyclass.training.lines import Line, LineFault

MOST_QUOTED = 80  # letters
_WORD = re.compile(r"[^ \t\r\v\f\0]+")


Features = Mapping[str, float] | list[str | int]  # of a list, each is worth 1
Text = str | dict[str, str]  # or the texts of fields, before their analysis


class Given(msgspec.Struct, frozen=True):
    """An instance and its true classes as written, before any check; of a text no features."""

    line: Line
    features: Features
    classes: list[str | int]
    weight: float = 1.0
    text: Text | None = None
    has_vector: bool = False  # beside its features or text


class Rejected(msgspec.Struct, frozen=True):
    """A line that holds no labelled instance."""

    line: Line
    reason: str


Parsed = tuple[Features | str, list[str | int]]  # a text, or features


def parse(lines: Iterable[Line], parse_line: Callable[[str], Parsed]) -> Iterator[Given | Rejected]:
    """Yield the instance of each line by `parse_line`; its LineFault rejects the line."""
    for line in lines:
        try:
            features, classes = parse_line(line.data.decode())
        except UnicodeDecodeError as error:
            yield Rejected(line, not_utf8(error))
        except LineFault as error:
            yield Rejected(line, str(error))
        else:
            if isinstance(features, str):
                yield Given(line, [], classes, text=features)
            else:
                yield Given(line, features, classes)


def words(text: str) -> list[str]:
    """Split the text at ASCII blanks, as programs written in C do."""
    return _WORD.findall(text)


def quoted(text: str) -> str:
    """Return the text in quotes, cut to MOST_QUOTED letters."""
    return repr(text) if len(text) <= MOST_QUOTED else f"{text[:MOST_QUOTED]!r}..."


def number(text: str) -> float:
    """Parse a number; LineFault if the text is not one."""
    try:
        if "_" in text:  # float() accepts 1_000
            raise ValueError
        return float(text)
    except ValueError:
        raise LineFault(f"{quoted(text)} is not a number") from None


def numbered(pairs: Iterable[str]) -> dict[str, float]:
    """Parse `number:value` pairs into features named by the number; repeated ones add up."""
    features: dict[str, float] = {}
    for pair in pairs:
        name, colon, value = pair.partition(":")
        if not colon or not (name.isascii() and name.isdigit()):
            raise LineFault(
                f"{quoted(pair)} is not feature:value, the feature being a whole number"
            )
        features[name] = features.get(name, 0.0) + number(value)
    return features
