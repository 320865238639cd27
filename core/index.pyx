"""The sparse index as Python sees it; the work is done in core/native/index.hpp."""

from cython.operator cimport dereference as deref
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
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

# The arrays of a dumped state and what they hold, in the order in which they are written.
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

cdef tuple TREE = (
    "node_", "children_ids", "block_", "tree_", "class_turns"
)

cdef dict KINDS = {
    "ff": <int>Kind.feature_focus,
    "ind": <int>Kind.independent,
    "ema": <int>Kind.moving_average,
    "ooz": <int>Kind.slack,
    "pa": <int>Kind.passive_aggressive,
    "mmp": <int>Kind.perceptron,
    "arow": <int>Kind.confidence,
    "svm": <int>Kind.vector_machine,
    "frequency": <int>Kind.frequency,
    "iplt": <int>Kind.label_tree,
    "oplt": <int>Kind.label_tree,
}

cdef dict SHAPES = {
    "complete": <int>Shape.complete,
    "random": <int>Shape.random,
    "huffman": <int>Shape.huffman,
    "kmeans": <int>Shape.kmeans,
}


cdef string_view any_utf8(str text) except *:
    """The UTF-8 of a text that need not be a name; it lives as long as the text."""
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


cdef NativeOptions native(object options) except *:
    cdef NativeOptions out
    if options.learner not in KINDS:
        raise OptionError("learner", f"{options.learner!r} is not an index learner")
    out.kind = <Kind><int>KINDS[options.learner]
    out.tree = <Shape><int>SHAPES[options.tree]
    out.greedy = options.policy == "greedy"
    out.epsilon = options.epsilon
    out.alpha = options.alpha
    out.arity = options.arity
    out.max_leaves = options.max_leaves
    out.sample = options.sample
    out.rate = options.rate
    out.aggressiveness = options.aggressiveness
    out.caution = options.caution
    out.pairs = options.demands == "pairs"
    out.negatives = options.rivals
    out.replay = options.replay
    out.replay_size = options.replay_size
    out.seed = options.seed
    out.margin_threshold = options.margin_threshold
    out.min_weight = options.min_weight
    out.feature_memory = options.feature_memory
    out.max_outdegree = options.max_outdegree
    out.rating = options.rating
    out.retrieval_window = options.retrieval_window
    out.max_features = options.max_features
    out.max_classes = options.max_classes
    out.max_bytes = options.max_bytes
    out.leak = options.leak
    out.boolean = options.boolean
    out.l2 = options.normalize == "l2"
    out.sublinear = options.sublinear
    out.tfidf = options.tfidf
    return out


@cython.final
cdef class Columns:
    """The names of the columns of CSR arrays, with the ids an index gave them, looked up once.

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

    `classes` is how many it holds, `probability` that of the node given the one above it, `moved`
    the (feature, log-odds it added), most first, and `bias` what is added for every instance.
    """

    classes: int
    probability: float
    bias: float
    moved: list[tuple[str, float]]


