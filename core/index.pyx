"""The Python interface of the sparse index, core/native/engine.hpp."""

from cython.operator cimport dereference as deref
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy
from libcpp.string cimport string
from libcpp.string_view cimport string_view
from libcpp.utility cimport pair
from libcpp.vector cimport vector

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.unicode cimport PyUnicode_AsUTF8AndSize, PyUnicode_DecodeUTF8

cimport cython

from manyclass.core.event cimport Event, Instance

from typing import NamedTuple

import numpy as np

from manyclass.core.errors import InstanceError, OptionError, SnapshotError, UnknownName
from manyclass.core.learned import NOTHING_LEARNED, Learned
from manyclass.core.sections import run, runs


cdef extern from *:
    """
    // While a thread waits for the lock of an index it does not hold the GIL (fair_mutex.hpp).
    static void* release_gil() { return PyGILState_Check() ? PyEval_SaveThread() : nullptr; }
    static void restore_gil(void* state) {
        PyEval_RestoreThread(static_cast<PyThreadState*>(state));
    }
    static void release_gil_while_waiting() {
        manyclass::Interpreter::release = release_gil;
        manyclass::Interpreter::restore = restore_gil;
    }
    """
    void release_gil_while_waiting()

release_gil_while_waiting()

# The arrays of every dumped state, in the order of writing. Arrays that a learner does not use are
# empty. An array with another name is declared by the learner that has it, and comes after these.
cdef dict SECTIONS = {
    "counts": np.dtype("<u8"),
    "feature_name_sizes": np.dtype("<u2"),
    "feature_names": np.dtype("u1"),
    "feature_free": np.dtype("<u4"),
    "feature_mass": np.dtype("<f8"),
    "feature_times_seen": np.dtype("<u4"),
    "feature_last_seen": np.dtype("<u4"),
    "outdegrees": np.dtype("<u2"),
    "edge_classes": np.dtype("<u4"),
    "edge_masses": np.dtype("<f4"),
    "edge_variances": np.dtype("<f4"),
    "class_name_sizes": np.dtype("<u2"),
    "class_names": np.dtype("u1"),
    "class_free": np.dtype("<u4"),
    "class_retired": np.dtype("<u4"),
    "class_learned": np.dtype("<u8"),
    "class_born": np.dtype("<u8"),
    "class_last_learned": np.dtype("<u4"),
    "kept_features": np.dtype("<u4"),
    "kept_true": np.dtype("<u4"),
    "kept_demanded": np.dtype("<u4"),
    "kept_feature_ids": np.dtype("<u4"),
    "kept_feature_values": np.dtype("<f4"),
    "kept_class_ids": np.dtype("<u4"),
    "kept_demands_ahead": np.dtype("<u4"),
    "kept_demands_behind": np.dtype("<u4"),
    "kept_demands_multiplier": np.dtype("<f4"),
    "node_kinds": np.dtype("u1"),
    "node_children": np.dtype("<u4"),
    "node_blocks": np.dtype("<u4"),
    "node_free": np.dtype("<u4"),
    "children_ids": np.dtype("<u4"),
    "block_features": np.dtype("<u4"),
    "block_weights": np.dtype("<u4"),
    "tree_weights": np.dtype("<f4"),
    "tree_squares": np.dtype("<f4"),
    "class_turns": np.dtype("<u8"),
}

# Prefixes of the names of arrays that a state of an older release may lack.
cdef tuple ADDED_LATER = (
    "kept_", "edge_variances", "class_retired",
    "node_", "children_ids", "block_", "tree_", "class_turns",
)


cdef string_view any_utf8(str text) except *:
    """Return any text as UTF-8, valid as long as the text."""
    cdef Py_ssize_t size
    cdef const char* data
    try:
        data = PyUnicode_AsUTF8AndSize(text, &size)
    except UnicodeEncodeError:
        raise InstanceError(f"not valid Unicode: {ascii(text)}") from None
    return string_view(data, size)


cdef Instance as_instance(object given):
    return <Instance>given if type(given) is Instance else Instance(given)


cdef list weighted(const vector[pair[string, double]]& pairs):
    return [(pairs[i].first.decode("utf-8"), pairs[i].second) for i in range(pairs.size())]


cdef OptionValues native(object options) except *:
    """Return the options that the engine reads for this learner, by name."""
    cdef OptionValues values
    cdef bytes learner = options.learner.encode()
    cdef vector[string] names = Engine.option_names(learner)
    if names.empty():
        raise OptionError("learner", f"{options.learner!r} is not an index learner")
    for name in names:
        value = getattr(options, name.decode())
        if isinstance(value, bool):
            values.set_flag(name, value)
        elif isinstance(value, int):
            values.set_count(name, value)
        elif isinstance(value, float):
            values.set_number(name, value)
        else:
            values.set_word(name, value.encode())
    return values


