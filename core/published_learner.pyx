"""The Python interface of the learner that answers, native/published_learner.hpp."""

from cython.operator cimport dereference as deref
from libc.stdint cimport uint64_t

cimport cython

from manyclass.core.calibration cimport Calibration
from manyclass.core.ensemble cimport Ensemble, Vote
from manyclass.core.index cimport Index
from manyclass.core.locking cimport release_gil_while_waiting

release_gil_while_waiting()


@cython.final
cdef class PublishedLearner:
    """The learner of a model that answers, its calibration and the model's seq.

    Ownership: it keeps the learner and the calibration, which are also used directly.
    Threads: any may read `seq`, and rank by the native object; one at a time the rest.
    """

    def __cinit__(self):
        self._native.reset(new NativePublishedLearner())

    def use(self, learner not None, Calibration calibration not None):
        if isinstance(learner, Index):
            deref(self._native).use(
                (<Index>learner)._native.get(), NULL, Vote.majority, calibration._native.get()
            )
            self._ranker = learner
        else:
            self._use_ensemble(learner.ensemble, learner.options.vote, calibration)
        self._calibration = calibration

    cdef _use_ensemble(self, Ensemble ensemble, str vote, Calibration calibration):
        deref(self._native).use(
            NULL, ensemble._native.get(), Ensemble.vote_of(vote), calibration._native.get()
        )
        self._ranker = ensemble

    @property
    def seq(self):
        return deref(self._native).seq()

    @seq.setter
    def seq(self, uint64_t seq):
        deref(self._native).set_seq(seq)
