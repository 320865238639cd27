from libcpp cimport bool as cpp_bool
from libcpp.string cimport string
from libcpp.string_view cimport string_view


cdef extern from "service/http/native/gate.hpp" namespace "manyclass::http" nogil:
    cdef cppclass NativeKeys "manyclass::http::Keys":
        void add(string key, int scope) except +
        int scope_of(string_view authorization)

    cdef cppclass NativeHosts "manyclass::http::Hosts":
        void add(string name) except +
        cpp_bool have(string_view host)

    cdef cppclass Gate:
        Gate(const NativeKeys& keys, int scope, const NativeHosts& hosts) except +


cdef class Keys:
    cdef NativeKeys _native


cdef class Hosts:
    cdef NativeHosts _native
