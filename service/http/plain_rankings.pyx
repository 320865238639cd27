"""Plain rankings: POST /rank of one instance, answered in native code from bytes to bytes."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.unicode cimport PyUnicode_DecodeUTF8
from cython.operator cimport dereference as deref
from libc.math cimport INFINITY
from libc.stdint cimport uint32_t, uint64_t
from libcpp.string cimport string
from libcpp.string_view cimport string_view
from libcpp.vector cimport vector

cimport cython

from manyclass.core.index cimport Index, Ranked
from manyclass.core.instance cimport Instance, bytes_of
from manyclass.core.locking cimport release_gil_while_waiting

import logging
from asyncio import get_running_loop
from time import perf_counter

from manyclass.core.errors import IndexHalfChanged
from manyclass.service.errors import NotReady
from manyclass.service.http import instances
from manyclass.service.http.auth import Scope
from manyclass.service.http.problems import Problem

release_gil_while_waiting()

logger = logging.getLogger(__name__)


cdef extern from "service/http/native/request_head.hpp" namespace "manyclass::http" nogil:
    cdef cppclass PlainRequest:
        string_view host
        string_view authorization
        string_view body
        size_t length
        bint is_whole()
    bint read_head "manyclass::http::RequestHead::read"(string_view data, PlainRequest& request)

cdef extern from "service/http/native/rank_body.hpp" namespace "manyclass::http" nogil:
    cdef cppclass RankBody:
        bint read(string_view data, size_t most_features) except +
        uint32_t write_instance(string& out) except +
        uint32_t k()
        string_view id()

cdef extern from "service/http/native/rank_answer.hpp" namespace "manyclass::http" nogil:
    cdef cppclass RankAnswer:
        bint write(const RankBody& asked, uint64_t seq, const vector[Ranked]& ranked,
                   string_view names, double confidence) except +
        bint abstains()
        const string& whole(string_view first, string_view last, string_view id) except +

cdef string_view view_of(bytes data) noexcept:
    return string_view(PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))


cdef bytes bytes_in(string_view text):
    return PyBytes_FromStringAndSize(text.data(), text.size())


@cython.final
cdef class PlainRankings:
    """Answers plain requests to rank one instance; native/request_head.hpp says which are plain.

        bytes of a read ──► head ──► body ──► instance ──► ranking ──► bytes of the answer

    It gives None for all other requests and for all refusals, and then has changed nothing (if
    memory runs out at the very end, an instance was stored whose label cannot come): the way
    through FastAPI answers these, and has seen nothing of the plain ones.
    Belongs to the event loop's thread.
    """

    # Python calls take a fifth of the time that is left, so each of them counts here.

    cdef readonly uint64_t answered
    cdef object _engine, _keys, _csrf, _pending, _metrics, _stopping, _budget, _places
    cdef size_t _most_bytes, _most_features
    cdef bint _is_open  # no key is needed
    cdef bytes _last_headers  # behind those of the body
    cdef object _default_headers  # of the server, from which `_first` was made
    cdef bytes _first
    cdef bytes _host  # the last one that passed
    cdef uint32_t _taken  # places, in this turn of the loop
    cdef PlainRequest _request
    cdef RankBody _body
    cdef RankAnswer _answer
    cdef string _wire, _names
    cdef vector[Ranked] _ranked

    def __cinit__(self, settings, engine, keys, csrf, pending, metrics, limits, stopping):
        self._engine = engine
        self._keys = keys
        self._csrf = csrf
        self._pending = pending
        self._metrics = metrics
        self._stopping = stopping
        self._budget = limits.budget
        self._places = limits.admission.short
        self._most_bytes = min(instances.LARGE_BYTES, settings.max_body_bytes)
        self._most_features = settings.max_features_per_instance
        added = limits.cors.headers_for(None) if limits.cors.is_enabled else []
        self._is_open = keys.open
        self._host = b""
        self._last_headers = lines_of(added)

    def answer(self, bytes data not None, list default_headers not None):
        began = perf_counter()
        if not read_head(view_of(data), self._request) or not self._request.is_whole():
            return None
        try:
            if not self._is_admitted(0):
                return None
            if not self._body.read(self._request.body, self._most_features):
                return None
            return self._rank(began, default_headers)
        except (MemoryError, IndexHalfChanged):
            return None  # the other way meets the same error, and reports it
        except Exception:
            logger.exception("a plain ranking failed and is answered the other way")
            return None

    def is_begun(self, bytes data not None):
        if not read_head(view_of(data), self._request) or self._request.is_whole():
            return False
        try:
            return self._is_admitted(len(data))
        except MemoryError:
            return False  # as above

    cdef bint _is_admitted(self, size_t held) except *:
        """Check the request by its head, and the limits of the service with the bytes held."""
        cdef size_t size = self._request.length
        if size > self._most_bytes or self._stopping.is_set():
            return False
        if self._places.taken >= self._places.most and self._places.is_full:
            return False
        size += held
        return self._budget.fits(size, size) and self._knows_host() and self._has_key()

    cdef bint _knows_host(self) except *:
        if self._request.host == view_of(self._host):
            return True
        host = bytes_in(self._request.host)
        try:
            self._csrf.require("POST", {b"host": host})
        except Problem:
            return False
        self._host = host
        return True

    cdef bint _has_key(self) except *:
        if self._is_open:
            return True
        cdef string_view given = self._request.authorization
        try:
            self._keys.require(Scope.RANK, bytes_in(given) if given.size() else None)
        except Problem:
            return False
        return True

    cdef bytes _rank(self, double began, list default_headers):
        try:
            model = self._engine.model
        except NotReady:
            return None
        if type(model.learner) is not Index:
            return None
        cdef uint32_t count = self._body.write_instance(self._wire)
        if count == 0:
            return None
        cdef Instance instance = Instance.wrap(bytes_in(<string_view>self._wire), count)
        cdef uint64_t seq = model.seq
        began_to_rank = perf_counter()
        confidence = self._confidence_after_ranking(model.answering, instance)
        ended = perf_counter()
        if not self._answer.write(
            self._body, seq, self._ranked, <string_view>self._names,
            -1 if confidence is None else confidence,
        ):
            return None
        instance_id = self._keep(instance)
        cdef const string* whole = &self._answer.whole(
            view_of(self._first_lines(default_headers)), view_of(self._last_headers),
            Instance.any_utf8(instance_id),
        )
        answer = PyBytes_FromStringAndSize(whole.data(), whole.size())
        self._take_place()
        self._count(began, ended - began_to_rank)
        return answer

    cdef object _confidence_after_ranking(self, enrolled, Instance instance):
        """Rank; return the confidence in the best class, None if it is unknown."""
        cdef Index index = enrolled.learner
        self._ranked.clear()
        self._names.clear()
        deref(index._native).rank(
            bytes_of(instance), max(self._body.k(), 2), -INFINITY, self._ranked, self._names
        )
        cdef double first = self._ranked[0].score if self._ranked.size() > 0 else 0
        cdef double second = self._ranked[1].score if self._ranked.size() > 1 else 0
        return enrolled.calibration.confidence(first, second)

    cdef str _keep(self, Instance instance):
        """Store the instance until its label comes; return its id."""
        cdef string_view given = self._body.id()
        if given.size() == 0:
            return self._pending.keep(instance)
        return self._pending.keep(instance, PyUnicode_DecodeUTF8(given.data(), given.size(), NULL))

    cdef bytes _first_lines(self, list default_headers):
        """Return the status line and the headers of the server, which change once a second."""
        if self._default_headers is not default_headers:
            self._first = b"HTTP/1.1 200 OK\r\n" + lines_of(default_headers)
            self._default_headers = default_headers
        return self._first

    cdef _take_place(self):
        """Count a ranking as in progress until the turn of the loop ends, as Admission does."""
        self._places.take()
        if self._taken == 0:
            get_running_loop().call_soon(self._leave)
        self._taken += 1

    def _leave(self):
        for _ in range(self._taken):
            self._places.leave()
        self._taken = 0

    cdef _count(self, double began, double seconds):
        self.answered += 1
        self._metrics.rank_duration.observe(seconds)
        if self._answer.abstains():
            self._metrics.abstained += 1
        self._metrics.request("/rank", 200, perf_counter() - began)


cdef bytes lines_of(headers):
    return b"".join([b"%s: %s\r\n" % (name.lower(), value) for name, value in headers])
