"""The Python interface of learners, core/native/learner.hpp."""

from cython.operator cimport dereference as deref
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy
from libcpp.memory cimport shared_ptr, static_pointer_cast
from libcpp.string cimport string
from libcpp.string_view cimport string_view
from libcpp.utility cimport pair
from libcpp.vector cimport vector

cimport cython

from manyclass.core.calibration cimport Calibration
from manyclass.core.columns cimport Columns, CsrRows
from manyclass.core.event cimport Event
from manyclass.core.evidence cimport Evidence
from manyclass.core.instance cimport Instance, as_instance, bytes_of, text_of
from manyclass.core.locking cimport raise_error, release_gil_while_waiting
from manyclass.core.progressive_validation cimport ProgressiveValidation
from manyclass.core.taxonomy cimport NativeTaxonomy, Taxonomy

import numpy as np

from manyclass.core.abilities import check_ability, check_weights, within_ability
from manyclass.core.errors import InstanceError, OptionError, SnapshotError, UnknownName
from manyclass.core.learners import parts
from manyclass.core.learners.member import Member
from manyclass.core.outcome import (
    NOTHING_LEARNED,
    Learned,
    MixtureWeights,
    Node,
    ScoreOfParts,
)
from manyclass.core.sections import run, within

release_gil_while_waiting()


cdef extern from "core/native/storage/postings.hpp" namespace "manyclass" nogil:
    const size_t OUTDEGREES


cdef extern from "core/native/make_learner.hpp" namespace "manyclass" nogil:
    shared_ptr[NativeLearner] make_learner(const OptionValues& options, uint64_t hash_seed,
                                           shared_ptr[NativeTaxonomy] taxonomy) except +raise_error
    shared_ptr[MixedLearner] mix_learner(shared_ptr[NativeLearner] learner,
                                         shared_ptr[NativeEvidence] evidence,
                                         bint needs_features) except +raise_error
    vector[string] learner_option_names(string_view learner) except +raise_error


cdef extern from "core/native/beside/mixture.hpp" namespace "manyclass" nogil:
    const size_t MIXTURE_NUMBERS "manyclass::Mixture::NUMBERS"

MIXTURE_SECTION = "mixture"


cdef object UNMADE = object()  # the argument for a learner whose native object is set afterwards


cdef list weighted(const vector[pair[string, double]]& pairs):
    return [(pairs[i].first.decode("utf-8"), pairs[i].second) for i in range(pairs.size())]


