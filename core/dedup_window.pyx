"""The Python interface of the window of recent event ids, native/storage/dedup_window.hpp."""

from cpython.bytes cimport PyBytes_AS_STRING
from cython.operator cimport dereference as deref
from libc.stdint cimport uint64_t
from libc.string cimport memcpy
from libcpp.memory cimport unique_ptr

cimport cython

from hashlib import blake2b

import numpy as np

REMEMBERED = 1_000_000


cdef extern from "core/native/storage/dedup_window.hpp" namespace "manyclass" nogil:
    cdef cppclass Key:
        uint64_t high
        uint64_t low

    cdef cppclass Remembered:
        Key key
        uint64_t fingerprint
        uint64_t seq

    cdef cppclass NativeWindow "manyclass::DedupWindow":
        NativeWindow(size_t capacity) except +
        size_t size()
        const Remembered* find(const Key& key)
        void add(const Remembered& entry) except +
        void copy(Remembered* out)


cdef Key key_of(str event_id) except *:
    cdef Key key
    cdef bytes digest = blake2b(event_id.encode("utf-8"), digest_size=16).digest()
    memcpy(&key, PyBytes_AS_STRING(digest), sizeof(key))
    return key


@cython.final
cdef class DedupWindow:
    """The last event ids with seq and fingerprint of their events, to recognise retries.

    Threads: one at a time. The calls on all of it, dump and load, release the GIL.
    """

    cdef unique_ptr[NativeWindow] _native

    def __cinit__(self, size_t capacity=REMEMBERED):
        if capacity == 0 or capacity >= 2**32 - 1:
            raise ValueError("capacity must be 1 to 4294967294")
        self._native.reset(new NativeWindow(capacity))

    def __len__(self):
        return deref(self._native).size()

    def find(self, str event_id not None):
        cdef const Remembered* entry = deref(self._native).find(key_of(event_id))
        return None if entry is NULL else (entry.seq, entry.fingerprint)

    def add(self, str event_id not None, uint64_t seq, uint64_t fingerprint):
        cdef Remembered entry
        entry.key = key_of(event_id)
        entry.fingerprint = fingerprint
        entry.seq = seq
        if deref(self._native).find(entry.key) is NULL:
            deref(self._native).add(entry)

    def dump(self):
        rows = np.empty((len(self), 4), "<u8")
        cdef uint64_t[:, ::1] view = rows
        if len(self):
            with nogil:
                deref(self._native).copy(<Remembered*>&view[0, 0])
        return rows

    def copy(self):
        return DedupWindow.load(self.dump())

    @classmethod
    def load(cls, const uint64_t[:, ::1] rows not None, size_t capacity=REMEMBERED):
        cdef DedupWindow recent = DedupWindow(capacity)
        cdef const Remembered* entry
        cdef Py_ssize_t i
        cdef bint twice = False
        if rows.shape[1] != 4 or <size_t>rows.shape[0] > capacity:
            raise ValueError("these are not rows of remembered events")
        with nogil:  # the object is not shared yet
            for i in range(rows.shape[0]):
                entry = <const Remembered*>&rows[i, 0]
                twice |= deref(recent._native).find(entry.key) is not NULL
                deref(recent._native).add(deref(entry))
        if twice:
            raise ValueError("an event id is remembered twice")
        return recent
