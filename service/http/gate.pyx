"""Keys and names of hosts, checked in native code by both tiers."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libcpp.string_view cimport string_view

cimport cython


cdef string_view view_of(bytes data) noexcept:
    return string_view(PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))


@cython.final
cdef class Keys:
    """The keys of a service with scopes and names. Immutable; any thread may read it."""

    def __cinit__(self, keys):
        for key, scope, name in keys:
            self._native.add(key, scope, name)

    def granted_to(self, bytes authorization not None):
        cdef Granted granted = self._native.granted_to(view_of(authorization))
        return granted.scope, granted.name.data()[:granted.name.size()]


@cython.final
cdef class Hosts:
    """The names that a service answers to. Immutable once made; any thread may read it."""

    def __cinit__(self, names):
        for name in names:
            self._native.add(name)

    def have(self, bytes host not None):
        return self._native.have(view_of(host))
