from collections.abc import Mapping
from typing import Final, NamedTuple, Self, final

from _typeshed import ReadableBuffer as Buffer

from manyclass.core.instance import Instance

PARTS: Final[tuple[str, ...]]
ALLOWED: Final[str]
MOST_FIELDS: Final[int]
LONGEST_FIELD: Final[int]

class Reading(NamedTuple):
    """The analysis that made features of a text, and the largest number of features."""

    analysis: TextAnalysis
    most_features: int

class AnalysedText(NamedTuple):
    """The instance of a text, and how much of the text it leaves out.

    `long_words` is the number of words longer than a feature name may be. `truncated` is True if
    the text has more than the largest number of features; the rest is left out. `reading` is the
    analysis used, None if features were sent.
    """

    instance: Instance
    long_words: int
    truncated: bool
    reading: Reading | None = None

@final
class TextAnalysis:
    """The parts of an analysis; words are always one of them. Immutable."""

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
        """The parts as the bits of a byte, as events store them."""

    @staticmethod
    def of_code(code: int) -> TextAnalysis:
        """Return the analysis of a code; ValueError for an unknown one."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the analysis of a text such as `words+pairs`; ValueError for another text."""

    def instance_of(self, text: str | Mapping[str, str], most: int = 0xFFFFFFFF) -> AnalysedText:
        """Return the instance of a text, or of the texts of fields, with at most `most` features.

        The features of a field have its name as a prefix: `title:word`. Raise InstanceError for a
        text or a field name that is not valid Unicode, for a field name that is empty or overlong,
        and for no fields or more than MOST_FIELDS.
        """

    def instance_of_json(self, data: Buffer, most: int = 0xFFFFFFFF) -> AnalysedText | None:
        """Return the instance of a `text` value in JSON: a string, or an object of strings.

        The service reads the texts of plain requests in this way; the method lets tests compare it
        with `instance_of`. Return None for any other value, and for a value that the general parser
        has to read: with a repeated field, an escape in a field name, or half of a surrogate pair.
        """

    def _with_runs(
        self, shortest: int, longest: int, weight: float, words: int = 0xFFFFFFFF
    ) -> Self:
        """Return this analysis with other runs of characters, of the first `words` different words.

        For studies only: no state can name it. It has the `code` and the name of the analysis, but
        is not equal to it. Raise ValueError for lengths outside 1 to 16, and for a weight outside
        (0, 1].
        """

    def features_of(self, text: str | Mapping[str, str]) -> dict[str, float]:
        """Return the features of a text, or of the texts of fields: name -> value."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

DEFAULT_TEXT: Final[TextAnalysis]

def features_of(text: str) -> dict[str, float]:
    """Return the features of a text by the analysis of new stores: name -> value."""
