"""Plain rankings: POST /rank of one instance, answered in native code from bytes to bytes."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cython.operator cimport dereference as deref
from libcpp.string_view cimport string_view

cimport cython

from manyclass.core.locking cimport release_gil_while_waiting
from manyclass.core.published_learner cimport PublishedLearner
from manyclass.core.text cimport TextAnalysis, TextParts
from manyclass.service.http.gate cimport Gate, Hosts, Keys
from manyclass.service.http.titles cimport Titles
from manyclass.service.ingest.pending_labels cimport PendingLabels

import logging
from asyncio import get_running_loop

from manyclass.core.errors import LearnerHalfChanged
from manyclass.service.http import instances
from manyclass.service.http.auth import Scope
from manyclass.service.observability import metrics

release_gil_while_waiting()

logger = logging.getLogger(__name__)


cdef string_view view_of(bytes data) noexcept:
    return string_view(PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))


cdef bytes lines_of(headers):
    return b"".join([b"%s: %s\r\n" % (name.lower(), value) for name, value in headers])


cdef list numbers_in(const Histogram& histogram):
    return [histogram.count(bound) for bound in range(histogram.size())]


@cython.final
cdef class PlainRankings:
    """Answers plain requests to rank one instance; native/request_head.hpp says which are plain.

    It returns None for all other requests and for all refusals, and then changes nothing: the
    Python tier answers them, and never sees the plain ones.
    Threads: the methods belong to the event loop's thread; workers answer by the native ranker.
    """

    def __cinit__(self, settings, keys, csrf, PendingLabels pending not None,
                  Titles titles not None, clock, limits, stopping):
        cdef Keys its_keys = keys.native
        cdef Hosts hosts = csrf.hosts
        added = limits.cors.headers_for(None) if limits.cors.is_enabled else []
        self._pending, self._titles = pending, titles
        self._clock = clock
        self._stopping = stopping
        self._budget = limits.budget
        self._places = limits.admission.short
        self._first = b""
        self._ranker.reset(new PlainRanker(
            min(instances.LARGE_BYTES, settings.max_body_bytes),
            settings.max_features_per_instance,
            Gate(its_keys._native, Scope.RANK, False, hosts._native), lines_of(added),
            deref(pending._native), titles._native,
        ))
        self._task.reset(new RankTask(metrics.FAST_SECONDS, metrics.REQUEST_SECONDS))

    @staticmethod
    cdef object counts_of(const PlainCounts& counts):
        """Return the counts of a thread."""
        return metrics.PlainCounts(
            numbers_in(counts.ranking), counts.ranking.sum(),
            numbers_in(counts.rank_request), counts.rank_request.sum(),
            numbers_in(counts.learn_request), counts.learn_request.sum(), counts.abstained,
        )

    def use(self, PublishedLearner learner, TextAnalysis analysis):
        cdef TextParts words
        if learner is None:
            deref(self._ranker).use(NULL, words)
        else:
            deref(self._ranker).use(learner._native.get(), analysis.parts)
        self._learner = learner

    @property
    def answered(self):
        return sum(numbers_in(deref(self._task).counts.rank_request))

    def counts(self):
        return PlainRankings.counts_of(deref(self._task).counts)

    def answer(self, bytes data not None, list default_headers not None):
        cdef string_view whole
        cdef PlainRequest* request = &deref(self._task).request
        if not deref(self._ranker).read_head(view_of(data), deref(request)):
            return None
        if not request.is_whole() or not self._has_room(0):
            return None
        cdef bytes first = self._first_lines(default_headers)
        cdef double now
        try:
            now = self._clock()
            whole = deref(self._ranker).answer(deref(self._task), view_of(first), now)
        except (MemoryError, LearnerHalfChanged):
            return None  # the Python tier meets the same error and reports it
        except Exception:
            logger.exception("a plain ranking failed in native code; the Python tier answers it")
            return None
        if whole.size() == 0:
            return None
        answer = PyBytes_FromStringAndSize(whole.data(), whole.size())
        self._take_place()
        return answer

    def is_begun(self, bytes data not None):
        cdef PlainRequest* request = &deref(self._task).request
        if not deref(self._ranker).read_head(view_of(data), deref(request)):
            return False
        return not request.is_whole() and self._has_room(len(data))

    cdef bint _has_room(self, size_t held) except *:
        """Return whether the limits of the service allow the request, with the buffered bytes."""
        if self._stopping.is_set():
            return False
        if self._places.taken >= self._places.most and self._places.is_full:
            return False
        cdef size_t size = deref(self._task).request.length + held
        return self._budget.fits(size, size)

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