@cython.final
cdef class Index:
    """The sparse index: feature -> a few weighted classes.

    Ownership: the native index is owned by this object alone; what is returned are copies.
    Threads: any number may rank at once; a change waits for the ranks under way and holds up
    those that come. Array calls, dump and calls that read more than a few rows release the GIL; all
    others release it if they have to wait for the lock. So names are kept alive for each call.
    """

    def __cinit__(self, options, uint64_t hash_seed=0):
        self.options = options
        self._native.reset(new NativeIndex(native(options), hash_seed))

    def configure(self, options):
        if options.learner != self.options.learner:
            raise OptionError(
                "learner", f"cannot turn from {self.options.learner} to {options.learner}"
            )
        cdef NativeOptions wanted = native(options)
        with nogil:  # a sample may be complete, and a tree planted from it
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
        cdef vector[vector[NativeNode]] found
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
        cdef NativeLearned result
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
        if self.options.learner not in ("pa", "mmp", "arow", "svm"):
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
        cdef bint planted
        check_labelled(features, indptr, indices, values, classes, class_indptr, class_indices)
        cdef const int32_t* index_data = &indices[0] if indices.shape[0] else NULL
        cdef const float* value_data = &values[0] if values.shape[0] else NULL
        cdef const int32_t* class_data = &class_indices[0] if class_indices.shape[0] else NULL
        if self.options.learner != "iplt" or rows == 0:
            return False
        with nogil:
            planted = deref(self._native).plant_csr(
                deref(features._native), &indptr[0], index_data, value_data, rows,
                deref(classes._native), &class_indptr[0], class_data,
            )
        return planted

    def class_ids(self, Columns classes not None):
        ids = np.empty(len(classes), np.int32)
        cdef int32_t[::1] view = ids
        if len(classes):
            with nogil:
                deref(self._native).class_ids(deref(classes._native), &view[0])
        return ids

    @property
    def features(self):
        return deref(self._native).features()

    @property
    def classes(self):
        return deref(self._native).classes()

    @property
    def edges(self):
        return deref(self._native).edges()

    @property
    def bytes(self):
        return deref(self._native).bytes()

    @property
    def resident_bytes(self):
        cdef uint64_t found
        with nogil:  # the nodes of a label tree are walked
            found = deref(self._native).resident_bytes()
        return found

    @property
    def evicted_features(self):
        return deref(self._native).evicted_features()

    @property
    def evicted_classes(self):
        return deref(self._native).evicted_classes()

    @property
    def learned(self):
        return deref(self._native).learned()

    @property
    def active_features_ranked(self):
        return deref(self._native).active_features_ranked()

    @property
    def edges_touched(self):
        return deref(self._native).edges_touched()

    def has_class(self, str name not None):
        return deref(self._native).has_class(any_utf8(name))

    def has_feature(self, str name not None):
        return deref(self._native).has_feature(any_utf8(name))

    def work(self):
        cdef Work done = deref(self._native).work()
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
            deref(self._native).outdegrees(&view[0])
        return counts

    def feature(self, str name not None):
        cdef Row counters
        cdef double rating = 0
        cdef vector[pair[string, double]] edges
        cdef string_view encoded = any_utf8(name)
        cdef bint known
        with nogil:  # the nodes of a label tree are walked
            known = deref(self._native).feature(encoded, counters, rating, edges)
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
            known = deref(self._native).cls(encoded, limit, learned, edges)
        if not known:
            raise UnknownName("class", name)
        return {"learned": learned, "features": weighted(edges)}

    def class_page(self, str prefix not None, str after not None, size_t limit):
        cdef vector[pair[string, uint64_t]] page
        cdef string_view begins = any_utf8(prefix), behind = any_utf8(after)
        with nogil:
            deref(self._native).class_page(begins, behind, limit, page)
        return [(page[i].first.decode("utf-8"), page[i].second) for i in range(page.size())]

    def feature_page(self, str prefix not None, str after not None, size_t limit):
        cdef vector[pair[string, uint64_t]] page
        cdef string_view begins = any_utf8(prefix), behind = any_utf8(after)
        with nogil:
            deref(self._native).feature_page(begins, behind, limit, page)
        return [(page[i].first.decode("utf-8"), page[i].second) for i in range(page.size())]

    def _hold(self, uint32_t milliseconds):
        with nogil:
            deref(self._native).hold(milliseconds)

    def _let_go(self):
        deref(self._native).let_go()

    @property
    def _is_held(self):
        return deref(self._native).is_held()

    def dump(self):
        cdef State state
        cdef uint64_t changes
        cdef bint whole = False
        while not whole:  # another thread may learn while the arrays are made
            with nogil:
                changes = deref(self._native).measure(state)
            sections = empty_sections(state)
            point_at(state, sections)
            with nogil:
                whole = deref(self._native).dump(state, changes)
        return sections

    @classmethod
    def load(cls, options, sections, uint64_t hash_seed=0):
        cdef State state
        cdef Index index = Index(options, hash_seed)
        arrays = runs(with_what_older_states_lack(options, dict(sections)), SECTIONS)
        state.features = len(arrays["feature_name_sizes"])
        state.feature_name_bytes = len(arrays["feature_names"])
        state.free_features = len(arrays["feature_free"])
        state.edges = len(arrays["edge_classes"])
        state.classes = len(arrays["class_name_sizes"])
        state.class_name_bytes = len(arrays["class_names"])
        state.free_classes = len(arrays["class_free"])
        state.retired_classes = len(arrays["class_retired"])
        state.variances = state.edges if options.learner == "arow" else 0
        state.nodes = len(arrays["node_kinds"])
        state.free_nodes = len(arrays["node_free"])
        state.children = len(arrays["children_ids"])
        state.blocks = len(arrays["block_features"])
        state.weights = len(arrays["tree_weights"])
        state.turns = len(arrays["class_turns"])
        if state.turns not in (0, state.classes):
            raise SnapshotError("it has not a turn for each class", "class_turns")
        state.kept = len(arrays["kept_features"])
        state.kept_values = len(arrays["kept_feature_ids"])
        state.kept_classes = len(arrays["kept_class_ids"])
        state.kept_demands = len(arrays["kept_demands_ahead"])
        for name, empty in empty_sections(state).items():
            if len(empty) != len(arrays[name]):
                raise SnapshotError(f"it has {len(arrays[name])} places, not {len(empty)}", name)
        point_at(state, arrays)
        try:
            with nogil:
                deref(index._native).load(state)
        except ValueError as error:
            section, _, fault = str(error).partition(": ")
            raise SnapshotError(fault, section) from error
        return index


