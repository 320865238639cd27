"""The Python interface of a learner's expected losses, native/taxonomy/expected_loss.hpp."""

from cython.operator cimport dereference as deref
from libc.stdint cimport uint64_t
from libcpp.memory cimport unique_ptr
from libcpp.string_view cimport string_view
from libcpp.vector cimport vector

cimport cython

from manyclass.core.instance cimport Instance
from manyclass.core.locking cimport raise_error, release_gil_while_waiting
from manyclass.core.taxonomy cimport NativeTaxonomy, Taxonomy

import numpy as np

from manyclass.core.errors import SnapshotError
from manyclass.core.sections import runs

release_gil_while_waiting()


cdef extern from "core/native/taxonomy/expected_loss.hpp" namespace "manyclass" nogil:
    const size_t TEMPERATURES "manyclass::ExpectedLoss::TEMPERATURES"
    const size_t MOST "manyclass::ExpectedLoss::CANDIDATES"

    cdef cppclass Sums "std::array<std::uint64_t, manyclass::ExpectedLoss::TEMPERATURES>":
        uint64_t operator[](size_t position)

    cdef cppclass NativeExpectedLoss "manyclass::ExpectedLoss":
        double temperature()
        vector[double] of(const NativeTaxonomy& taxonomy, const vector[string_view]& classes,
                          const vector[double]& scores) except +raise_error
        void add(const NativeTaxonomy& taxonomy, const vector[string_view]& classes,
                 const vector[double]& scores,
                 const vector[string_view]& true_classes) except +raise_error
        const Sums& sums()
        void load(const uint64_t* sums) except +raise_error

CANDIDATES = MOST
SECTIONS = {"expected_loss_sums": "<u8"}


cdef vector[string_view] names_of(list ranked, vector[double]& scores) except *:
    """Return the names of a ranking, valid as long as the list, and its scores."""
    cdef vector[string_view] names
    for name, score in ranked:
        names.push_back(Instance.any_utf8(<str?>name))
        scores.push_back(score)
    return names


@cython.final
cdef class ExpectedLoss:
    """Expected taxonomic losses of ranked classes, by probabilities of a fitted temperature.

    Threads: one at a time; any may call `of` and `temperature`, which read the state with the GIL
    held.
    """

    cdef unique_ptr[NativeExpectedLoss] _native

    def __cinit__(self):
        self._native.reset(new NativeExpectedLoss())

    @property
    def temperature(self):
        return deref(self._native).temperature()

    def of(self, Taxonomy taxonomy not None, list ranked not None):
        cdef vector[double] scores
        cdef vector[string_view] names = names_of(ranked, scores)
        cdef vector[double] losses = deref(self._native).of(
            deref(taxonomy._native), names, scores
        )
        return list(losses)

    def add(self, Taxonomy taxonomy not None, list ranked not None, list classes not None):
        cdef vector[double] scores
        cdef vector[string_view] true_classes
        cdef vector[string_view] names = names_of(ranked, scores)
        if not classes:
            raise ValueError("an outcome needs at least one true class")
        for name in classes:
            true_classes.push_back(Instance.any_utf8(<str?>name))
        deref(self._native).add(deref(taxonomy._native), names, scores, true_classes)

    def dump(self):
        sums = [deref(self._native).sums()[i] for i in range(<Py_ssize_t>TEMPERATURES)]
        return {"expected_loss_sums": np.array(sums, "<u8")} if any(sums) else {}

    @classmethod
    def load(cls, sections):
        cdef ExpectedLoss loss = ExpectedLoss()
        if not SECTIONS.keys() & sections.keys():
            return loss
        array = runs(sections, SECTIONS)["expected_loss_sums"]
        if len(array) != TEMPERATURES:
            raise SnapshotError(f"it has {len(array)} numbers, not {TEMPERATURES}", *SECTIONS)
        cdef const uint64_t[::1] sums = array
        try:
            deref(loss._native).load(&sums[0])
        except ValueError as error:
            section, _, fault = str(error).partition(": ")
            raise SnapshotError(fault, section) from error
        return loss
