"""Text analyses: how a text becomes features, in the same way for ranking and learning.

    words       runs of word characters, folded; a letter of a script without spaces with its
                marks, or an emoji sequence, is a word
    pairs       each two neighbouring words, joined by a space
    characters  runs of 4 characters of each word, beside the words
    unmarked    each word with accents or vowel signs also without them
    symbols     c++, c# and .net, beside the word that they contain

The analysis is part of the state. A release that adds a part, or changes the features of one,
increases the version in rules.py: an older release would rank by other features.
"""

from itertools import product
from typing import NamedTuple

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.unicode cimport PyUnicode_AsUTF8AndSize
from libc.stdint cimport uint32_t
from libcpp.string cimport string
from libcpp.string_view cimport string_view
from libcpp.utility cimport pair
from libcpp.vector cimport vector

cimport cython

from manyclass.core.instance cimport Instance

from manyclass.core.errors import InstanceError

PARTS = ("pairs", "characters", "unmarked", "symbols")
ALLOWED = f"words, or words with any of {', '.join(PARTS)}, as words+pairs"
MOST_FIELDS = FIELDS
LONGEST_FIELD = FIELD_BYTES

cdef enum:
    SHORT_TEXT = 16384  # bytes


class Reading(NamedTuple):
    """The analysis that made features of a text, and the largest number of features."""

    analysis: TextAnalysis
    most_features: int


class AnalysedText(NamedTuple):
    """The instance of a text, and how much of the text it leaves out."""

    instance: Instance
    long_words: int
    truncated: bool
    reading: Reading | None = None


@cython.final
cdef class TextAnalysis:
    """The parts of an analysis; words are always one of them. Immutable."""

    def __cinit__(
        self, bint pairs=False, bint characters=False, bint unmarked=False, bint symbols=False
    ):
        self.parts.pairs = pairs
        self.parts.characters = characters
        self.parts.unmarked = unmarked
        self.parts.symbols = symbols

    @property
    def pairs(self):
        return bool(self.parts.pairs)

    @property
    def characters(self):
        return bool(self.parts.characters)

    @property
    def unmarked(self):
        return bool(self.parts.unmarked)

    @property
    def symbols(self):
        return bool(self.parts.symbols)

    @property
    def code(self):
        return self.parts.code()

    @staticmethod
    def of_code(size_t code):
        if code >= <size_t>len(_ANALYSES):
            raise ValueError(f"no analysis of texts has the code {code}")
        return _ANALYSES[code]

    @classmethod
    def parse(cls, str text not None):
        parts = [part.strip() for part in text.split("+")]
        if "words" not in parts or not {*parts} <= {"words", *PARTS} or len({*parts}) < len(parts):
            raise ValueError(f"{text!r} must be {ALLOWED}")
        return cls(**{part: part in parts for part in PARTS})

    def instance_of(self, text, size_t most=0xffffffff):
        cdef TextFeatures* features = &TextFeatures.mine()
        cdef vector[pair[string_view, string_view]] fields
        cdef string out
        cdef uint32_t count
        cdef size_t size = 0, number
        cdef list kept = []  # the strings whose bytes are read
        if isinstance(text, str):
            fields.push_back(pair[string_view, string_view](string_view(), utf8_of(text, ())))
        else:
            number = len(text)
            if not 1 <= number <= FIELDS:
                raise InstanceError(f"a text has 1 to {FIELDS} fields, not {number}", ("text",))
            for name in text:
                given = text[name]
                kept.append((name, given))
                fields.push_back(
                    pair[string_view, string_view](field_of(name), utf8_of(given, (name,)))
                )
        for field in fields:
            size += field.second.size()
        features.begin(self.parts, most)
        if size <= SHORT_TEXT:  # releasing the GIL takes longer than reading
            count = read(features, fields, out)
        else:
            with nogil:
                count = read(features, fields, out)
        return self._analysed(features, out, count, most)

    def instance_of_json(self, data, size_t most=0xffffffff):
        cdef TextFeatures* features = &TextFeatures.mine()
        cdef Py_buffer view
        cdef string_view text
        cdef string out
        cdef uint32_t count = 0
        cdef bint plain
        PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
        try:
            text = string_view(<const char*>view.buf, view.len)
            features.begin(self.parts, most)
            if view.len <= SHORT_TEXT:
                plain = read_json(features, text, out, &count)
            else:
                with nogil:
                    plain = read_json(features, text, out, &count)
        finally:
            PyBuffer_Release(&view)
        if not plain:
            return None
        return self._analysed(features, out, count, most)

    cdef object _analysed(
        self, TextFeatures* features, const string& out, uint32_t count, size_t most
    ):
        """Return the AnalysedText of an instance in wire form."""
        instance = Instance.wrap(PyBytes_FromStringAndSize(out.data(), out.size()), count)
        # The constructors of named tuples are Python functions, which are slow.
        reading = tuple.__new__(Reading, (self, most))
        read = (instance, features.long_words(), bool(features.truncated()), reading)
        return tuple.__new__(AnalysedText, read)

    def _with_runs(
        self, uint32_t shortest, uint32_t longest, double weight, uint32_t words=0xffffffff
    ):
        if not 1 <= shortest <= longest <= 16 or not 0 < weight <= 1:
            raise ValueError("runs need lengths from 1 to 16, and a weight above 0 and up to 1")
        cdef TextAnalysis other = TextAnalysis()
        other.parts = self.parts
        other.parts.shortest = shortest
        other.parts.longest = longest
        other.parts.weight = weight
        other.parts.words_with_runs = words
        return other

    def features_of(self, text):
        return dict(self.instance_of(text).instance.items())

    def __str__(self):
        return "+".join(["words", *[part for part in PARTS if getattr(self, part)]])

    def __repr__(self):
        return f"TextAnalysis.parse({str(self)!r})"

    def __eq__(self, other):
        if type(other) is not TextAnalysis:
            return False
        cdef TextAnalysis it = other
        return (
            self.code == it.parts.code()
            and self.parts.shortest == it.parts.shortest
            and self.parts.longest == it.parts.longest
            and self.parts.weight == it.parts.weight
            and self.parts.words_with_runs == it.parts.words_with_runs
        )

    def __hash__(self):
        return hash(self.code)