@cython.final
cdef class Columns:
    """The names of the columns of CSR arrays, and their ids in an index, looked up once.

    Threads: several may rank with the same columns at once. The ids are kept for one index at a
    time; turning to another looks them up anew.
    """

    def __cinit__(self, names):
        cdef string joined
        cdef vector[uint64_t] ends
        cdef string_view encoded
        cdef set unique = set()
        for column, name in enumerate(names):
            encoded = Instance.utf8(<str?>name, "column", (column,))
            if name in unique:
                raise InstanceError(f"two columns are named {name!r}", (column,))
            unique.add(name)
            joined.append(encoded.data(), encoded.size())
            ends.push_back(joined.size())
        self._native.reset(new NativeColumns(joined, ends))

    def __len__(self):
        return deref(self._native).size()

    def __getitem__(self, size_t column):
        if column >= deref(self._native).size():
            raise IndexError(f"there is no column {column}")
        cdef string_view name = deref(self._native).name(column)
        return PyUnicode_DecodeUTF8(name.data(), name.size(), NULL)


cdef void check_rows(Py_ssize_t columns, const int64_t[::1] indptr, const int32_t[::1] indices,
                     const float[::1] values) except *:
    """Raise ValueError unless the arrays are CSR with unique columns in a row and finite values."""
    cdef Py_ssize_t row, rows = indptr.shape[0] - 1
    cdef int64_t at
    cdef int32_t column
    cdef int32_t[::1] last_row
    cdef const char* fault = NULL
    if rows < 0 or indptr[0] != 0 or indptr[rows] != indices.shape[0]:
        raise ValueError("indptr must run from 0 to the number of indices")
    if values.shape[0] != indices.shape[0]:
        raise ValueError("values and indices must have the same length")
    last_row = np.full(columns, -1, np.int32)
    with nogil:
        for row in range(rows):
            if indptr[row] > indptr[row + 1] or indptr[row + 1] > indices.shape[0]:
                fault = "indptr must not fall"
                break
            for at in range(indptr[row], indptr[row + 1]):
                column = indices[at]
                if column < 0 or column >= columns:
                    fault = "an index is not the number of a column"
                elif last_row[column] == row:
                    fault = "a column stands twice in one row"
                elif not (values[at] <= MOST):
                    fault = "a value is not a finite number up to LARGEST_VALUE"
                else:
                    last_row[column] = <int32_t>row
                    continue
                break
            if fault != NULL:
                break
    if fault != NULL:
        raise ValueError(f"row {row}: {fault.decode()}")


cdef void check_labelled(Columns features, const int64_t[::1] indptr, const int32_t[::1] indices,
                         const float[::1] values, Columns classes,
                         const int64_t[::1] class_indptr,
                         const int32_t[::1] class_indices) except *:
    """Raise ValueError unless these are rows of instances, each with a true class."""
    check_rows(len(features), indptr, indices, values)
    check_rows(len(classes), class_indptr, class_indices,
               np.ones(class_indices.shape[0], np.float32))
    cdef int64_t row, rows = indptr.shape[0] - 1
    if class_indptr.shape[0] - 1 != rows:
        raise ValueError("there must be as many rows of classes as of features")
    if classes is features:
        raise ValueError("features and classes need columns of their own, equal or not")
    for row in range(rows):
        if class_indptr[row] == class_indptr[row + 1]:
            raise ValueError(f"row {row} has no true class")


class Node(NamedTuple):
    """A node on the path to a class in a label tree.

    `classes` counts the classes below it, `probability` is that of the node given the node above,
    `moved` holds (feature, change of the log-odds), largest first, and `bias` is the change for
    every instance.
    """

    classes: int
    probability: float
    bias: float
    moved: list[tuple[str, float]]


