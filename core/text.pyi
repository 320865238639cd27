from collections.abc import Mapping
from typing import Final, NamedTuple, Self, final

from _typeshed import ReadableBuffer as Buffer

from manyclass.core.instance import Instance

PARTS: Final[tuple[str, ...]]
ALLOWED: Final[str]
MOST_FIELDS: Final[int]
LONGEST_FIELD: Final[int]

class Reading(NamedTuple):
    """The analysis by which a text became features, and the largest number of them."""

    analysis: TextAnalysis
    most_features: int

class AnalysedText(NamedTuple):
    """The instance of a text, and how much of the text is not in it.

    `long_words` were longer than a name may be. `truncated`: all behind the largest number of
    features was left out. `reading` says how it was read; None if there was no text.
    """

    instance: Instance
    long_words: int
    truncated: bool
    reading: Reading | None = None

@final
class TextAnalysis:
    """The parts of an analysis; words always belong to it. Immutable."""

    def __new__(
        cls,
        pairs: bool = False,
        characters: bool = False,
        unmarked: bool = False,
        symbols: bool = False,
    ) -> Self: ...
    @property
    def pairs(self) -> bool: ...
    @property
    def characters(self) -> bool: ...
    @property
    def unmarked(self) -> bool: ...
    @property
    def symbols(self) -> bool: ...
    @property
    def code(self) -> int:
        """The parts as bits of a byte, as events are stored with them."""

    @staticmethod
    def of_code(code: int) -> TextAnalysis:
        """Return the analysis of a code; ValueError."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the analysis of a text as `words+pairs`; ValueError."""

    def instance_of(self, text: str | Mapping[str, str], most: int = 0xFFFFFFFF) -> AnalysedText:
        """Return the instance of a text, or of the texts of fields, with at most `most` features.

        The features of a field are apart from others: `title:word`. Raise InstanceError for a text
        or a name of a field that is not valid Unicode, for a name that no feature can have, and
        for no fields or more than MOST_FIELDS.
        """

    def instance_of_json(self, data: Buffer, most: int = 0xFFFFFFFF) -> AnalysedText | None:
        """Return the instance of a `text` value in JSON: a string, or an object of strings.

        The plain calls of the service read texts so; this method is there to compare the two ways.
        Return None for any other value, or one that has to be read by the ordinary parser: with a
        field twice or an escape in its name, or a half of a surrogate pair.
        """

    def _with_runs(
        self, shortest: int, longest: int, weight: float, words: int = 0xFFFFFFFF
    ) -> Self:
        """Return this analysis with other runs of characters, of the first `words` different words.

        For studies, as no state names it.
        It has the `code` and the text of the analysis, but is not equal to it.
        """

    def features_of(self, text: str | Mapping[str, str]) -> dict[str, float]:
        """Return the features of a text, or of the texts of fields, with their values."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

DEFAULT_TEXT: Final[TextAnalysis]

def features_of(text: str) -> dict[str, float]:
    """Return the features of a text in a new store, with their values."""
