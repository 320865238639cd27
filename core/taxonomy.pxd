from libc.stdint cimport uint32_t, uint64_t
from libcpp.memory cimport shared_ptr
from libcpp.string cimport string
from libcpp.string_view cimport string_view
from libcpp.vector cimport vector

from manyclass.core.locking cimport raise_error


cdef extern from "core/native/taxonomy/taxonomy.hpp" namespace "manyclass" nogil:
    const uint32_t MOST_NODES "manyclass::ClassTree::MOST_NODES"
    const uint64_t MOST_NAME_BYTES "manyclass::ClassTree::MOST_NAME_BYTES"
    const uint32_t DEEPEST "manyclass::ClassTree::DEEPEST"

    cdef cppclass Section:
        string name
        string type
        uint64_t size
        void* data

    cdef cppclass NativeTaxonomy "manyclass::Taxonomy":
        NativeTaxonomy(uint64_t hash_seed) except +raise_error
        uint32_t count() except +raise_error
        bint has(string_view name) except +raise_error
        bint is_class(string_view name) except +raise_error
        uint64_t name_bytes() except +raise_error
        string parent(string_view name) except +raise_error
        vector[string] path(string_view name) except +raise_error
        bint children(string_view name, string_view after, size_t limit,
                      vector[string]& names) except +raise_error
        uint32_t height(string_view name) except +raise_error
        uint32_t distance(string_view one, string_view other) except +raise_error
        size_t resident_bytes() except +raise_error
        vector[string] place(string_view name, string_view parent, bint moves) except +raise_error
        vector[string] note_classes(const vector[string_view]& names) except +raise_error
        bint rename(string_view name, string_view to) except +raise_error
        vector[string] forget(string_view name) except +raise_error
        vector[Section] measure() except +raise_error
        void dump(const vector[Section]& sections) except +raise_error
        void load(const vector[Section]& sections) except +raise_error


cdef class Taxonomy:
    cdef shared_ptr[NativeTaxonomy] _native
