"""Plain events: the body of POST /learn with one event, read in native code."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport uint32_t
from libcpp cimport bool as cpp_bool
from libcpp.string cimport string
from libcpp.string_view cimport string_view
from libcpp.vector cimport vector

cimport cython

from manyclass.core.event cimport Event
from manyclass.core.instance cimport Instance
from manyclass.core.locking cimport release_gil_while_waiting
from manyclass.service.http.plain_rankings cimport Gate, PlainRequest

from manyclass.core.errors import InstanceError
from manyclass.service.http import instances
from manyclass.service.http.auth import Scope
from manyclass.service.http.schemas import learn


release_gil_while_waiting()


cdef extern from "service/http/native/request_head.hpp" namespace "manyclass::http" nogil:
    bint read_head "manyclass::http::RequestHead::read"(
        string_view data, string_view first_line, PlainRequest& request)
    const string_view LEARN "manyclass::http::POST_LEARN"

cdef extern from "service/http/native/learn_body.hpp" namespace "manyclass::http" nogil:
    cdef cppclass LearnBody:
        cpp_bool read(string_view data, size_t most_features) except +
        uint32_t write_instance(string& out) except +
        const vector[string_view]& classes()


@cython.final
cdef class PlainEvents:
    """Makes events of plain requests to learn; native/learn_body.hpp says which are plain.

    Belongs to the event loop's thread.
    """

    cdef Gate _gate
    cdef size_t _most_bytes, _most_features, _most_pairs
    cdef PlainRequest _request
    cdef LearnBody _body
    cdef string _wire

    def __cinit__(self, settings, keys, csrf):
        cdef vector[string] known = keys.of(Scope.LEARN), names = sorted(csrf.names)
        self._gate = Gate(known, names)
        self._most_bytes = min(instances.LARGE_BYTES, settings.max_body_bytes)
        self._most_features = settings.max_features_per_instance
        self._most_pairs = learn.MOST_PAIRS

    cdef bint _reads_head(self, bytes data):
        cdef string_view received = string_view(PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))
        return (
            read_head(received, LEARN, self._request)
            and self._request.length <= self._most_bytes
            and self._gate.admits(self._request)
        )

    def is_begun(self, bytes data not None):
        return self._reads_head(data) and not self._request.is_whole()

    def event(self, bytes data not None):
        cdef list classes = []
        cdef string_view name
        if not self._reads_head(data) or not self._request.is_whole():
            return None
        if not self._body.read(self._request.body, self._most_features):
            return None
        cdef uint32_t features = self._body.write_instance(self._wire)
        if features == 0 or features * self._body.classes().size() > self._most_pairs:
            return None
        for i in range(self._body.classes().size()):
            name = self._body.classes()[i]
            classes.append(PyUnicode_DecodeUTF8(name.data(), name.size(), NULL))
        wire = PyBytes_FromStringAndSize(self._wire.data(), self._wire.size())
        try:
            return Event.learn(Instance.wrap(wire, features), classes)
        except InstanceError:
            return None  # the other way says why
