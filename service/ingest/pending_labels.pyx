"""The Python interface of the instances without a label, native/pending_instances.hpp."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from cython.operator cimport dereference as deref
from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcpy
from libcpp.string cimport string
from libcpp.string_view cimport string_view
from libcpp.vector cimport vector

cimport cython

from manyclass.core.event_parts cimport reading_in, stored_text, text_in
from manyclass.core.instance cimport Instance, bytes_of, text_of
from manyclass.core.locking cimport release_gil_while_waiting

from secrets import randbits, token_hex

from manyclass.service.ingest.stored_instance import (
    Absence,
    ServedClasses,
    StoredInstance,
    WaitingInstance,
)

release_gil_while_waiting()

MOST_FORGOTTEN = 100_000
AGED_AT_ONCE = 1000
MOST_SERVED = MOST_CLASSES


@cython.final
cdef class PendingLabels:
    """Ranked instances and their rankings, by ids made here or by clients, until their labels come.

    Threads: any; rankings without the interpreter store their instances in the native object.
    """

    def __cinit__(self, double seconds, size_t most_bytes, clock, bint keeps_texts=True,
                  size_t most_forgotten=MOST_FORGOTTEN, size_t aged_at_once=AGED_AT_ONCE):
        cdef bytes prefix = token_hex(6).encode() + b"-"
        self._clock = clock
        self._native.reset(new PendingInstances(
            seconds, most_bytes, keeps_texts, most_forgotten, aged_at_once, prefix, randbits(63)
        ))

    def __len__(self):
        return deref(self._native).count()

    @property
    def bytes(self):
        return deref(self._native).bytes()

    def keep(self, Instance instance not None, str given_id=None, ranked=(), confidence=None,
             bint abstained=False, str source=None, text=None, reading=None):
        cdef string_view given
        cdef string names
        cdef ServedRanking served
        for name in ranked[:MOST_CLASSES]:
            append_name(names, Instance.any_utf8(name))
        served.names = string_view(names.data(), names.size())
        served.confidence = -1 if confidence is None else confidence
        served.abstained = abstained
        if given_id is not None:
            given = Instance.any_utf8(given_id)
        cdef bytes stored = stored_text(text, reading)
        cdef InstanceNote note = PendingLabels.note_of(source, stored)
        cdef string made
        deref(self._native).keep(self._clock(), bytes_of(instance), served, note, given, made)
        return text_of(string_view(made))

    @staticmethod
    cdef InstanceNote note_of(str source, bytes stored) except *:
        """Return a view of a source and a text as it is stored, which have to outlive it."""
        cdef InstanceNote note
        if source is not None:
            note.source = Instance.any_utf8(source)
        cdef string_view whole = string_view(stored, len(stored))
        if not whole.empty():
            note.reading = whole.substr(0, READING_BYTES)
            note.text = whole.substr(READING_BYTES)
        return note

    def find(self, str instance_id not None):
        cdef double now = self._clock()
        cdef Stored stored
        cdef Found found = deref(self._native).find(now, Instance.any_utf8(instance_id), stored)
        if found == Found.stored:
            text = bytes_in(stored.text)
            return StoredInstance(
                bytes_in(stored.instance), now - stored.ranked_at, stored.number,
                source=name_in(stored.source),
                text=text_in(text), reading=reading_in(text),
            )
        return Absence.TOO_LATE if found == Found.too_late else Absence.NEVER_SEEN

    def label(self, uint64_t number):
        cdef Stored stored
        return served_in(stored) if deref(self._native).label(number, stored) else None

    def erase(self, source, ids=()):
        cdef size_t erased = 0
        cdef string_view wanted = PendingLabels.note_of(source, b"").source
        if not wanted.empty():
            with nogil:
                erased = deref(self._native).erase_source(wanted)
        for each in ids:
            erased += deref(self._native).erase(Instance.any_utf8(each))
        return erased

    @property
    def newest(self):
        return deref(self._native).newest()

    def least_certain(self, size_t most, str source=None, uint64_t after=0):
        cdef double now = self._clock()
        cdef vector[uint64_t] numbers
        cdef Stored stored
        cdef string instance_id
        cdef list waiting = []
        cdef string_view wanted = PendingLabels.note_of(source, b"").source
        cdef size_t at
        with nogil:
            numbers = deref(self._native).least_certain(now, most, wanted, after)
        for at in range(numbers.size()):
            if deref(self._native).read(now, numbers[at], stored, instance_id):
                waiting.append(WaitingInstance(
                    text_of(string_view(instance_id)), bytes_in(stored.instance),
                    now - stored.ranked_at,
                    served_in(stored), name_in(stored.source), text_in(bytes_in(stored.text)),
                    stored.is_text_cut, reading_in(bytes_in(stored.text)),
                ))
        return waiting


cdef void append_name(string& names, string_view name) except *:
    cdef uint32_t size = <uint32_t>name.size()
    names.append(<const char*>&size, sizeof(size)).append(name.data(), size)


cdef bytes bytes_in(const string& data):
    return PyBytes_FromStringAndSize(data.data(), data.size())


cdef str name_in(const string& data):
    """Return a name, None for an empty one."""
    return text_of(string_view(data)) or None


cdef object served_in(const Stored& stored):
    """Return the ranking of an entry; its confidence has the six digits that are stored."""
    cdef list names = []
    cdef size_t at = 0
    cdef uint32_t size
    while at < stored.names.size():
        memcpy(&size, stored.names.data() + at, sizeof(size))
        at += sizeof(size)
        names.append(text_of(string_view(stored.names.data() + at, size)))
        at += size
    confidence = None if stored.confidence < 0 else round(stored.confidence, 6)
    return ServedClasses(tuple(names), confidence, stored.abstained)
