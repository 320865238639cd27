"""What a line of any format gives, and what the formats that hold words and numbers share."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from manyclass.training.lines import Line, LineFault

MOST_QUOTED = 80  # letters
_WORD = re.compile(r"[^ \t\r\v\f\0]+")


@dataclass(frozen=True, slots=True)
class Given:
    """An instance and its true classes, as they were written: nothing is checked yet."""

    line: Line
    features: Mapping[str, float] | list[str | int]  # of a list, each is worth 1
    classes: list[str | int]


@dataclass(frozen=True, slots=True)
class Rejected:
    """A line that holds no labelled instance."""

    line: Line
    reason: str


Held = tuple[Mapping[str, float] | list[str | int], list[str | int]]


def each(lines: Iterable[Line], held_by: Callable[[str], Held]) -> Iterator[Given | Rejected]:
    """What `held_by` finds in the text of each line; a LineFault of its rejects the line."""
    for line in lines:
        try:
            features, classes = held_by(line.data.decode())
        except UnicodeDecodeError as error:
            yield Rejected(line, f"byte {error.start + 1} is not UTF-8")
        except LineFault as error:
            yield Rejected(line, str(error))
        else:
            yield Given(line, features, classes)


def words(text: str) -> list[str]:
    """The text cut at blanks, as programs written in C cut it."""
    return _WORD.findall(text)


def quoted(text: str) -> str:
    """The text as a reason quotes it: of a long one the beginning."""
    return repr(text) if len(text) <= MOST_QUOTED else f"{text[:MOST_QUOTED]!r}..."


def number(text: str) -> float:
    """The number a text is; LineFault when it is none."""
    try:
        if "_" in text:  # which Python would read over
            raise ValueError
        return float(text)
    except ValueError:
        raise LineFault(f"{quoted(text)} is not a number") from None


def numbered(pairs: Iterable[str]) -> dict[str, float]:
    """The features of `number:value` pairs, named by the number; repeated ones add up."""
    features: dict[str, float] = {}
    for pair in pairs:
        name, colon, value = pair.partition(":")
        if not colon or not (name.isascii() and name.isdigit()):
            raise LineFault(
                f"{quoted(pair)} is not feature:value, the feature being a whole number"
            )
        features[name] = features.get(name, 0.0) + number(value)
    return features
