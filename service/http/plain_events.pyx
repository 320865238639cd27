"""Plain events: the body of POST /learn with one event, read in native code."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cython.operator cimport dereference as deref
from libc.stdint cimport uint64_t
from libcpp.string cimport string
from libcpp.string_view cimport string_view

cimport cython

from manyclass.core.event cimport Event
from manyclass.core.event_parts cimport reading_in, text_in
from manyclass.core.event_batch cimport EventBatch
from manyclass.core.instance cimport Instance, feature_count, text_of
from manyclass.core.locking cimport release_gil_while_waiting
from manyclass.core.text cimport TextAnalysis
from manyclass.service.http.gate cimport Gate, Hosts, Keys

from manyclass.service.http import instances
from manyclass.service.http.auth import Scope
from manyclass.service.http.labels import Labels
from manyclass.service.http.schemas import learn

release_gil_while_waiting()


cdef string_view view_of(bytes data) noexcept:
    return string_view(PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))


@cython.final
cdef class PlainEvents:
    """The reader of plain requests to learn; native/learn_body.hpp says which are plain.

    Threads: the methods belong to the event loop's thread; workers read by the native learner.
    """

    def __cinit__(self, settings, keys, csrf, bint keeps_texts):
        cdef Keys its_keys = keys.native
        cdef Hosts hosts = csrf.hosts
        self._learner.reset(new PlainLearner(
            min(instances.LARGE_BYTES, settings.max_body_bytes),
            settings.max_features_per_instance, learn.MOST_PAIRS, keeps_texts,
            Gate(its_keys._native, Scope.LEARN, True, hosts._native),
        ))

    def use(self, TextAnalysis analysis not None):
        deref(self._learner).use(analysis.parts)

    @staticmethod
    cdef Event made_of(const PlainEvent& read):
        """Return the event, with an id or a weight, of what the reader has checked."""
        cdef list classes = [
            text_of(string_view(read.classes[i])) for i in range(read.classes.size())
        ]
        wire = PyBytes_FromStringAndSize(read.instance.data(), read.instance.size())
        instance = Instance.wrap(wire, feature_count(string_view(read.instance)))
        cdef str event_id = text_of(string_view(read.id)) or None
        cdef uint64_t fingerprint = 0
        cdef bytes stored = PyBytes_FromStringAndSize(read.text.data(), read.text.size())
        text = text_in(stored)
        if event_id is not None:
            labels = Labels(classes, [], read.weight, {})
            fingerprint = labels.fingerprint(instance, text)
        return Event.learn(
            instance, classes, event_id, fingerprint, weight=read.weight,
            source=text_of(string_view(read.source)) or None,
            text=text if read.keeps_text else None, reading=reading_in(stored),
            reviewer=text_of(string_view(read.reviewer)) or None,
            batch=text_of(string_view(read.batch)) or None,
        )

    @staticmethod
    cdef int add_to(EventBatch batch, const PlainEvent& read) except -1:
        """Add an event that is not alone, which the reader has checked, to a batch."""
        batch._native.add(string_view(read.instance), read.classes, read.origin())
        return 0

    cdef bint _reads_head(self, bytes data):
        return deref(self._learner).read_head(view_of(data), self._request)

    def is_begun(self, bytes data not None):
        return self._reads_head(data) and not self._request.is_whole()

    def take(self, bytes data not None, EventBatch batch not None):
        if not self._reads_head(data) or not self._request.is_whole():
            return False
        if not deref(self._learner).read(self._request, self._event):
            return False
        if self._event.is_alone():
            return PlainEvents.made_of(self._event)
        PlainEvents.add_to(batch, self._event)
        return True

    @staticmethod
    def body(result):
        cdef string body = answer_of(result).body()
        return PyBytes_FromStringAndSize(body.data(), body.size())

    @staticmethod
    def answer(result, bytes first not None, bytes last not None):
        return whole(answer_of(result), first, last)

    @staticmethod
    def answer_in(EventBatch batch not None, size_t place, bytes first not None,
                  bytes last not None):
        if place >= batch._native.learned():
            raise IndexError("this event of the batch is not applied")
        return whole(answer_in(batch, place), first, last)


cdef LearnAnswer answer_of(result):
    """Return the answer of the result of an event."""
    cdef LearnAnswer answer
    seq, duplicate, rank, updated = result
    answer.seq = seq
    answer.rank = rank or 0
    answer.is_updated = updated
    answer.is_duplicate = duplicate
    return answer


cdef LearnAnswer answer_in(EventBatch batch, size_t place):
    """Return the answer of an event of a batch, which is applied."""
    cdef LearnAnswer answer
    answer.seq = batch.first_seq + place
    answer.rank = batch._native[place].rank
    answer.is_updated = batch._native[place].is_updated
    return answer


cdef bytes whole(const LearnAnswer& answer, bytes first, bytes last):
    """Return all bytes of an answer, between headers of the server and others."""
    cdef string bytes_of_all = answer.whole(view_of(first), view_of(last))
    return PyBytes_FromStringAndSize(bytes_of_all.data(), bytes_of_all.size())
