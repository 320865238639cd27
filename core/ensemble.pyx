"""The Python interface of an ensemble, core/native/ensemble/ensemble.hpp."""

from cython.operator cimport dereference as deref
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libcpp.memory cimport unique_ptr
from libcpp.string cimport string
from libcpp.string_view cimport string_view
from libcpp.vector cimport vector

cimport cython

from manyclass.core.columns cimport Columns, CsrRows
from manyclass.core.index cimport Engine, Index, Outcome, Ranked, RankedBlock, Seconds
from manyclass.core.instance cimport Instance, as_instance, bytes_of
from manyclass.core.locking cimport release_gil_while_waiting

import numpy as np

from manyclass.core.outcome import Learned

release_gil_while_waiting()

cdef dict VOTES = {
    "majority": <int>Vote.majority,
    "rarest": <int>Vote.rarest,
    "score": <int>Vote.score,
    "probability": <int>Vote.probability,
}


cdef vector[string_view] class_names(list names) except *:
    """Return names as UTF-8, valid as long as the list; InstanceError for a bad one."""
    cdef vector[string_view] encoded
    for name in names:
        encoded.push_back(Instance.utf8(<str?>name, "class", ("classes", name)))
    return encoded


@cython.final
cdef class Ensemble:
    """Indexes that rank by vote and learn the same instances, with an index of their classes.

    Ownership: it keeps the indexes, which are also used directly.
    Threads: any number may rank at once; one at a time may learn. Array calls release the GIL, the
    others while they wait for a lock.
    """

    @staticmethod
    cdef Vote vote_of(str name) except *:
        """Return the native vote of a name."""
        return <Vote><int>VOTES[name]

    def __cinit__(self, Index table not None, members):
        cdef vector[Engine*] engines
        self._table = table
        self._members = tuple(members)
        for member in self._members:
            engines.push_back((<Index?>member)._native.get())
        self._native.reset(new NativeEnsemble(table._native.get(), engines))

    def rank(self, instance not None, str vote not None, uint32_t k=5, threshold=None, among=None):
        cdef Instance given = as_instance(instance)
        cdef double least = -INFINITY if threshold is None else threshold
        cdef vector[Ranked] best
        cdef string names
        cdef list kept
        if among is None:
            deref(self._native).rank(bytes_of(given), Ensemble.vote_of(vote), k, least, best, names)
        else:
            kept = Index.list_of_names(among)
            deref(self._native).rank_among(
                bytes_of(given), Index.names_of(kept), Ensemble.vote_of(vote), k, least, best, names
            )
        return Index.with_names(best, names)

    cdef rank_block(self, const vector[string_view]& instances, size_t begin, str vote, uint32_t k,
                    double seconds, RankedBlock& block):
        """Rank instances in order, from `begin` on, for so many seconds and at least one."""
        cdef Vote counted = Ensemble.vote_of(vote)
        with nogil:
            deref(self._native).rank_block(instances, begin, counted, k, Seconds(seconds), block)

    def spans(self, instance not None):
        cdef Instance given = as_instance(instance)
        cdef vector[double] found
        deref(self._native).spans(bytes_of(given), found)
        return list(found)

    def learn(self, instance not None, list classes not None, list rejected not None,
              double weight, bint is_first_epoch, str vote not None, uint32_t deepest,
              takes not None):
        cdef Instance given = as_instance(instance)
        cdef vector[string_view] names = class_names(classes), wrong = class_names(rejected)
        cdef vector[uint8_t] taken = [bool(each) for each in takes]
        cdef vector[int32_t] places
        cdef Outcome outcome
        if taken.size() != deref(self._native).members():
            raise ValueError("takes must have a flag for each member")
        places.resize(taken.size())
        outcome = deref(self._native).learn(
            bytes_of(given), names, wrong, <float>weight, is_first_epoch, Ensemble.vote_of(vote),
            deepest, taken.data(), places.data()
        )
        learned = Learned(
            outcome.rank, outcome.updated, outcome.top_two.first, outcome.top_two.second
        )
        return learned, list(places)

    def rank_csr(self, Columns features not None, const int64_t[::1] indptr not None,
                 const int32_t[::1] indices not None, const float[::1] values not None,
                 str vote not None, uint32_t k=5):
        cdef CsrRows rows = features.rows(indptr, indices, values)
        cdef Vote counted = Ensemble.vote_of(vote)
        cdef unique_ptr[RowsOfParts] parts
        parts.reset(new RowsOfParts(rows, 1 + deref(self._native).members()))
        ids = np.empty((rows.count, k), np.int32)
        scores = np.empty((rows.count, k), np.float64)
        cdef int32_t[:, ::1] id_view = ids
        cdef double[:, ::1] score_view = scores
        if rows.count and k:
            with nogil:
                deref(self._native).rank_csr(
                    deref(parts), counted, k, &id_view[0, 0], &score_view[0, 0]
                )
        return ids, scores

    def learn_csr(self, Columns features not None, const int64_t[::1] indptr not None,
                  const int32_t[::1] indices not None, const float[::1] values not None,
                  Columns classes not None, const int64_t[::1] class_indptr not None,
                  const int32_t[::1] class_indices not None, const float[::1] weights,
                  bint is_first_epoch, str vote not None, uint32_t deepest,
                  const uint8_t[:, ::1] takes not None, double[:, ::1] top_two not None):
        cdef CsrRows rows = features.rows(indptr, indices, values)
        cdef CsrRows labels = classes.true_classes(rows, class_indptr, class_indices)
        cdef Vote counted = Ensemble.vote_of(vote)
        cdef size_t members = deref(self._native).members()
        cdef unique_ptr[LabelledRows] given
        cdef int64_t row
        cdef Outcome outcome
        if takes.shape[0] != rows.count or <size_t>takes.shape[1] != members:
            raise ValueError("takes must have a flag for each row and member")
        if top_two.shape[0] != rows.count or top_two.shape[1] != 2:
            raise ValueError(f"top_two must have the shape ({rows.count}, 2)")
        ranks = np.empty(rows.count, np.int32)
        places = np.empty((rows.count, members), np.int32)
        cdef int32_t[::1] rank_view = ranks
        cdef int32_t[:, ::1] place_view = places
        given.reset(new LabelledRows(rows, labels, 1 + members))
        with nogil:
            for row in range(rows.count):
                outcome = deref(self._native).learn_csr(
                    deref(given), row, 1 if weights is None else weights[row], is_first_epoch,
                    counted, deepest, &takes[row, 0], &place_view[row, 0]
                )
                rank_view[row] = <int32_t>outcome.rank
                top_two[row, 0] = outcome.top_two.first
                top_two[row, 1] = outcome.top_two.second
        return ranks, places