@cython.final
cdef class Index:
    """The sparse index: feature -> a few weighted classes.

    Ownership: this object alone owns the native index; results are copies.
    Threads: any number may rank at once. A change waits for the current rankings and blocks later
    ones. Array calls, `dump` and calls that read more than a few rows release the GIL; all others
    release it if they have to wait for the lock. So each call keeps its names alive.
    """

    def __cinit__(self, options, uint64_t hash_seed=0):
        self.options = options
        cdef bytes learner = options.learner.encode()
        self._native.reset(new Engine(learner, native(options), hash_seed))

    def configure(self, options):
        if options.learner != self.options.learner:
            raise OptionError(
                "learner", f"cannot turn from {self.options.learner} to {options.learner}"
            )
        cdef OptionValues wanted = native(options)
        with nogil:  # a lowered `sample` may start the build of the tree
            deref(self._native).configure(wanted)
        self.options = options

    def rank(self, instance not None, uint32_t k=5, threshold=None):
        cdef Instance given = as_instance(instance)
        cdef double least = -INFINITY if threshold is None else threshold
        cdef vector[Ranked] best
        cdef string names
        cdef const char* at
        cdef uint32_t size
        cdef list ranked = []
        deref(self._native).rank(
            PyBytes_AS_STRING(given._data), PyBytes_GET_SIZE(given._data), k, least, best,
            names,
        )
        at = names.data()
        for i in range(best.size()):
            memcpy(&size, at, sizeof(size))
            ranked.append((PyUnicode_DecodeUTF8(at + sizeof(size), size, NULL), best[i].score))
            at += sizeof(size) + size
        return ranked

    def explain(self, instance not None, classes, size_t limit=10):
        cdef Instance given = as_instance(instance)
        cdef vector[string_view] names
        cdef vector[vector[pair[string, double]]] explained
        cdef list kept = list(classes)
        for name in kept:
            names.push_back(any_utf8(<str?>name))
        deref(self._native).explain(
            PyBytes_AS_STRING(given._data), PyBytes_GET_SIZE(given._data), names, limit, explained
        )
        return [weighted(explained[i]) for i in range(explained.size())]

    def paths(self, instance not None, classes, size_t limit=10):
        cdef Instance given = as_instance(instance)
        cdef vector[string_view] names
        cdef vector[vector[PathNode]] found
        cdef list kept = list(classes)
        for name in kept:
            names.push_back(any_utf8(<str?>name))
        deref(self._native).paths(
            PyBytes_AS_STRING(given._data), PyBytes_GET_SIZE(given._data), names, limit, found
        )
        return [
            [
                Node(node.classes, node.probability, node.bias, weighted(node.moved))
                for node in path
            ]
            for path in found
        ]

    def probabilities(self, instance not None, classes):
        cdef Instance given = as_instance(instance)
        cdef vector[string_view] names
        cdef vector[double] found
        cdef list kept = list(classes)
        for name in kept:
            names.push_back(any_utf8(<str?>name))
        deref(self._native).probabilities(
            PyBytes_AS_STRING(given._data), PyBytes_GET_SIZE(given._data), names, found
        )
        return list(found)

    def learn(self, instance not None, classes, int passes_done=0):
        if not classes or isinstance(classes, (str, bytes)):
            raise InstanceError("classes must be an array of at least one name", ("classes",))
        unique = list(dict.fromkeys(classes))
        return self.learn_unique(as_instance(instance), unique, passes_done == 0)

    cdef learn_unique(self, Instance instance, list classes, bint first_pass):
        cdef vector[string_view] names
        cdef Outcome result
        cdef list kept = list(classes)
        for name in kept:
            names.push_back(Instance.utf8(<str?>name, "class", ("classes", name)))
        result = deref(self._native).learn(
            PyBytes_AS_STRING(instance._data), PyBytes_GET_SIZE(instance._data), names, first_pass
        )
        return Learned(result.rank, result.updated, result.top_two.first, result.top_two.second)

    def apply(self, Event event not None):
        if event.kind == "learn":
            return self.learn_unique(event._instance, event.classes, True)
        if event.kind == "forget_class":
            self.forget_class(event.name)
        elif event.kind == "forget_feature":
            self.forget_feature(event.name)
        return NOTHING_LEARNED

    def forget_class(self, str name not None):
        cdef string_view encoded = any_utf8(name)
        cdef bint known
        with nogil:
            known = deref(self._native).forget_class(encoded)
        return known

    def forget_feature(self, str name not None):
        cdef string_view encoded = any_utf8(name)
        cdef bint known
        with nogil:  # the nodes of a label tree are walked
            known = deref(self._native).forget_feature(encoded)
        return known

    def sparsify(self, uint64_t edges):
        cdef uint64_t gone
        if not deref(self._native).can_sparsify():
            raise OptionError("learner", f"{self.options.learner} keeps its rows light by itself")
        with nogil:
            gone = deref(self._native).sparsify(edges)
        return gone

    def rank_csr(self, Columns features not None, const int64_t[::1] indptr not None,
                 const int32_t[::1] indices not None, const float[::1] values not None,
                 uint32_t k=5):
        check_rows(len(features), indptr, indices, values)
        cdef int64_t rows = indptr.shape[0] - 1
        ids = np.empty((rows, k), np.int32)
        scores = np.empty((rows, k), np.float64)
        cdef int32_t[:, ::1] id_view = ids
        cdef double[:, ::1] score_view = scores
        if rows and k:
            with nogil:
                deref(self._native).rank_csr(
                    deref(features._native), &indptr[0],
                    &indices[0] if indices.shape[0] else NULL,
                    &values[0] if values.shape[0] else NULL,
                    rows, k, &id_view[0, 0], &score_view[0, 0],
                )
        return ids, scores

    def learn_csr(self, Columns features not None, const int64_t[::1] indptr not None,
                  const int32_t[::1] indices not None, const float[::1] values not None,
                  Columns classes not None, const int64_t[::1] class_indptr not None,
                  const int32_t[::1] class_indices not None, int passes_done=0):
        cdef int64_t row, rows = indptr.shape[0] - 1
        check_labelled(features, indptr, indices, values, classes, class_indptr, class_indices)
        ranks = np.empty(rows, np.int32)
        cdef int32_t[::1] rank_view = ranks
        cdef const int32_t* index_data = &indices[0] if indices.shape[0] else NULL
        cdef const float* value_data = &values[0] if values.shape[0] else NULL
        cdef const int32_t* class_data = &class_indices[0] if class_indices.shape[0] else NULL
        with nogil:
            for row in range(rows):
                rank_view[row] = <int32_t>deref(self._native).learn_csr(
                    deref(features._native), indptr[row], indptr[row + 1], index_data, value_data,
                    deref(classes._native), class_data + class_indptr[row],
                    <size_t>(class_indptr[row + 1] - class_indptr[row]), passes_done == 0,
                ).rank
        return ranks

    def plant_csr(self, Columns features not None, const int64_t[::1] indptr not None,
                  const int32_t[::1] indices not None, const float[::1] values not None,
                  Columns classes not None, const int64_t[::1] class_indptr not None,
                  const int32_t[::1] class_indices not None):
        cdef int64_t rows = indptr.shape[0] - 1
        cdef bint is_built
        check_labelled(features, indptr, indices, values, classes, class_indptr, class_indices)
        cdef const int32_t* index_data = &indices[0] if indices.shape[0] else NULL
        cdef const float* value_data = &values[0] if values.shape[0] else NULL
        cdef const int32_t* class_data = &class_indices[0] if class_indices.shape[0] else NULL
        if rows == 0:
            return False
        with nogil:
            is_built = deref(self._native).build_csr(
                deref(features._native), &indptr[0], index_data, value_data, rows,
                deref(classes._native), &class_indptr[0], class_data,
            )
        return is_built

    def class_ids(self, Columns classes not None):
        ids = np.empty(len(classes), np.int32)
        cdef int32_t[::1] view = ids
        if len(classes):
            with nogil:
                deref(self._native).inspection().class_ids(deref(classes._native), &view[0])
        return ids

    @property
    def features(self):
        return deref(self._native).inspection().sizes().features

    @property
    def classes(self):
        return deref(self._native).inspection().sizes().classes

    @property
    def edges(self):
        return deref(self._native).inspection().sizes().edges

    @property
    def bytes(self):
        return deref(self._native).inspection().sizes().bytes

    @property
    def resident_bytes(self):
        cdef uint64_t found
        with nogil:  # the nodes of a label tree are walked
            found = deref(self._native).inspection().resident_bytes()
        return found

    @property
    def evicted_features(self):
        return deref(self._native).inspection().sizes().evicted_features

    @property
    def evicted_classes(self):
        return deref(self._native).inspection().sizes().evicted_classes

    @property
    def learned(self):
        return deref(self._native).inspection().sizes().learned

    @property
    def active_features_ranked(self):
        return deref(self._native).inspection().work().active_features_ranked

    @property
    def edges_touched(self):
        return deref(self._native).inspection().work().edges_touched

    def has_class(self, str name not None):
        return deref(self._native).inspection().has_class(any_utf8(name))

    def has_feature(self, str name not None):
        return deref(self._native).inspection().has_feature(any_utf8(name))

    def work(self):
        cdef Work done = deref(self._native).inspection().work()
        return {
            "names_visited": done.names_visited,
            "ids_looked_at": done.ids_looked_at,
            "rows_swept": done.rows_swept,
            "nodes_opened": done.nodes_opened,
            "nodes_visited": done.nodes_visited,
        }

    def outdegrees(self):
        counts = np.zeros(OUTDEGREES, np.int64)
        cdef int64_t[::1] view = counts
        with nogil:
            deref(self._native).inspection().outdegrees(&view[0])
        return counts

    def feature(self, str name not None):
        cdef Row counters
        cdef double rating = 0
        cdef vector[pair[string, double]] edges
        cdef string_view encoded = any_utf8(name)
        cdef bint known
        with nogil:  # the nodes of a label tree are walked
            known = deref(self._native).inspection().feature(encoded, counters, rating, edges)
        if not known:
            raise UnknownName("feature", name)
        return {
            "times_seen": counters.times_seen,
            "rating": rating,
            "outdegree": edges.size(),
            "mass": counters.mass,
            "edges": weighted(edges),
        }

    def class_(self, str name not None, size_t limit=100):
        cdef uint64_t learned = 0
        cdef vector[pair[string, double]] edges
        cdef string_view encoded = any_utf8(name)
        cdef bint known
        with nogil:
            known = deref(self._native).inspection().cls(encoded, limit, learned, edges)
        if not known:
            raise UnknownName("class", name)
        return {"learned": learned, "features": weighted(edges)}

    def class_page(self, str prefix not None, str after not None, size_t limit):
        cdef vector[pair[string, uint64_t]] page
        cdef string_view begins = any_utf8(prefix), behind = any_utf8(after)
        with nogil:
            deref(self._native).inspection().class_page(begins, behind, limit, page)
        return [(page[i].first.decode("utf-8"), page[i].second) for i in range(page.size())]

    def feature_page(self, str prefix not None, str after not None, size_t limit):
        cdef vector[pair[string, uint64_t]] page
        cdef string_view begins = any_utf8(prefix), behind = any_utf8(after)
        with nogil:
            deref(self._native).inspection().feature_page(begins, behind, limit, page)
        return [(page[i].first.decode("utf-8"), page[i].second) for i in range(page.size())]

    def _hold(self, uint32_t milliseconds):
        with nogil:
            deref(self._native).lock().hold(milliseconds)

    def _let_go(self):
        deref(self._native).lock().let_go()

    @property
    def _is_held(self):
        return deref(self._native).lock().is_held()

    def dump(self):
        cdef vector[Section] sections
        cdef uint64_t changes = 0
        cdef bint whole = False
        while not whole:  # another thread may learn while the arrays are allocated
            with nogil:
                sections = deref(self._native).measure(changes)
            arrays = {name: np.empty(0, dtype) for name, dtype in SECTIONS.items()}
            for i in range(sections.size()):
                name, dtype = sections[i].name.decode(), np.dtype("<" + sections[i].type.decode())
                arrays[name] = np.empty(sections[i].size, dtype)
                sections[i].data = start_of(arrays[name])
            with nogil:
                whole = deref(self._native).dump(sections, changes)
        return arrays

    @classmethod
    def load(cls, options, sections, uint64_t hash_seed=0):
        cdef uint64_t changes = 0
        cdef Index index = Index(options, hash_seed)
        cdef vector[Section] native = deref(index._native).measure(changes)
        declared = {
            each.name.decode(): np.dtype("<" + each.type.decode()) for each in native
        }
        arrays = runs(
            with_what_older_states_lack(options, dict(sections)), {**SECTIONS, **declared}
        )
        for name in SECTIONS:
            if name not in declared and len(arrays[name]):
                raise SnapshotError(OTHER_LEARNER.decode(), name)
        for i in range(native.size()):
            array = arrays[native[i].name.decode()]
            native[i].size = len(array)
            native[i].data = start_of(array)
        try:
            with nogil:
                deref(index._native).load(native)
        except ValueError as error:
            section, _, fault = str(error).partition(": ")
            raise SnapshotError(fault, section) from error
        return index


cdef dict with_what_older_states_lack(object options, dict sections):
    """Return the sections under their present names, with sections that an older state lacks."""
    if "class_hung" in sections:  # its first name
        if "class_turns" in sections:
            raise SnapshotError("it is there under a newer name too", "class_hung")
        sections["class_turns"] = sections.pop("class_hung")
    counts = run(sections, "counts", "<u8")
    missing = COUNTS - len(counts)
    has_kept, has_tree = "kept_features" in sections, "node_kinds" in sections
    if (len(counts), has_kept, has_tree) in (
        (5, False, False), (7, True, False), (11, True, True)
    ):
        newest = [0, options.seed, 0, 0, options.seed, 0, 0, 0, 0, 0][-missing:]
        sections["counts"] = np.append(counts, np.array(newest, "<u8"))
        for name in SECTIONS:
            if name.startswith(ADDED_LATER):
                sections.setdefault(name, np.empty(0, SECTIONS[name]))
    return sections


cdef void* start_of(object array) except *:
    return <void*><size_t>array.ctypes.data