cdef OptionValues native(object options) except *:
    """Return the options that the native learner and its parts read."""
    cdef OptionValues values
    cdef bytes learner = options.learner.encode()
    cdef vector[string] names = learner_option_names(learner)
    if names.empty():
        raise OptionError("learner", f"{options.learner!r} has no native code")
    values.set_word(b"learner", learner)
    for part in parts.options_of(options).values():
        values.add_part(native(part))
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
cdef class Learner:
    """A learner with tables of its own, or a committee of such learners.

    Ownership: it owns the native learner (a member shares it with its committee); results are
    copies.
    Threads: any number may rank at once. A change waits for the current rankings and blocks later
    ones; rankings of a committee continue between its members. Array calls, `dump` and calls that
    read more than a few rows release the GIL; other calls release it while they wait for the lock.
    Therefore each call keeps its names alive.
    """

    def __cinit__(self, options, uint64_t hash_seed=0, Taxonomy taxonomy=None,
                  Evidence evidence=None):
        if options is UNMADE:
            return
        self.options = options
        self.taxonomy = Taxonomy(hash_seed) if taxonomy is None else taxonomy
        self._native = make_learner(native(options), hash_seed, self.taxonomy._native)
        if evidence is not None:
            self.join(evidence)

    def join(self, Evidence evidence not None):
        self._mixed = mix_learner(self._native, evidence._native, self.options.needs_features)
        self._native = static_pointer_cast[NativeLearner, MixedLearner](self._mixed)

    @property
    def members(self):
        cdef Learner learner
        cdef ProgressiveValidation progress
        cdef vector[MemberView] views
        cdef list members = [], options = [*parts.options_of(self.options).values()]
        with nogil:
            views = deref(self._native).members()
        for i in range(views.size()):
            learner = Learner.__new__(Learner, UNMADE)
            learner.options = options[i]
            learner.taxonomy = self.taxonomy
            learner._native = views[i].learner
            progress = ProgressiveValidation()
            progress._counts = views[i].progress
            members.append(Member(learner, progress, views[i].waiting, views[i].waiting_bytes))
        return tuple(members)

    @staticmethod
    cdef vector[string_view] names_of(list classes) except *:
        """Return names as UTF-8, valid as long as the list lives."""
        cdef vector[string_view] names
        for name in classes:
            names.push_back(Instance.any_utf8(<str?>name))
        return names

    @staticmethod
    cdef list list_of_names(object among):
        if isinstance(among, (str, bytes)):
            raise InstanceError("among must be an array of names", ("among",))
        return list(among)

    @staticmethod
    cdef list with_names(const vector[Ranked]& best, const string& names):
        """Return (name, score) of ranked classes; `names` has the size and bytes of each name."""
        cdef const char* at = names.data()
        cdef uint32_t size
        cdef list ranked = []
        for i in range(best.size()):
            memcpy(&size, at, sizeof(size))
            ranked.append((text_of(string_view(at + sizeof(size), size)), best[i].score))
            at += sizeof(size) + size
        return ranked

    def configure(self, options):
        if options.learner != self.options.learner:
            raise OptionError(
                "learner", f"cannot change from {self.options.learner} to {options.learner}"
            )
        if [each.learner for each in options.member_options] != [
            each.learner for each in self.options.member_options
        ]:
            raise OptionError("members", "the learners of a committee's members cannot change")
        cdef OptionValues wanted = native(options)
        with nogil:  # with a lower `sample`, this may build the tree
            deref(self._native).configure(wanted)
        self.options = options

    def rank(self, instance not None, uint32_t k=5, threshold=None, among=None):
        cdef Instance given = as_instance(instance)
        cdef double least = -INFINITY if threshold is None else threshold
        cdef vector[Ranked] best
        cdef string names
        cdef list kept
        if among is None:
            deref(self._native).rank(bytes_of(given), k, least, best, names)
        else:
            kept = Learner.list_of_names(among)
            deref(self._native).rank_among(
                bytes_of(given), Learner.names_of(kept), k, least, best, names
            )
        return Learner.with_names(best, names)

    cdef rank_block(self, const vector[string_view]& instances, size_t begin, uint32_t k,
                    double seconds, RankedBlock& block):
        """Rank instances in order from `begin` on: one, and more until `seconds` have passed."""
        with nogil:
            deref(self._native).rank_block(instances, begin, k, Seconds(seconds), block)

    def explain(self, instance not None, classes, size_t limit=10):
        cdef Instance given = as_instance(instance)
        cdef vector[vector[pair[string, double]]] explained
        cdef list kept = list(classes)
        deref(self._native).explain(bytes_of(given), Learner.names_of(kept), limit, explained)
        return [weighted(explained[i]) for i in range(explained.size())]

    def explain_parts(self, instance not None, classes, size_t limit=10):
        cdef Instance given = as_instance(instance)
        cdef vector[ScoreParts] found
        cdef vector[vector[pair[string, double]]] descriptions
        cdef list kept = list(classes)
        if self._mixed.get() == NULL or not deref(self._mixed).explain_parts(
            bytes_of(given), Learner.names_of(kept), limit, found, descriptions
        ):
            return None
        return [
            ScoreOfParts(
                found[i].words, found[i].names, found[i].vectors, weighted(descriptions[i])
            )
            for i in range(found.size())
        ]

    @property
    def mixture(self):
        cdef ScoreParts weights
        if self._mixed.get() == NULL:
            return None
        weights = deref(self._mixed).weights()
        return MixtureWeights(weights.words, weights.names, weights.vectors)

    def dump_mixture(self):
        cdef double[::1] numbers
        if self._mixed.get() == NULL or deref(self._mixed).mixture().is_new():
            return {}
        array = np.zeros(MIXTURE_NUMBERS, np.float64)
        numbers = array
        deref(self._mixed).mixture().dump(&numbers[0])
        return {MIXTURE_SECTION: array}

    def load_mixture(self, sections):
        cdef const double[::1] numbers
        if MIXTURE_SECTION not in sections:
            return
        numbers = run(sections, MIXTURE_SECTION, "<f8")
        if len(numbers) != MIXTURE_NUMBERS:
            raise SnapshotError(f"it has not {MIXTURE_NUMBERS} numbers", MIXTURE_SECTION)
        try:
            deref(self._mixed).mixture().load(&numbers[0])
        except ValueError as error:
            raise SnapshotError(str(error).partition(": ")[2], MIXTURE_SECTION) from error

    def paths(self, instance not None, classes, size_t limit=10):
        cdef Instance given = as_instance(instance)
        cdef vector[vector[PathNode]] found
        cdef list kept = list(classes)
        deref(self._native).paths(bytes_of(given), Learner.names_of(kept), limit, found)
        return [
            [
                Node(
                    each.classes, each.probability, each.bias, weighted(each.moved),
                    each.name.decode("utf-8"), each.score,
                )
                for each in path
            ]
            for path in found
        ]

    def probabilities(self, instance not None, classes):
        cdef Instance given = as_instance(instance)
        cdef list kept = list(classes)
        cdef vector[double] found
        deref(self._native).probabilities(bytes_of(given), Learner.names_of(kept), found)
        return list(found)

    def learn(self, instance not None, classes, int epoch=0, rejected=(), double weight=1):
        cdef Instance given = as_instance(instance)
        if not rejected and weight == 1:
            if not classes or isinstance(classes, (str, bytes)):
                raise InstanceError("classes must be an array of at least one name", ("classes",))
            return self.learn_unique(given, list(dict.fromkeys(classes)), [], 1, epoch == 0)
        event = Event.learn(given, classes, rejected=rejected, weight=weight)
        check_ability(event, [self.options])
        return self.learn_unique(given, event.classes, event.rejected, event.weight, epoch == 0)

    cdef learn_unique(self, Instance instance, list classes, list rejected, double weight,
                      bint is_first_epoch, Calibration calibration=None, str source=None):
        cdef vector[string_view] names, wrong
        cdef string_view origin
        cdef RankingBefore before
        cdef RankingBefore* wanted = NULL
        cdef Outcome result
        for name in classes:
            names.push_back(Instance.utf8(<str?>name, "class", ("classes", name)))
        for name in rejected:
            wrong.push_back(Instance.utf8(<str?>name, "class", ("not", name)))
        if calibration is not None:
            before.depth = deref(calibration._native).depth()
            wanted = &before
        result = deref(self._native).learn(
            bytes_of(instance), names, wrong, weight, is_first_epoch, wanted
        )
        if calibration is not None:
            if source is not None:
                origin = Instance.any_utf8(source)
            deref(calibration._native).add(result.top_two, before, names.size(), origin)
        return Learned(result.rank, result.updated, result.top_two.first, result.top_two.second)

    def apply(self, Event event not None, Calibration calibration=None):
        if event.kind == "learn":
            source = event.source
            if event.rejected or event.weight != 1:
                event = within_ability(event, self.options)
                if event is None:
                    return NOTHING_LEARNED
            return self.learn_unique(
                event._instance, event.classes, event.rejected, event.weight, True,
                calibration if event.classes else None, source,
            )
        if event.kind == "forget_class":
            self.forget_class(event.name)
        elif event.kind == "forget_feature":
            self.forget_feature(event.name)
        return NOTHING_LEARNED

    def placed(self, list names not None, bint before_learning=False):
        cdef vector[string_view] changed = Learner.names_of(names)
        with nogil:
            deref(self._native).find_nodes(changed, before_learning)

    def place_all(self):
        with nogil:
            deref(self._native).find_all_nodes()

    def forget_class(self, str name not None):
        cdef string_view encoded = Instance.any_utf8(name)
        cdef bint known
        with nogil:
            known = deref(self._native).forget_class(encoded)
        return known

    def rename_class(self, str name not None, str to not None):
        cdef string_view old = Instance.any_utf8(name), new = Instance.utf8(to, "class", ())
        cdef bint renamed
        with nogil:
            renamed = deref(self._native).rename_class(old, new)
        return renamed

    def forget_feature(self, str name not None):
        cdef string_view encoded = Instance.any_utf8(name)
        cdef bint known
        with nogil:  # visits all nodes of a label tree
            known = deref(self._native).forget_feature(encoded)
        return known

    def drop_example(self, Instance instance not None, list classes not None):
        cdef vector[string_view] names = Learner.names_of(classes)
        cdef string_view wire = bytes_of(instance)
        cdef size_t dropped
        with nogil:
            dropped = deref(self._native).drop_example(wire, names)
        return dropped

    def sparsify(self, uint64_t edges):
        cdef uint64_t gone
        if not deref(self._native).can_sparsify():
            raise OptionError("learner", f"{self.options.learner} cannot drop edges by weight")
        with nogil:
            gone = deref(self._native).sparsify(edges)
        return gone

    def rank_csr(self, Columns features not None, const int64_t[::1] indptr not None,
                 const int32_t[::1] indices not None, const float[::1] values not None,
                 uint32_t k=5):
        cdef CsrRows rows = features.rows(indptr, indices, values)
        ids = np.empty((rows.count, k), np.int32)
        scores = np.empty((rows.count, k), np.float64)
        cdef int32_t[:, ::1] id_view = ids
        cdef double[:, ::1] score_view = scores
        if rows.count and k:
            with nogil:
                deref(self._native).rank_csr(rows, k, &id_view[0, 0], &score_view[0, 0])
        return ids, scores

    def learn_csr(self, Columns features not None, const int64_t[::1] indptr not None,
                  const int32_t[::1] indices not None, const float[::1] values not None,
                  Columns classes not None, const int64_t[::1] class_indptr not None,
                  const int32_t[::1] class_indices not None, int epoch=0,
                  const float[::1] weights=None, double[:, ::1] top_two=None,
                  Calibration calibration=None, const uint8_t[::1] counts=None):
        check_weights(weights, indptr, self.options)
        cdef CsrRows rows = features.rows(indptr, indices, values)
        cdef CsrRows labels = classes.true_classes(rows, class_indptr, class_indices)
        cdef const float* given = NULL
        cdef RowOutcomes outcomes = RowOutcomes(NULL, NULL, NULL, NULL)
        if top_two is not None and (top_two.shape[0] != rows.count or top_two.shape[1] != 2):
            raise ValueError(f"top_two must have the shape ({rows.count}, 2)")
        if counts is not None and counts.shape[0] != rows.count:
            raise ValueError(f"counts must have the shape ({rows.count},)")
        ranks = np.empty(rows.count, np.int32)
        cdef int32_t[::1] rank_view = ranks
        if rows.count == 0:
            return ranks
        if weights is not None:
            given = &weights[0]
        outcomes.ranks = &rank_view[0]
        if top_two is not None:
            outcomes.top_two = <TopTwoScores*>&top_two[0, 0]
        if calibration is not None:
            outcomes.calibration = calibration._native.get()
        if counts is not None:
            outcomes.counts = &counts[0]
        with nogil:
            deref(self._native).learn_csr(rows, labels, given, epoch == 0, outcomes)
        return ranks

    def build_csr(self, Columns features not None, const int64_t[::1] indptr not None,
                  const int32_t[::1] indices not None, const float[::1] values not None,
                  Columns classes not None, const int64_t[::1] class_indptr not None,
                  const int32_t[::1] class_indices not None):
        cdef CsrRows rows = features.rows(indptr, indices, values)
        cdef CsrRows labels = classes.true_classes(rows, class_indptr, class_indices)
        cdef bint is_built
        if rows.count == 0:
            return False
        with nogil:
            is_built = deref(self._native).build_csr(rows, labels)
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
        with nogil:  # visits all nodes of a label tree
            found = deref(self._native).inspection().resident_bytes()
        return found

    @property
    def evicted_features(self):
        return deref(self._native).inspection().sizes().evicted_features

    @property
    def evicted_classes(self):
        return deref(self._native).inspection().sizes().evicted_classes

    @property
    def neighbor_weight(self):
        return deref(self._native).inspection().neighbor_weight()

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
        return deref(self._native).inspection().has_class(Instance.any_utf8(name))

    def has_feature(self, str name not None):
        return deref(self._native).inspection().has_feature(Instance.any_utf8(name))

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
        cdef Feature found
        cdef string_view encoded = Instance.any_utf8(name)
        cdef bint known
        with nogil:  # visits all nodes of a label tree
            known = deref(self._native).inspection().feature(encoded, found)
        if not known:
            raise UnknownName("feature", name)
        return {
            "times_seen": found.times_seen,
            "rating": found.rating,
            "outdegree": found.weights.size(),
            "mass": found.mass,
            "edges": weighted(found.weights),
        }

    def class_(self, str name not None, size_t limit=100):
        cdef uint64_t learned = 0
        cdef vector[pair[string, double]] edges
        cdef string_view encoded = Instance.any_utf8(name)
        cdef bint known
        with nogil:
            known = deref(self._native).inspection().cls(encoded, limit, learned, edges)
        if not known:
            raise UnknownName("class", name)
        return {"learned": learned, "features": weighted(edges)}

    def class_page(self, str prefix not None, str after not None, size_t limit):
        cdef vector[pair[string, uint64_t]] page
        cdef string_view begins = Instance.any_utf8(prefix), behind = Instance.any_utf8(after)
        with nogil:
            deref(self._native).inspection().class_page(begins, behind, limit, page)
        return [(page[i].first.decode("utf-8"), page[i].second) for i in range(page.size())]

    def classes_by(self, str order not None, str prefix not None, str after not None, size_t limit):
        if order not in ("events", "newest"):
            raise ValueError(f"order must be 'events' or 'newest', not {order!r}")
        cdef vector[pair[string, uint64_t]] page
        cdef string_view begins = Instance.any_utf8(prefix), behind = Instance.any_utf8(after)
        cdef bint is_newest_first = order == "newest"
        with nogil:
            deref(self._native).inspection().classes_by(
                is_newest_first, begins, behind, limit, page
            )
        return [(page[i].first.decode("utf-8"), page[i].second) for i in range(page.size())]

    @property
    def ranked_classes(self):
        cdef uint64_t count
        if self._mixed.get() == NULL:
            return self.classes
        with nogil:
            count = deref(self._mixed).ranked_classes()
        return count

    def unlearned_page(self, str prefix not None, str after not None, size_t limit):
        cdef vector[pair[string, uint64_t]] page
        cdef string_view begins = Instance.any_utf8(prefix), behind = Instance.any_utf8(after)
        if self._mixed.get() == NULL:
            return []
        with nogil:
            deref(self._mixed).unlearned_page(begins, behind, limit, page)
        return [(page[i].first.decode("utf-8"), page[i].second) for i in range(page.size())]

    def feature_page(self, str prefix not None, str after not None, size_t limit):
        cdef vector[pair[string, uint64_t]] page
        cdef string_view begins = Instance.any_utf8(prefix), behind = Instance.any_utf8(after)
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
            arrays = {}
            for i in range(sections.size()):
                array = np.empty(sections[i].size, "<" + sections[i].type.decode())
                arrays[sections[i].name.decode()] = array
                sections[i].data = start_of(array)
            outcomes = [member.progress.dump() for member in self.members]
            with nogil:
                whole = deref(self._native).dump(sections, changes)
        return parts.joined(self.options, arrays, outcomes)

    @classmethod
    def load(cls, options, sections, uint64_t hash_seed=0, Taxonomy taxonomy=None,
             Evidence evidence=None):
        cdef uint64_t changes = 0
        cdef Learner learner = Learner(options, hash_seed, taxonomy, evidence)
        cdef vector[Section] native = deref(learner._native).measure(changes)
        cdef size_t i  # declared, because Cython cannot infer its type from two vectors
        declared = {each.name.decode(): "<" + each.type.decode() for each in native}
        arrays = parts.checked(options, sections, declared, OTHER_LEARNER.decode())
        for i in range(native.size()):
            array = arrays[native[i].name.decode()]
            native[i].size = len(array)
            native[i].data = start_of(array)
        try:
            with nogil:
                deref(learner._native).load(native)
        except ValueError as error:
            section, _, fault = str(error).partition(": ")
            raise SnapshotError(fault, section) from error
        cdef ProgressiveValidation progress
        cdef vector[MemberView] members = deref(learner._native).members()
        prefixes = [*parts.options_of(options)]
        for i in range(members.size()):
            with within(sections, prefixes[i]) as own:
                progress = ProgressiveValidation.load(own)
            members[i].progress.get()[0] = deref(progress._counts)
        return learner


cdef void* start_of(object array) except *:
    return <void*><size_t>array.ctypes.data
