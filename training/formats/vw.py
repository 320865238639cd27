"""The text format of Vowpal Wabbit, as far as it holds classes and features that have names.

    hockey |words ice puck:2 |from:0.5 goalie
    3,12 1.0 'row-7| ice puck

In front of the first bar: the class, or several joined by commas; perhaps an importance, which has
to be 1; perhaps a tag, which touches the bar or begins with an apostrophe and is dropped. Behind
each bar: a namespace that touches it, with a weight behind a colon if it is to have one, then
features, each with a value behind a colon if it is not 1. A value is multiplied by the weight.

A feature in a namespace is named `namespace^feature`, the others as they stand. Names are kept, not
hashed, and there are no options in the file (`-q`, `--ignore` and the like are the program's).
Costs of classes (`3:0.5`), importances other than 1, and features without a name are rejected.
"""

from collections.abc import Iterable, Iterator

from manyclass.training.formats.given import Given, Parsed, Rejected, number, parse, quoted, words
from manyclass.training.lines import Line, LineFault


def read(lines: Iterable[Line]) -> Iterator[Given | Rejected]:
    """Yield the instance of each line."""
    return parse(lines, _parse_line)


def _parse_line(text: str) -> Parsed:
    head, *namespaces = text.split("|")
    if not namespaces:
        raise LineFault("there is no | in front of the features")
    classes = _classes(head)
    features: dict[str, float] = {}
    for namespace in namespaces:
        for name, value in _features(namespace):
            features[name] = features.get(name, 0.0) + value
    return features, classes


def _classes(head: str) -> list[str | int]:
    """Parse the true classes in front of the first bar."""
    tokens = words(head)
    if tokens and (not head[-1].isspace() or tokens[-1].startswith("'")):
        tokens.pop()  # the tag
    if not tokens:
        raise LineFault("no true class in front of the first | (a word that touches it is a tag)")
    joined, *more = tokens
    if ":" in joined:
        raise LineFault(
            f"{quoted(joined)} is a class with a cost or weight, which cannot be learned"
        )
    if more and number(more[0]) != 1:
        raise LineFault(f"an importance of {quoted(more[0])} cannot be learned, only 1")
    return [*joined.split(",")]


def _features(namespace: str) -> Iterator[tuple[str, float]]:
    """Yield the names and values behind one bar."""
    tokens = words(namespace)
    prefix, weight = "", 1.0
    if tokens and not namespace[0].isspace():
        name, weight = _weighted(tokens.pop(0))
        prefix = f"{name}^" if name else ""
    for word in tokens:
        name, value = _weighted(word)
        if not name:
            raise LineFault(f"{quoted(word)} is a feature without a name")
        yield prefix + name, value * weight


def _weighted(word: str) -> tuple[str, float]:
    """Split a name from the number behind its colon, which is 1 if absent."""
    name, colon, value = word.partition(":")
    return name, number(value) if colon else 1.0
