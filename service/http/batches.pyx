"""Batches: POST /rank of many instances, read and answered in native code."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cython.operator cimport dereference as deref
from libc.math cimport INFINITY
from libc.stdint cimport uint32_t, uint64_t
from libcpp.memory cimport unique_ptr
from libcpp.string cimport string
from libcpp.string_view cimport string_view
from libcpp.vector cimport vector

cimport cython

from manyclass.core.calibration cimport Calibration, TopTwoScores
from manyclass.core.ensemble cimport Ensemble
from manyclass.core.index cimport Index, RankedBlock
from manyclass.core.instance cimport Instance, bytes_of, text_of
from manyclass.core.locking cimport release_gil_while_waiting
from manyclass.service.ingest.pending_labels cimport (
    InstanceNote,
    PendingLabels,
    ServedRanking,
)

from time import perf_counter

release_gil_while_waiting()


cdef extern from "service/http/native/batch_body.hpp" namespace "manyclass::http" nogil:
    cdef cppclass RankOptions:
        uint32_t k
        double threshold
        double least_confidence
        uint64_t min_seq
    cdef cppclass BatchInstance "manyclass::http::BatchBody::Instance":
        size_t end
        uint32_t features
        string_view id
        string_view source
    cdef cppclass NativeBody "manyclass::http::BatchBody":
        NativeBody() except +
        bint read(string_view data, size_t most_instances, size_t most_features) except +
        const vector[BatchInstance]& instances()
        const string& wire()
        const RankOptions& options()

cdef extern from "service/http/native/batch_answer.hpp" namespace "manyclass::http" nogil:
    cdef cppclass BatchAnswer:
        BatchAnswer(const RankOptions& options) except +
        void begin(const RankedBlock& block)
        ServedRanking next(uint32_t count, double confidence)
        void append(uint32_t count, string_view id, double confidence) except +
        const string& results()
        uint32_t abstained()


@cython.final
cdef class BatchBody:
    """The instances and options of a plain body; native/batch_body.hpp says which are plain."""

    cdef readonly list instances
    cdef readonly list ids
    cdef readonly list notes
    cdef readonly uint32_t k
    cdef readonly object threshold
    cdef readonly object min_confidence
    cdef readonly uint64_t min_seq

    @staticmethod
    def read(bytes data not None, size_t most_instances, size_t most_features):
        cdef string_view text = string_view(PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))
        cdef bint plain
        cdef unique_ptr[NativeBody] native
        with nogil:
            native.reset(new NativeBody())
            plain = deref(native).read(text, most_instances, most_features)
        return BatchBody.of(deref(native)) if plain else None

    @staticmethod
    cdef BatchBody of(const NativeBody& native):
        cdef BatchBody body = BatchBody.__new__(BatchBody)
        cdef const char* wire = native.wire().data()
        cdef size_t begin = 0
        cdef BatchInstance each
        cdef size_t at
        body.instances = []
        body.ids = []
        body.notes = []
        for at in range(native.instances().size()):
            each = native.instances()[at]
            instance = PyBytes_FromStringAndSize(wire + begin, each.end - begin)
            body.instances.append(Instance.wrap(instance, each.features))
            begin = each.end
            body.ids.append(text_of(each.id) if each.id.size() else None)
            body.notes.append((text_of(each.source), None) if each.source.size() else None)
        cdef const RankOptions* options = &native.options()
        body.k = options.k
        body.threshold = None if options.threshold == -INFINITY else options.threshold
        body.min_confidence = None if options.least_confidence < 0 else options.least_confidence
        body.min_seq = options.min_seq
        return body


@cython.final
cdef class BatchRankings:
    """Ranks the instances of a request in blocks, and writes their results as JSON.

    Belongs to the event loop's thread.
    """

    cdef list _instances, _ids, _notes
    cdef uint32_t _k
    cdef size_t _done
    cdef vector[string_view] _wires
    cdef RankedBlock _block
    cdef unique_ptr[BatchAnswer] _answer

    def __cinit__(self, list instances not None, list ids not None, list notes not None,
                  uint32_t k, threshold, min_confidence):
        self._instances = instances
        self._ids = ids
        self._notes = notes
        self._k = max(k, 2)  # confidence needs two
        for instance in instances:
            self._wires.push_back(bytes_of(<Instance?>instance))
        cdef RankOptions options
        options.k = k
        options.threshold = -INFINITY if threshold is None else threshold
        options.least_confidence = -1 if min_confidence is None else min_confidence
        self._answer.reset(new BatchAnswer(options))

    @property
    def is_done(self):
        return self._done == self._wires.size()

    @property
    def abstained(self):
        return deref(self._answer).abstained()

    def rank_block(self, enrolled, pending, rank_duration, double seconds):
        cdef size_t ranked
        began = perf_counter()
        self._rank(enrolled.learner, seconds)
        ranked = self._block.counts.size()
        rank_duration.observe((perf_counter() - began) / ranked, ranked)
        self._write(enrolled.calibration, pending)
        self._done += ranked
        cdef const string* results = &deref(self._answer).results()
        return PyBytes_FromStringAndSize(results.data(), results.size())

    cdef _rank(self, learner, double seconds):
        if type(learner) is Index:
            (<Index>learner).rank_block(self._wires, self._done, self._k, seconds, self._block)
        else:
            (<Ensemble?>learner.ensemble).rank_block(
                self._wires, self._done, learner.options.vote, self._k, seconds, self._block
            )

    cdef _write(self, Calibration calibration, PendingLabels pending):
        """Write the results of the block; each instance is stored until its label comes."""
        cdef size_t at, begin = 0
        cdef uint32_t count
        cdef TopTwoScores top_two
        cdef double confidence, now = pending._clock()
        cdef string_view given
        cdef InstanceNote note
        cdef string instance_id
        deref(self._answer).begin(self._block)
        for at in range(self._block.counts.size()):
            count = self._block.counts[at]
            top_two.first = self._block.ranked[begin].score if count > 0 else 0
            top_two.second = self._block.ranked[begin + 1].score if count > 1 else 0
            begin += count
            confidence = deref(calibration._native).confidence(top_two)  # negative: unknown
            given_id = self._ids[self._done + at]
            given = Instance.any_utf8(given_id) if given_id is not None else string_view()
            source, text = self._notes[self._done + at] or (None, None)
            note = PendingLabels.note_of(source, text)
            deref(pending._native).keep(
                now, self._wires[self._done + at], deref(self._answer).next(count, confidence),
                note, given, instance_id,
            )
            deref(self._answer).append(count, string_view(instance_id), confidence)
