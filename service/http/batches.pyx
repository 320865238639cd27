"""Batches: POST /rank of many instances, read and answered in native code."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cython.operator cimport dereference as deref
from libc.math cimport INFINITY
from libc.stdint cimport uint32_t, uint64_t
from libcpp cimport bool as cpp_bool
from libcpp.memory cimport unique_ptr
from libcpp.optional cimport optional
from libcpp.string cimport string
from libcpp.string_view cimport string_view
from libcpp.vector cimport vector

cimport cython

from manyclass.core.calibration cimport Calibration, NativeCalibration, Ranked, top_two_of
from manyclass.core.event_parts cimport stored_text
from manyclass.core.learner cimport Learner, RankedBlock
from manyclass.core.instance cimport Instance, bytes_of, feature_count
from manyclass.core.locking cimport release_gil_while_waiting
from manyclass.core.published_learner cimport RankingAsked, asked_limit
from manyclass.core.text cimport TextAnalysis, TextParts
from manyclass.service.http.titles cimport NativeTitles, Titles
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
        double least_accuracy
        double least_probability
        double least_precision
        cpp_bool probabilities
        uint64_t min_seq
        cpp_bool keep
        RankingAsked asked()
    cdef cppclass BatchInstance "manyclass::http::BatchBody::Instance":
        size_t end
        string_view id
        string_view source
        string_view text
    cdef cppclass NativeBody "manyclass::http::BatchBody":
        NativeBody(const TextParts& parts) except +
        bint read(
            string_view data, size_t most_instances, size_t most_features, size_t most_bytes
        ) except +
        const vector[BatchInstance]& instances()
        const string& wire()
        string_view reading()
        const RankOptions& options()
        bint has_signs()
        string_view with_vector()

cdef extern from "service/http/native/batch_answer.hpp" namespace "manyclass::http" nogil:
    cdef cppclass BatchAnswer:
        BatchAnswer(const RankOptions& options, optional[uint64_t] seq) except +
        void begin(const RankedBlock& block, double limit)
        ServedRanking next(uint32_t count, double confidence, const vector[double]& probabilities)
        void append(uint32_t count, string_view id, double confidence,
                    const vector[double]& probabilities, const NativeTitles& titles) except +
        const string& results()
        uint32_t abstained()


@cython.final
cdef class BatchBody:
    """The instances and options of a plain body; native/batch_body.hpp says which are plain."""

    cdef bytes _data  # the native body has views of it
    cdef unique_ptr[NativeBody] _native

    @staticmethod
    def read(bytes data not None, TextAnalysis analysis not None, size_t most_instances,
             size_t most_features, size_t most_bytes):
        cdef string_view text = string_view(PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))
        cdef bint plain
        cdef BatchBody body = BatchBody.__new__(BatchBody)
        body._data = data
        with nogil:
            body._native.reset(new NativeBody(analysis.parts))
            plain = deref(body._native).read(text, most_instances, most_features, most_bytes)
        return body if plain else None

    def __len__(self):
        return deref(self._native).instances().size()

    @property
    def k(self):
        return deref(self._native).options().k

    @property
    def min_seq(self):
        return deref(self._native).options().min_seq

    @property
    def size(self):
        return deref(self._native).wire().size()

    @property
    def has_signs(self):
        return deref(self._native).has_signs()

    @property
    def with_vector(self):
        cdef string_view found = deref(self._native).with_vector()
        if found.empty():
            return None
        wire = PyBytes_FromStringAndSize(found.data(), found.size())
        return Instance.wrap(wire, feature_count(found))


@cython.final
cdef class BatchRankings:
    """The rankings of a request's instances, made in blocks and written as JSON.

    Belongs to the event loop's thread.
    """

    cdef object _owner  # of what the views are of
    cdef uint32_t _k
    cdef RankingAsked _asked
    cdef bint _keep
    cdef size_t _done
    cdef vector[string_view] _wires, _ids
    cdef vector[InstanceNote] _notes
    cdef RankedBlock _block
    cdef unique_ptr[BatchAnswer] _answer

    @staticmethod
    def of_body(BatchBody body not None):
        cdef const NativeBody* native = body._native.get()
        cdef BatchRankings self = BatchRankings.begun(body, native.options(), None)
        cdef string_view wire = string_view(native.wire())
        cdef const BatchInstance* each
        cdef InstanceNote note
        cdef size_t at, begin = 0
        for at in range(native.instances().size()):
            each = &native.instances()[at]
            self._wires.push_back(wire.substr(begin, each.end - begin))
            begin = each.end
            self._ids.push_back(each.id)
            note.source = each.source
            note.reading = native.reading()
            note.text = each.text
            self._notes.push_back(note)
        return self

    @staticmethod
    def of(list instances not None, list ids not None, list notes not None,
           uint32_t k, threshold, min_confidence, min_accuracy=None, min_probability=None,
           min_precision=None, bint probabilities=False, bint keep=True, seq=None):
        cdef RankOptions options
        options.k = k
        options.threshold = -INFINITY if threshold is None else threshold
        options.least_confidence = -1 if min_confidence is None else min_confidence
        options.least_accuracy = -1 if min_accuracy is None else min_accuracy
        options.least_probability = -1 if min_probability is None else min_probability
        options.least_precision = -1 if min_precision is None else min_precision
        options.probabilities = probabilities
        options.keep = keep
        cdef list texts = []  # as they are stored
        cdef bytes stored
        cdef BatchRankings self = BatchRankings.begun((instances, ids, notes, texts), options, seq)
        for instance, given, note in zip(instances, ids, notes, strict=True):
            self._wires.push_back(bytes_of(<Instance?>instance))
            self._ids.push_back(string_view() if given is None else Instance.any_utf8(given))
            source, text, reading = note or (None, None, None)
            stored = stored_text(text, reading)
            texts.append(stored)
            self._notes.push_back(PendingLabels.note_of(source, stored))
        return self

    @staticmethod
    cdef BatchRankings begun(owner, const RankOptions& options, seq):
        cdef optional[uint64_t] number
        if seq is not None:
            number = <uint64_t>seq
        cdef BatchRankings self = BatchRankings.__new__(BatchRankings)
        self._owner = owner
        self._k = max(options.k, 2)  # confidence needs two
        self._asked = options.asked()
        self._keep = options.keep
        self._answer.reset(new BatchAnswer(options, number))
        return self

    @property
    def is_done(self):
        return self._done == self._wires.size()

    @property
    def abstained(self):
        return deref(self._answer).abstained()

    def rank_block(self, enrolled, pending, titles, rank_duration, double seconds):
        cdef size_t ranked
        cdef Learner learner = enrolled.learner
        began = perf_counter()
        learner.rank_block(self._wires, self._done, self._k, seconds, self._block)
        ranked = self._block.counts.size()
        rank_duration.observe((perf_counter() - began) / ranked, ranked)
        self._write(enrolled.calibration, pending, titles)
        self._done += ranked
        cdef const string* results = &deref(self._answer).results()
        return PyBytes_FromStringAndSize(results.data(), results.size())

    cdef _write(self, Calibration calibration, PendingLabels pending, Titles titles):
        """Write the results of the block; each instance that is kept is stored until its label
        comes.
        """
        cdef size_t at, begin = 0
        cdef uint32_t count
        cdef const Ranked* best
        cdef double confidence, now = pending._clock()
        cdef vector[double] probabilities
        cdef string instance_id
        cdef string_view given
        cdef const NativeCalibration* native = calibration._native.get()
        deref(self._answer).begin(self._block, asked_limit(deref(native), self._asked))
        for at in range(self._block.counts.size()):
            count = self._block.counts[at]
            best = self._block.ranked.data() + begin
            begin += count
            if self._asked.probabilities:
                deref(native).probabilities(best, count, probabilities)
            # An outcome may be added between two calls: the first probability is the confidence.
            if probabilities.empty():
                confidence = deref(native).confidence(top_two_of(best, count))
            else:
                confidence = probabilities[0]
            given = self._ids[self._done + at]
            if self._keep:
                deref(pending._native).keep(
                    now, self._wires[self._done + at],
                    deref(self._answer).next(count, confidence, probabilities),
                    self._notes[self._done + at], given, instance_id,
                )
                given = string_view(instance_id)
            deref(self._answer).append(
                count, given, confidence, probabilities, titles._native
            )
