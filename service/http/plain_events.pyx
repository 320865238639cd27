"""Plain events: the body of POST /learn with one event, read in native code."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.unicode cimport PyUnicode_DecodeUTF8
from cython.operator cimport dereference as deref
from libcpp.string cimport string
from libcpp.string_view cimport string_view
from libcpp.vector cimport vector

cimport cython

from manyclass.core.event cimport Event
from manyclass.core.instance cimport Instance
from manyclass.core.locking cimport release_gil_while_waiting
from manyclass.service.http.plain_rankings cimport Gate

from manyclass.service.http import instances
from manyclass.service.http.auth import Scope
from manyclass.service.http.labels import Labels
from manyclass.service.http.schemas import learn

release_gil_while_waiting()


@cython.final
cdef class PlainEvents:
    """Makes events of plain requests to learn; native/learn_body.hpp says which are plain.

    Threads: the methods belong to the event loop's thread; workers read by the native learner.
    """

    def __cinit__(self, settings, keys, csrf):
        cdef vector[string] known = keys.of(Scope.LEARN), names = sorted(csrf.names)
        self._learner.reset(new PlainLearner(
            min(instances.LARGE_BYTES, settings.max_body_bytes),
            settings.max_features_per_instance, learn.MOST_PAIRS, Gate(known, names),
        ))

    @staticmethod
    cdef Event made_of(const PlainEvent& read):
        """Return the event of what the reader has checked."""
        cdef list classes = []
        cdef str event_id
        for i in range(read.classes.size()):
            classes.append(
                PyUnicode_DecodeUTF8(read.classes[i].data(), read.classes[i].size(), NULL)
            )
        wire = PyBytes_FromStringAndSize(read.instance.data(), read.instance.size())
        instance = Instance.wrap(wire, read.features)
        if read.id.empty():
            return Event.learn(instance, classes)
        event_id = PyUnicode_DecodeUTF8(read.id.data(), read.id.size(), NULL)
        labels = Labels(classes, [], 1.0, {})
        return Event.learn(
            instance, classes, event_id, labels.fingerprint(sorted(instance.items()))
        )

    cdef bint _reads_head(self, bytes data):
        return deref(self._learner).read_head(
            string_view(PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data)), self._request
        )

    def is_begun(self, bytes data not None):
        return self._reads_head(data) and not self._request.is_whole()

    def event(self, bytes data not None):
        if not self._reads_head(data) or not self._request.is_whole():
            return None
        if not deref(self._learner).read(self._request, self._event):
            return None
        return PlainEvents.made_of(self._event)
