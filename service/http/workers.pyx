"""Workers: threads that answer plain requests on connections of their own."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from cython.operator cimport dereference as deref
from libc.stdint cimport uint64_t
from libcpp.memory cimport unique_ptr
from libcpp.string cimport string
from libcpp.utility cimport move
from libcpp.vector cimport vector

cimport cython

from manyclass.core.event_batch cimport EventBatch, NativeEventBatch
from manyclass.core.locking cimport release_gil_while_waiting
from manyclass.service.http.plain_events cimport (
    LearnAnswer,
    PlainEvent,
    PlainEvents,
    PlainLearner,
    answer_in,
    answer_of,
)
from manyclass.service.http.plain_rankings cimport PlainCounts, PlainRanker, PlainRankings

import os

from manyclass.service.observability import metrics


cdef extern from "service/http/native/worker_pool.hpp" namespace "manyclass::http" nogil:
    cdef cppclass Handed:
        int fd
        string received
        string unsent

    cdef cppclass Handover:
        Handover() except +
        int fd()
        vector[Handed] take() except +

    cdef cppclass Asker:
        size_t worker
        void* connection

    cdef cppclass QueuedPart:
        NativeEventBatch batch
        PlainEvent alone

    cdef cppclass QueuedEvents:
        vector[QueuedPart] parts
        vector[Asker] askers

    cdef cppclass LearnQueue:
        LearnQueue() except +
        int fd()
        QueuedEvents take()
        void open()
        void close()

    cdef cppclass WorkerLimits:
        size_t most_connections
        double keep_alive_seconds
        double quiet_seconds

    cdef cppclass ConnectionCounts:
        ConnectionCounts() except +
        size_t workers
        size_t moving
        size_t loop
        uint64_t closed_idle
        void note_taken_over()

    cdef cppclass WorkerParts:
        WorkerParts(const PlainRanker& ranker, const PlainLearner& learner, LearnQueue& queue,
                    Handover& handover, ConnectionCounts& counts, WorkerLimits limits,
                    vector[int] listeners)

    cdef cppclass WorkerPool:
        WorkerPool(size_t workers, const WorkerParts& parts, const vector[double]& ranking_bounds,
                   const vector[double]& request_bounds) except +
        void start() except +
        void give(int fd) except +
        void answer(size_t worker, vector[LearnAnswer] answers) except +
        bint close_idle()
        void stop()
        size_t size()
        const PlainCounts& counts(size_t worker)


release_gil_while_waiting()


cdef bytes bytes_in(const string& text):
    return PyBytes_FromStringAndSize(text.data(), text.size())


@cython.final
cdef class TakenEvents:
    """Events that workers have read; their connections wait for the answers."""

    cdef Workers _workers
    cdef vector[Asker] _askers
    cdef vector[QueuedPart] _parts

    def __len__(self):
        return self._askers.size()

    def parts(self):
        cdef vector[QueuedPart] queued
        cdef EventBatch batch
        cdef list parts = []
        queued.swap(self._parts)
        for i in range(queued.size()):
            if queued[i].alone.is_alone():
                parts.append(PlainEvents.made_of(queued[i].alone))
            else:
                batch = EventBatch()
                batch._native = move(queued[i].batch)
                parts.append(batch)
        return parts

    def answer_batch(self, size_t first, EventBatch batch not None):
        cdef vector[LearnAnswer] answers
        answers.resize(batch._native.learned())
        for i in range(answers.size()):
            answers[i] = answer_in(batch, i)
        self._send(first, answers)

    def answer(self, size_t first, list results not None):
        cdef vector[LearnAnswer] answers
        answers.resize(len(results))
        for i in range(answers.size()):
            answers[i] = answer_of(results[i])
        self._send(first, answers)

    def refuse(self, size_t first, list refusals not None):
        cdef vector[LearnAnswer] answers
        answers.resize(len(refusals))
        for i in range(answers.size()):
            answers[i].refusal = refusals[i]
        self._send(first, answers)

    cdef _send(self, size_t first, vector[LearnAnswer]& answers):
        """Let each worker send the answers to its connections."""
        cdef vector[vector[LearnAnswer]] parts
        cdef Asker asker
        if first + answers.size() > self._askers.size():
            raise ValueError("there are more answers than events")
        parts.resize(deref(self._workers._pool).size())
        for i in range(answers.size()):
            asker = self._askers[first + i]
            answers[i].connection = asker.connection
            parts[asker.worker].push_back(answers[i])
        for worker in range(parts.size()):
            if parts[worker].size() > 0:
                deref(self._workers._pool).answer(worker, parts[worker])


@cython.final
cdef class Workers:
    """Threads that answer plain requests and hand all other connections over to the event loop.

    Ownership: this object keeps the rankings and the events alive; the threads own their
    connections until they hand them over.
    Threads: all methods belong to the event loop's thread.
    """

    # Declared in the order of construction, because the pool refers to the others.
    cdef PlainRankings _rankings
    cdef PlainEvents _events
    cdef unique_ptr[Handover] _handover
    cdef unique_ptr[LearnQueue] _queue
    cdef unique_ptr[ConnectionCounts] _connections
    cdef unique_ptr[WorkerPool] _pool
    cdef bint _is_running

    def __cinit__(self, PlainRankings rankings not None, PlainEvents events not None):
        self._rankings = rankings
        self._events = events
        self._handover.reset(new Handover())
        self._queue.reset(new LearnQueue())
        self._connections.reset(new ConnectionCounts())

    def __dealloc__(self):
        with nogil:
            self._pool.reset()

    def start(self, size_t workers, listeners, size_t most_connections, double keep_alive_seconds,
              double quiet_seconds):
        cdef WorkerLimits limits
        cdef vector[int] listening
        limits.most_connections = most_connections
        limits.keep_alive_seconds = keep_alive_seconds
        limits.quiet_seconds = quiet_seconds
        for listener in listeners:
            listening.push_back(os.dup(listener.fileno()))
        self._pool.reset(new WorkerPool(
            workers,
            WorkerParts(
                deref(self._rankings._ranker), deref(self._events._learner), deref(self._queue),
                deref(self._handover), deref(self._connections), limits, listening,
            ),
            metrics.FAST_SECONDS, metrics.REQUEST_SECONDS,
        ))
        deref(self._pool).start()
        self._is_running = True

    def give(self, connection not None):
        cdef int descriptor = os.dup(connection.fileno())
        try:
            deref(self._pool).give(descriptor)
        except MemoryError:
            os.close(descriptor)
            raise

    @property
    def running(self):
        return self._is_running

    def stop(self):
        self._is_running = False
        if self._pool:
            with nogil:
                deref(self._pool).stop()

    def fileno(self):
        return deref(self._handover).fd()

    def handed_over(self):
        cdef vector[Handed] taken = deref(self._handover).take()
        return [
            (taken[i].fd, bytes_in(taken[i].received), bytes_in(taken[i].unsent))
            for i in range(taken.size())
        ]

    def learn_fileno(self):
        return deref(self._queue).fd()

    def set_learning(self, bint learns):
        if learns:
            deref(self._queue).open()
        else:
            deref(self._queue).close()

    def taken_events(self):
        cdef TakenEvents taken = TakenEvents.__new__(TakenEvents)
        cdef QueuedEvents queued = deref(self._queue).take()
        taken._workers = self
        taken._askers.swap(queued.askers)
        taken._parts.swap(queued.parts)
        return taken

    @property
    def connections(self):
        return deref(self._connections).workers + deref(self._connections).moving

    @property
    def closed_idle(self):
        return deref(self._connections).closed_idle

    def note_connections(self, size_t count):
        deref(self._connections).loop = count

    def note_taken_over(self):
        deref(self._connections).note_taken_over()

    def close_idle(self):
        if not self._pool:
            return False
        return deref(self._pool).close_idle()

    def counts(self):
        if not self._pool:
            return []
        return [
            PlainRankings.counts_of(deref(self._pool).counts(i))
            for i in range(deref(self._pool).size())
        ]