cdef bint read_json(
    TextFeatures* features, string_view text, string& out, uint32_t* count
) except? 0 nogil:
    """Write the instance of a text in JSON; return False if the general parser has to read it."""
    cdef JsonCursor* json = new JsonCursor(text)
    cdef string_view given
    cdef bint plain
    try:
        plain = features.read(json[0], given)
        json.skip_space()
        plain = plain and json.at_end()
        if plain:
            count[0] = features.write(out)
    finally:
        del json
    return plain


cdef string_view utf8_of(object text, tuple field) except *:
    """Return a text as UTF-8, valid as long as the text lives; InstanceError for another value."""
    cdef Py_ssize_t size
    cdef const char* data
    if not isinstance(text, str):
        raise InstanceError("a text must be a string", ("text", *field))
    try:
        data = PyUnicode_AsUTF8AndSize(text, &size)
    except UnicodeEncodeError as error:
        raise InstanceError(
            f"the text is not valid Unicode: it has {ascii(text[error.start])} alone",
            ("text", *field),
        ) from None
    return string_view(data, size)


cdef string_view field_of(object name) except *:
    """Return the name of a field as UTF-8, valid as long as the name lives."""
    if type(name) is not str:
        raise InstanceError("a field name must be a string", ("text", name))
    cdef string_view field = Instance.utf8(name, "field", ("text", name))
    if field.size() > FIELD_BYTES:
        raise InstanceError(
            f"a field name has {field.size()} bytes; at most {FIELD_BYTES} are allowed",
            ("text", name),
        )
    return field


cdef uint32_t read(
    TextFeatures* features, vector[pair[string_view, string_view]]& fields, string& out
) except? 0 nogil:
    """Write the instance of the texts of fields ("": no field); return the number of features."""
    for field in fields:
        if field.first.empty():
            features.read(field.second)
        else:
            features.read_field(field.first, field.second)
    return features.write(out)


cdef list _ANALYSES = sorted(
    (TextAnalysis(*parts) for parts in product((False, True), repeat=len(PARTS))),
    key=lambda each: each.code,
)
DEFAULT_TEXT = TextAnalysis(pairs=True, characters=True)  # of new stores


def features_of(str text not None):
    return DEFAULT_TEXT.features_of(text)
