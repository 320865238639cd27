"""The Python interface of the published learner, native/published_learner.hpp."""

from cython.operator cimport dereference as deref
from libc.stdint cimport uint64_t
from libcpp.string_view cimport string_view
from libcpp.vector cimport vector

cimport cython

from manyclass.core.calibration cimport Calibration
from manyclass.core.event cimport Event
from manyclass.core.evidence cimport Evidence
from manyclass.core.learner cimport Learner
from manyclass.core.instance cimport Instance, bytes_of, has_vector, is_signed
from manyclass.core.locking cimport release_gil_while_waiting
from manyclass.core.progressive_validation cimport ProgressiveValidation

from manyclass.core import outcome
from manyclass.core.abilities import within_ability

release_gil_while_waiting()

cdef object tuple_of = tuple.__new__  # takes half the time of a named tuple's own


@cython.final
cdef class PublishedLearner:
    """The primary learner of a model with its calibration, its outcome counts and the model's seq.

    Ownership: it keeps these objects alive; other code uses them directly too.
    Threads: any may read `seq`, and rank by the native object. Other calls: one thread at a time.
    """

    def __cinit__(self):
        self._native.reset(new NativePublishedLearner())

    def use(self, enrolled not None, Evidence evidence not None):
        cdef Learner learner = enrolled.learner
        cdef Calibration calibration = enrolled.calibration
        cdef ProgressiveValidation progress = enrolled.progress
        deref(self._native).use(
            learner._native.get(), calibration._native.get(), progress._counts.get(),
            evidence._native.get(),
        )
        deref(self._native).limit(evidence._limits)
        self._learner, self._label = learner, enrolled.label
        self._kept_alive = (calibration, progress, evidence)

    def learn(self, Event event not None, clock=None):
        cdef vector[string_view] classes, rejected
        cdef string_view source
        cdef Outcome learned
        if self._learner is None or len(self._learner.taxonomy):
            return None
        if event.kind != "learn" or event.parents or not len(event._instance):
            return None
        if is_signed(bytes_of(event._instance)):  # the learner may use none of its values
            return None
        cdef str name_of_source = event.source
        if name_of_source is not None:
            source = Instance.any_utf8(name_of_source)
        if event.rejected or event.weight != 1:
            if has_vector(bytes_of(event._instance)):
                return None  # a vector counts with its weight also if the learner learns none
            event = within_ability(event, self._learner.options)
            if event is None:
                return None
        for name in event.classes:
            classes.push_back(Instance.any_utf8(<str>name))
        for name in event.rejected:
            rejected.push_back(Instance.any_utf8(<str>name))
        cdef string_view instance = bytes_of(event._instance)
        cdef double weight = event.weight
        began = 0.0 if clock is None else clock()
        if has_vector(instance):  # a new factor of the covariance takes milliseconds
            with nogil:
                learned = deref(self._native).learn(instance, classes, rejected, weight, source)
        else:
            learned = deref(self._native).learn(instance, classes, rejected, weight, source)
        seconds = 0.0 if clock is None else clock() - began
        return tuple_of(outcome.Outcome, (
            self.seq, learned.rank or None, learned.updated, self._label, (), seconds
        ))

    @staticmethod
    def has_memory():
        return Reserve.try_refill()

    @property
    def seq(self):
        return deref(self._native).seq()

    @seq.setter
    def seq(self, uint64_t seq):
        deref(self._native).set_seq(seq)
