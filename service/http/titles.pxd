from libcpp.string_view cimport string_view


cdef extern from "service/http/native/titles.hpp" namespace "manyclass::http" nogil:
    cdef cppclass NativeTitles "manyclass::http::Titles":
        void put(string_view name, string_view title) except +
        void swap(NativeTitles& other)
        size_t size()


cdef class Titles:
    cdef NativeTitles _native
