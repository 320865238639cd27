from libcpp cimport bool as cpp_bool
from libcpp.string cimport string
from libcpp.string_view cimport string_view


cdef extern from "service/http/native/gate.hpp" namespace "manyclass::http" nogil:
    cdef cppclass Granted "manyclass::http::Keys::Granted":
        int scope
        string_view name

    cdef cppclass NativeKeys "manyclass::http::Keys":
        void add(string key, int scope, string name) except +
        Granted granted_to(string_view authorization)

    cdef cppclass NativeHosts "manyclass::http::Hosts":
        void add(string name) except +
        cpp_bool have(string_view host)

    cdef cppclass Gate:
        Gate(const NativeKeys& keys, int scope, cpp_bool name_counts,
             const NativeHosts& hosts) except +


cdef class Keys:
    cdef NativeKeys _native


cdef class Hosts:
    cdef NativeHosts _native
