"""The Python interface of the evidence beside a learner, native/beside/evidence.hpp."""

from cython.operator cimport dereference as deref
from libc.stdint cimport uint64_t
from libcpp.memory cimport make_shared
from libcpp.string_view cimport string_view
from libcpp.vector cimport vector

cimport cython

from manyclass.core.event cimport Event
from manyclass.core.instance cimport Instance, bytes_of, has_vector
from manyclass.core.locking cimport release_gil_while_waiting
from manyclass.core.taxonomy cimport Section

import numpy as np

from manyclass.core.errors import SAME_MODEL, InstanceError, SnapshotError
from manyclass.core.sections import runs

release_gil_while_waiting()

SECTIONS = {
    "vector_facts": "<u8",
    "vector_class_name_sizes": "<u2",
    "vector_class_names": "u1",
    "vector_class_counts": "<u8",
    "vector_class_older": "<u8",
    "vector_class_sums": "<u8",
    "vector_products": "<u8",
    "vector_mean": "<f4",
    "vector_factor": "<f4",
}
# The mean and the factor are computed from the sums from time to time; facts and older have numbers
# of events.
NOT_SUMS = ("vector_facts", "vector_class_older", "vector_mean", "vector_factor")
SUMS = tuple(name for name in SECTIONS if name not in NOT_SUMS)


cdef vector[string_view] views_of(list names) except *:
    """Return names as UTF-8, valid as long as the list lives."""
    cdef vector[string_view] views
    for name in names:
        views.push_back(Instance.any_utf8(<str?>name))
    return views


@cython.final
cdef class Evidence:
    """The descriptions of the classes of a model, and sums of the vectors of past events.

    Threads: any number may rank by it. One changes it; `learn` releases the GIL.
    """

    def __cinit__(self, uint64_t hash_seed=0):
        self._native = make_shared[NativeEvidence](hash_seed)

    def limit(self, uint64_t classes, uint64_t size):
        self._limits.classes, self._limits.bytes = classes, size

    def __bool__(self):
        return deref(self._native).concerns_any()

    def __contains__(self, str name not None):
        return deref(self._native).has(Instance.any_utf8(name))

    @property
    def dimension(self):
        return deref(self._native).dimension()

    def check(self, Instance instance not None):
        cdef size_t known = deref(self._native).dimension()
        if known and instance.has_vector and instance.dimension != known:
            raise InstanceError(
                f"the vector has {instance.dimension} numbers; all before have {known}:"
                f" {SAME_MODEL}",
                ("vector",),
            )

    def describe(self, str name not None, Instance instance not None, uint64_t since=0):
        deref(self._native).describe(Instance.any_utf8(name), bytes_of(instance), since)

    def learn(self, Event event not None, uint64_t seq):
        self.add(event, seq, seq)

    cdef add(self, Event event, uint64_t seq, uint64_t of):
        if not has_vector(bytes_of(event._instance)):
            return
        cdef string_view instance = bytes_of(event._instance)
        cdef vector[string_view] classes = views_of(event.classes)
        cdef double weight = event.weight
        with nogil:
            deref(self._native).learn(instance, classes, weight, seq, of, self._limits)

    def amend(self, Event event not None, uint64_t seq):
        if not has_vector(bytes_of(event._instance)):
            return
        cdef vector[string_view] replaced = views_of(event.replaced)
        deref(self._native).take_back(
            bytes_of(event._instance), replaced, event.weight, event.target
        )
        if not event.classes:
            deref(self._native).expire()
        self.add(event, seq, event.target)

    def forget(self, str name not None):
        deref(self._native).forget(Instance.any_utf8(name))

    def rename(self, str name not None, str to not None):
        deref(self._native).rename(Instance.any_utf8(name), Instance.any_utf8(to))

    def sizes(self):
        cdef EvidenceSizes found = deref(self._native).sizes()
        return {
            "described": found.described,
            "classes": found.classes,
            "events": found.events,
            "dimension": found.dimension,
            "bytes": found.bytes,
        }

    @property
    def bytes_of_descriptions(self):
        return deref(self._native).bytes_of_descriptions()

    def events_of(self, str name not None):
        return deref(self._native).events_of(Instance.any_utf8(name))

    @property
    def resident_bytes(self):
        return deref(self._native).resident_bytes()

    def dump(self):
        cdef vector[Section] sections = deref(self._native).measure()
        arrays = {}
        for i in range(sections.size()):
            array = np.empty(sections[i].size, "<" + sections[i].type.decode())
            arrays[sections[i].name.decode()] = array
            sections[i].data = <void*><size_t>array.ctypes.data
        deref(self._native).dump(sections)
        return arrays

    @classmethod
    def load(cls, sections, uint64_t hash_seed=0):
        cdef Evidence evidence = Evidence(hash_seed)
        if not any(name in SECTIONS for name in sections):
            return evidence
        cdef vector[Section] native
        arrays = runs(sections, SECTIONS)
        native.resize(len(SECTIONS))
        for i, array in enumerate(arrays.values()):
            native[i].size = len(array)
            native[i].data = <void*><size_t>array.ctypes.data
        try:
            deref(evidence._native).load(native)
        except ValueError as error:
            section, _, fault = str(error).partition(": ")
            raise SnapshotError(fault, section) from error
        return evidence
