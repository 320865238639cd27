"""A survey of the labels of a file before it is taught: spellings of one class, joined classes.

The console's page Import has the same rules: static/label_clusters.js, label_words.js and
label_survey.js. Codes such as `2136` or `gnd:4011455-7` are never compared.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Final, NamedTuple

LEAST: Final = 5  # letters of labels that are compared letter by letter
MOST: Final = 10_000  # labels that are
SEPARATORS: Final = (";", "|", ",")  # of classes in a cell
_CODE = re.compile(r"\S*[0-9]\S*")
_MARKS = re.compile("[\u0300-\u036f]")
_BLANKS = re.compile(r"[\s_-]+")


class Cluster(NamedTuple):
    """Labels that may be one class, the most frequent first.

    They differ in case, blanks, accents, width and signs only if `is_spelling`, else in a letter.
    """

    is_spelling: bool
    labels: list[str]


class Joined(NamedTuple):
    """The number of cells that may have several classes by a separator, and one of them."""

    separator: str
    cells: int
    example: str


def plain_label(label: str) -> str:
    """Return the common part of the spellings of a label: no case, accents, width, signs."""
    plain = _MARKS.sub("", unicodedata.normalize("NFKD", label)).lower().replace("ß", "ss")
    return _BLANKS.sub(" ", plain).strip()


def clusters_of(counts: Mapping[str, int]) -> list[Cluster]:
    """Return the labels that may be one class in several spellings, by spelling first."""

    def ordered(labels: Iterable[str], number: Mapping[str, int]) -> list[str]:
        return sorted(labels, key=lambda label: (-number[label], label))

    spelled = defaultdict[str, list[str]](list)
    for label in counts:
        if not _CODE.fullmatch(label.strip()):
            spelled[plain_label(label)].append(label)
    groups = {plain: ordered(labels, counts) for plain, labels in spelled.items()}
    compared = [each for each in groups if len(each) >= LEAST and not re.search("[0-9]", each)]
    totals = {labels[0]: sum(counts[each] for each in labels) for labels in groups.values()}
    close = [] if len(compared) > MOST else _connected(_close_pairs(compared))
    return [
        *(Cluster(True, labels) for labels in groups.values() if len(labels) > 1),
        *(Cluster(False, ordered([groups[each][0] for each in some], totals)) for some in close),
    ]


def joined_by(counts: Mapping[str, int]) -> list[Joined]:
    """Return for each separator how many cells may have several classes.

    A comma divides only labels that are also alone in a cell, because names have commas.
    """
    found = []
    for separator in SEPARATORS:
        joined = [label for label in counts if _is_joined(label, separator, counts)]
        if joined:
            found.append(Joined(separator, sum(counts[each] for each in joined), joined[0]))
    return found


def _is_joined(label: str, separator: str, counts: Mapping[str, int]) -> bool:
    parts = [part.strip() for part in label.split(separator)]
    are_alone = separator != "," or all(part in counts for part in parts)
    return len(parts) > 1 and all(parts) and are_alone


def _close_pairs(texts: Iterable[str]) -> list[tuple[str, str]]:
    """Return the pairs with one letter inserted, left out or replaced, or two swapped."""
    without = defaultdict[str, dict[str, None]](dict)
    for text in texts:
        for at in range(len(text) + 1):
            without[text[:at] + text[at + 1 :]][text] = None  # the last one is the text itself
    pairs = (pair for some in without.values() for pair in combinations(some, 2))
    return [*dict.fromkeys(pair for pair in pairs if _are_close(*pair))]


def _are_close(one: str, other: str) -> bool:
    """Return whether two texts are close that have a text in common without a letter of each."""
    if len(one) != len(other):
        return True
    differing = sum(a != b for a, b in zip(one, other, strict=True))
    return differing == 1 or sorted(one) == sorted(other)


def _connected(pairs: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Return the sets of connected texts."""
    sets: dict[str, dict[str, None]] = {}
    for one, other in pairs:
        whole = sets.get(one, {one: None}) | sets.get(other, {other: None})
        for each in whole:
            sets[each] = whole
    return [[*each] for each in {id(some): some for some in sets.values()}.values()]