cdef dict with_what_older_states_lack(object options, dict sections):
    """The sections by their names of today, those added that an older state has not."""
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
            if name.startswith(("kept_", "edge_variances", "class_retired", *TREE)):
                sections.setdefault(name, np.empty(0, SECTIONS[name]))
    return sections


cdef dict empty_sections(const State& state):
    """Arrays of the measured sizes."""
    sizes = {
        "counts": COUNTS,
        "feature_names": state.feature_name_bytes,
        "feature_free": state.free_features,
        "edge_classes": state.edges,
        "edge_masses": state.edges,
        "edge_variances": state.variances,
        "class_names": state.class_name_bytes,
        "class_free": state.free_classes,
        "class_retired": state.retired_classes,
        "node_kinds": state.nodes,
        "node_children": state.nodes,
        "node_blocks": state.nodes,
        "node_free": state.free_nodes,
        "children_ids": state.children,
        "block_features": state.blocks,
        "block_weights": state.blocks,
        "tree_weights": state.weights,
        "tree_squares": state.weights,
        "class_turns": state.turns,
        "kept_features": state.kept,
        "kept_true": state.kept,
        "kept_demanded": state.kept,
        "kept_feature_ids": state.kept_values,
        "kept_feature_values": state.kept_values,
        "kept_class_ids": state.kept_classes,
        "kept_demands_ahead": state.kept_demands,
        "kept_demands_behind": state.kept_demands,
        "kept_demands_multiplier": state.kept_demands,
    }
    return {
        name: np.empty(
            sizes.get(name, state.classes if name.startswith("class") else state.features), dtype
        )
        for name, dtype in SECTIONS.items()
    }


cdef void* start_of(object array) except *:
    return <void*><size_t>array.ctypes.data


cdef int point_at(State& state, dict sections) except -1:
    state.counts = <uint64_t*>start_of(sections["counts"])
    state.feature_name_sizes = <uint16_t*>start_of(sections["feature_name_sizes"])
    state.feature_names = <char*>start_of(sections["feature_names"])
    state.feature_free = <uint32_t*>start_of(sections["feature_free"])
    state.feature_mass = <double*>start_of(sections["feature_mass"])
    state.feature_times_seen = <uint32_t*>start_of(sections["feature_times_seen"])
    state.feature_last_seen = <uint32_t*>start_of(sections["feature_last_seen"])
    state.outdegrees = <uint16_t*>start_of(sections["outdegrees"])
    state.edge_classes = <uint32_t*>start_of(sections["edge_classes"])
    state.edge_masses = <float*>start_of(sections["edge_masses"])
    state.edge_variances = <float*>start_of(sections["edge_variances"])
    state.kept_features = <uint32_t*>start_of(sections["kept_features"])
    state.kept_true = <uint32_t*>start_of(sections["kept_true"])
    state.kept_feature_ids = <uint32_t*>start_of(sections["kept_feature_ids"])
    state.kept_feature_values = <float*>start_of(sections["kept_feature_values"])
    state.kept_class_ids = <uint32_t*>start_of(sections["kept_class_ids"])
    state.kept_demanded = <uint32_t*>start_of(sections["kept_demanded"])
    state.kept_demands_ahead = <uint32_t*>start_of(sections["kept_demands_ahead"])
    state.kept_demands_behind = <uint32_t*>start_of(sections["kept_demands_behind"])
    state.kept_demands_multiplier = <float*>start_of(sections["kept_demands_multiplier"])
    state.node_kinds = <uint8_t*>start_of(sections["node_kinds"])
    state.node_children = <uint32_t*>start_of(sections["node_children"])
    state.node_blocks = <uint32_t*>start_of(sections["node_blocks"])
    state.node_free = <uint32_t*>start_of(sections["node_free"])
    state.children_ids = <uint32_t*>start_of(sections["children_ids"])
    state.block_features = <uint32_t*>start_of(sections["block_features"])
    state.block_weights = <uint32_t*>start_of(sections["block_weights"])
    state.tree_weights = <float*>start_of(sections["tree_weights"])
    state.tree_squares = <float*>start_of(sections["tree_squares"])
    state.class_turns = <uint64_t*>start_of(sections["class_turns"])
    state.class_name_sizes = <uint16_t*>start_of(sections["class_name_sizes"])
    state.class_names = <char*>start_of(sections["class_names"])
    state.class_free = <uint32_t*>start_of(sections["class_free"])
    state.class_retired = <uint32_t*>start_of(sections["class_retired"])
    state.class_learned = <uint64_t*>start_of(sections["class_learned"])
    state.class_born = <uint64_t*>start_of(sections["class_born"])
    state.class_last_learned = <uint32_t*>start_of(sections["class_last_learned"])
    return 0
