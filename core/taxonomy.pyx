"""The Python interface of the taxonomy, core/native/taxonomy/taxonomy.hpp."""

from cython.operator cimport dereference as deref
from libc.stdint cimport uint64_t
from libcpp.memory cimport make_shared
from libcpp.string cimport string
from libcpp.string_view cimport string_view
from libcpp.vector cimport vector

cimport cython

from manyclass.core.instance cimport Instance
from manyclass.core.locking cimport release_gil_while_waiting

import numpy as np

from manyclass.core.errors import SnapshotError, UnknownName
from manyclass.core.sections import runs

release_gil_while_waiting()

LONGEST_PATH = DEEPEST
MOST_PLACED = MOST_NODES
LARGEST_NAMES = MOST_NAME_BYTES
SECTIONS = {
    "taxonomy_name_sizes": "<u2",
    "taxonomy_names": "u1",
    "taxonomy_free": "<u4",
    "taxonomy_parents": "<u4",
    "taxonomy_before": "<u4",
    "taxonomy_classes": "u1",
}


cdef string_view optional(str name) except *:
    """Return a name as UTF-8, valid as long as the name lives; empty for None."""
    cdef string_view root
    return root if name is None else Instance.any_utf8(name)


cdef list decoded(const vector[string]& names):
    return [names[i].decode("utf-8") for i in range(names.size())]


@cython.final
cdef class Taxonomy:
    """The tree of a model's classes.

    Threads: any number may read at once. One changes it; a change waits for the readers under way.
    """

    def __cinit__(self, uint64_t hash_seed=0):
        self._native = make_shared[NativeTaxonomy](hash_seed)

    def __len__(self):
        return deref(self._native).count()

    def __contains__(self, str name not None):
        return deref(self._native).has(Instance.any_utf8(name))

    def is_class(self, str name not None):
        return deref(self._native).is_class(Instance.any_utf8(name))

    def parent(self, str name not None):
        cdef string found = deref(self._native).parent(Instance.any_utf8(name))
        return found.decode("utf-8") if found.size() else None

    def path(self, str name not None):
        return decoded(deref(self._native).path(Instance.any_utf8(name)))

    def children(self, str name, str after=None, size_t limit=100):
        cdef vector[string] names
        if name == "":
            raise UnknownName("class", name)
        if not deref(self._native).children(optional(name), optional(after), limit, names):
            raise UnknownName("class", name if after is None else after)
        return decoded(names)

    def height(self, str name not None):
        return deref(self._native).height(Instance.any_utf8(name))

    def distance(self, str one, str other):
        return deref(self._native).distance(optional(one), optional(other))

    @property
    def name_bytes(self):
        return deref(self._native).name_bytes()

    @property
    def resident_bytes(self):
        return deref(self._native).resident_bytes()

    def place(self, str name not None, str parent=None, bint moves=False):
        cdef string_view child = Instance.utf8(name, "class", ("parents",))
        cdef string_view above
        if parent is not None:
            above = Instance.utf8(parent, "parent", ("parents", name))
        return decoded(deref(self._native).place(child, above, moves))

    def note_classes(self, list names not None):
        cdef vector[string_view] native
        for name in names:
            native.push_back(Instance.any_utf8(<str?>name))
        return decoded(deref(self._native).note_classes(native))

    def rename(self, str name not None, str to not None):
        cdef string_view old = Instance.any_utf8(name), new = Instance.utf8(to, "class", ())
        return deref(self._native).rename(old, new)

    def forget(self, str name not None):
        return decoded(deref(self._native).forget(Instance.any_utf8(name)))

    def dump(self):
        cdef vector[Section] sections = deref(self._native).measure()
        arrays = {}
        for i in range(sections.size()):
            array = np.zeros(sections[i].size, "<" + sections[i].type.decode())
            arrays[sections[i].name.decode()] = array
            sections[i].data = <void*><size_t>array.ctypes.data
        deref(self._native).dump(sections)
        del arrays["counts"]  # of engines
        is_empty = all(len(array) == 0 for array in arrays.values())
        return {} if is_empty else arrays

    @classmethod
    def load(cls, sections, uint64_t hash_seed=0):
        cdef Taxonomy taxonomy = Taxonomy(hash_seed)
        if not any(name in SECTIONS for name in sections):
            return taxonomy
        arrays = runs(sections, SECTIONS)
        cdef vector[Section] native = deref(taxonomy._native).measure()
        for i in range(native.size()):
            array = arrays.setdefault(native[i].name.decode(), np.zeros(native[i].size, "<u8"))
            native[i].size = len(array)
            native[i].data = <void*><size_t>array.ctypes.data
        try:
            deref(taxonomy._native).load(native)
        except ValueError as error:
            section, _, fault = str(error).partition(": ")
            raise SnapshotError(fault, section) from error
        return taxonomy
