from libc.stdint cimport uint8_t, uint32_t
from libcpp.string cimport string
from libcpp.string_view cimport string_view


cdef extern from "core/native/text/text_features.hpp" namespace "manyclass" nogil:
    const size_t FIELDS "manyclass::MOST_FIELDS"
    const size_t FIELD_BYTES "manyclass::LONGEST_FIELD"
    cdef cppclass TextParts:
        bint pairs
        bint characters
        bint unmarked
        bint symbols
        uint8_t code()
        uint32_t shortest
        uint32_t words_with_runs
        uint32_t longest
        double weight
    cdef cppclass JsonCursor:
        JsonCursor(string_view text)
        void skip_space()
        bint at_end()
    cdef cppclass TextFeatures:
        @staticmethod
        TextFeatures& mine() except +
        void begin(const TextParts& parts, size_t most) except +
        void read(string_view text) except +
        bint read(JsonCursor& json, string_view& given) except +
        void read_field(string_view field, string_view text) except +
        uint32_t write(string& out) except +
        size_t long_words()
        bint truncated()


cdef class TextAnalysis:
    cdef TextParts parts

    cdef object _analysed(
        self, TextFeatures* features, const string& out, uint32_t count, size_t most
    )
