"""The titles of classes by name, for answers that native code writes."""

cimport cython

from manyclass.core.instance cimport Instance


@cython.final
cdef class Titles:
    """Titles by the names of classes; native/titles.hpp.

    Threads: any may read them in native code; one at a time changes them.
    """

    def __len__(self):
        return self._native.size()

    def put(self, str name not None, str title):
        self._native.put(
            Instance.any_utf8(name), Instance.any_utf8("" if title is None else title)
        )

    def replace(self, titles not None):
        cdef Titles other = Titles()
        for name, title in titles:
            other.put(name, title)
        self._native.swap(other._native)
