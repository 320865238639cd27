from libc.stdint cimport uint8_t, uint64_t
from libcpp.string cimport string
from libcpp.string_view cimport string_view


cdef extern from "core/native/event_bytes.hpp" namespace "manyclass" nogil:
    cdef cppclass EventOrigin:
        string_view source
        string_view reviewer
        string_view batch
        string_view text

    cdef cppclass EventHead:
        uint8_t kind
        uint64_t fingerprint
        string_view event_id
        uint64_t time
        EventOrigin origin
        string_view instance_id

    void put_head(string& out, const EventHead& head) except +
    void put_names[Names](string& out, const Names& names) except +

cdef extern from "core/native/text/stored_text.hpp" namespace "manyclass::TextReading" nogil:
    const size_t READING_BYTES "manyclass::TextReading::BYTES"  # in front of a stored text


cdef dict placements(parents, bint to_root)
cdef int check_weight(double weight) except -1
cdef int refuse_both(list names, rejected) except -1

cdef bytes wire_of_head(int kind, str event_id=*, unsigned long long fingerprint=*,
                        unsigned long long time=*, str source=*, bytes text=*,
                        str instance_id=*, str reviewer=*, str batch=*)
cdef string_view view_of(str given, str what)
cdef bytes wire_of(list names)
cdef bytes wire_of_placements(dict parents)

cdef bytes stored_text(text, reading)
cdef object text_in(bytes stored)
cdef object reading_in(bytes stored)
