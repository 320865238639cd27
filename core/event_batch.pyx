"""Batches of plain "learn" events, which are applied together."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from cython.operator cimport dereference as deref
from libc.stdint cimport uint32_t, uint64_t
from libcpp.string_view cimport string_view
from libcpp.vector cimport vector

cimport cython

from manyclass.core.event cimport Event
from manyclass.core.event_parts cimport EventOrigin, reading_in, stored_text, text_in, view_of
from manyclass.core.learner cimport Seconds
from manyclass.core.instance cimport Instance, bytes_of, feature_count, is_signed, text_of
from manyclass.core.locking cimport release_gil_while_waiting
from manyclass.core.published_learner cimport NativePublishedLearner, PublishedLearner
from manyclass.core.text cimport TextAnalysis

release_gil_while_waiting()


cdef bytes bytes_in(string_view text):
    return PyBytes_FromStringAndSize(text.data(), text.size())


@cython.final
cdef class EventBatch:
    """Plain "learn" events in the order of the log, and their outcomes.

    Threads: one at a time; `learn` releases the GIL.
    """

    def add(self, Instance instance not None, classes, str source=None, text=None, reading=None,
            str reviewer=None, str batch=None):
        cdef vector[string_view] names
        cdef EventOrigin origin
        if is_signed(bytes_of(instance)) or not (len(instance) or instance.has_vector):
            raise ValueError("a plain event has a vector or features, all above 0")
        for name in classes:
            names.push_back(Instance.utf8(<str?>name, "class", ("classes",)))
        if names.empty():
            raise ValueError("a plain event has true classes")
        cdef bytes stored = stored_text(text, reading)
        origin.source = view_of(source, "source")
        origin.reviewer = view_of(reviewer, "reviewer")
        origin.batch = view_of(batch, "batch")
        origin.text = string_view(stored, len(stored))
        self._native.add(bytes_of(instance), names, origin)

    def __len__(self):
        return self._native.count()

    @property
    def size(self):
        return self._native.bytes()

    @property
    def is_full(self):
        return self._native.bytes() >= FULL_BATCH_BYTES

    def payloads(self):
        return [bytes_in(self._native.payload(at)) for at in range(self._native.count())]

    def events(self):
        cdef vector[string_view] names
        cdef list events = []
        cdef EventOrigin origin
        cdef bytes stored
        for at in range(self._native.count()):
            self._native.read_classes(at, names)
            origin = self._native.origin(at)
            stored = bytes_in(origin.text)
            events.append(Event.learn(
                Instance.wrap(
                    bytes_in(self._native.instance(at)), feature_count(self._native.instance(at))
                ),
                [text_of(name) for name in names],
                source=text_of(origin.source) or None,
                text=text_in(stored),
                reading=reading_in(stored),
                reviewer=text_of(origin.reviewer) or None,
                batch=text_of(origin.batch) or None,
            ))
        return events

    def is_read_by(self, TextAnalysis analysis not None):
        return self._native.is_read_by(analysis.parts.code())

    def has_vectors_of(self, size_t dimension):
        return self._native.has_vectors_of(dimension)

    @property
    def learned(self):
        return self._native.learned()

    def begin(self, uint64_t first_seq):
        self.first_seq = first_seq

    def note(self, uint32_t rank, bint is_updated):
        if self._native.learned() == self._native.count():
            raise IndexError("all events of the batch are applied")
        self._native.note(rank, is_updated)

    def learn(self, PublishedLearner learner not None, double seconds):
        if learner._learner is None:
            raise ValueError("no learner is published")
        cdef NativePublishedLearner* native = learner._native.get()
        with nogil:
            self._native.learn(Seconds(seconds), deref(native))

    def ranks(self, size_t first=0):
        return [self._native[at].rank for at in range(first, self._native.learned())]

    def seconds(self, size_t first=0):
        return [self._native[at].seconds for at in range(first, self._native.learned())]

    def updated(self, size_t first=0):
        return [self._native[at].is_updated for at in range(first, self._native.learned())]
