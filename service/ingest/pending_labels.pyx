"""The Python interface of the instances without a label, native/pending_instances.hpp."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.unicode cimport PyUnicode_DecodeUTF8
from cython.operator cimport dereference as deref
from libcpp.string cimport string
from libcpp.string_view cimport string_view

cimport cython

from manyclass.core.instance cimport Instance, bytes_of
from manyclass.core.locking cimport release_gil_while_waiting

from secrets import randbits, token_hex

from manyclass.service.ingest.stored_instance import Absence, StoredInstance

release_gil_while_waiting()

MOST_FORGOTTEN = 100_000
AGED_AT_ONCE = 1000


@cython.final
cdef class PendingLabels:
    """Ranked instances, by ids made here or by clients, until their labels come.

    Threads: any; rankings without the interpreter store their instances in the native object.
    """

    def __cinit__(self, double seconds, size_t most_bytes, clock,
                  size_t most_forgotten=MOST_FORGOTTEN, size_t aged_at_once=AGED_AT_ONCE):
        cdef bytes prefix = token_hex(6).encode() + b"-"
        self._clock = clock
        self._native.reset(new PendingInstances(
            seconds, most_bytes, most_forgotten, aged_at_once, prefix, randbits(63)
        ))

    def __len__(self):
        return deref(self._native).count()

    @property
    def bytes(self):
        return deref(self._native).bytes()

    def keep(self, Instance instance not None, str given_id=None):
        cdef double now = self._clock()
        cdef string_view given
        cdef string made
        if given_id is not None:
            given = Instance.any_utf8(given_id)
        deref(self._native).keep(now, bytes_of(instance), given, made)
        return PyUnicode_DecodeUTF8(made.data(), made.size(), NULL)

    def find(self, str instance_id not None):
        cdef double now = self._clock(), ranked_at = 0
        cdef string data
        cdef Found found = deref(self._native).find(
            now, Instance.any_utf8(instance_id), data, ranked_at
        )
        if found == Found.stored:
            return StoredInstance(
                PyBytes_FromStringAndSize(data.data(), data.size()), now - ranked_at
            )
        return Absence.TOO_LATE if found == Found.too_late else Absence.NEVER_SEEN
