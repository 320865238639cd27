"""The Python interface of a learner's calibration, native/calibration.hpp."""

from cython.operator cimport dereference as deref
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libcpp.string cimport string
from libcpp.string_view cimport string_view
from libcpp.utility cimport pair
from libcpp.vector cimport vector

cimport cython

from manyclass.core.instance cimport Instance
from manyclass.core.locking cimport release_gil_while_waiting

import numpy as np

from manyclass.core.errors import SnapshotError
from manyclass.core.operating_points import (
    Curve,
    Group,
    Groups,
    Point,
    ProbabilityCurve,
    ProbabilityPoint,
)
from manyclass.core.reliability import Bin
from manyclass.core.sections import runs

release_gil_while_waiting()

NEWEST_OUTCOMES = NEWEST
MOST_OUTCOMES = MOST

cdef dict SECTIONS = {
    "calibration_outcomes": "<u8",
    "calibration_numbers": "<f8",
    "calibration_lower": "<f8",
    "calibration_confidences": "<f4",
    "calibration_right": "u1",
    "calibration_classes": "<u4",
    "calibration_sources": "<u4",
    "calibration_name_sizes": "<u2",
    "calibration_names": "u1",
    "calibration_places": "<u2",
    "calibration_places_true": "<u2",
    "calibration_true_classes": "<u2",
}
cdef tuple OF_OUTCOMES = ("calibration_right", "calibration_classes", "calibration_sources")


cdef void* start_of(object array) except *:
    return <void*><size_t>array.ctypes.data


cdef CalibrationArrays views_of(dict arrays) except *:
    """Return views of the sections."""
    cdef CalibrationArrays views
    views.numbers = <double*>start_of(arrays["calibration_numbers"])
    views.lower = <double*>start_of(arrays["calibration_lower"])
    views.kept = kept_in(arrays)
    views.places.limits = <uint16_t*>start_of(arrays["calibration_places"])
    views.places.are_true = <uint16_t*>start_of(arrays["calibration_places_true"])
    views.places.true_classes = <uint16_t*>start_of(arrays["calibration_true_classes"])
    return views


cdef KeptArrays kept_in(dict arrays) except *:
    """Return views of the sections with the kept outcomes."""
    cdef KeptArrays kept
    kept.confidences = <float*>start_of(arrays["calibration_confidences"])
    kept.rights = <uint8_t*>start_of(arrays["calibration_right"])
    kept.classes = <uint32_t*>start_of(arrays["calibration_classes"])
    kept.sources = <uint32_t*>start_of(arrays["calibration_sources"])
    kept.name_sizes = <uint16_t*>start_of(arrays["calibration_name_sizes"])
    kept.names = <char*>start_of(arrays["calibration_names"])
    return kept


cdef vector[pair[string, string]] names_in(aliases) except *:
    """Return the former and the present names of classes."""
    cdef vector[pair[string, string]] names
    for former, now in aliases.items():
        names.push_back(pair[string, string](former.encode(), now.encode()))
    return names


cdef object point_of(const NativePoint& point):
    """Return a point; None without answers."""
    return Point(point.limit, point.answers, point.right) if point.answers else None


def interval_of(uint64_t right, uint64_t answers):
    cdef Interval90 interval = Interval90.of(right, answers)
    return interval.low, interval.high


@cython.final
cdef class Calibration:
    """Maps from the scores of a ranking to the probability that each class is right.

    Threads: any may call `confidence`, `probabilities` and the functions of limits; one at a time
    the rest.
    """

    def __cinit__(self, uint64_t hash_seed=0):
        self._native.reset(new NativeCalibration(hash_seed))

    @property
    def outcomes(self):
        return deref(self._native).outcomes()

    def confidence(self, double first, double second):
        cdef TopTwoScores top_two
        top_two.first = first
        top_two.second = second
        cdef double confidence = deref(self._native).confidence(top_two)
        return None if confidence < 0 else confidence

    def limit_for(self, double accuracy):
        cdef double limit = deref(self._native).limit_for(accuracy)
        return None if limit > 1 else limit

    def probabilities(self, scores not None):
        cdef vector[Ranked] best
        cdef vector[double] found
        cdef Ranked each
        each.cls = 0
        for score in scores:
            each.score = score
            best.push_back(each)
        deref(self._native).probabilities(best.data(), best.size(), found)
        return [None if found[at] < 0 else found[at] for at in range(found.size())]

    def probability_limit_for(self, double precision):
        cdef double limit = deref(self._native).probability_limit_for(precision)
        return None if limit > 1 else limit

    def add_ranking(self, scores not None, are_true not None, size_t true_classes, str cls=None,
                    str source=None):
        cdef RankingBefore before
        cdef Ranked each
        cdef string_view name, origin
        if true_classes == 0:
            raise ValueError("true_classes must be 1 or more")
        each.cls = 0
        for score, is_true in zip(scores, are_true, strict=True):
            each.score = score
            before.best.push_back(each)
            before.are_true.push_back(bool(is_true))
        if cls is not None:
            name = Instance.any_utf8(cls)
            before.first.assign(name.data(), name.size())
        if source is not None:
            origin = Instance.any_utf8(source)
        deref(self._native).add(
            top_two_of(before.best.data(), before.best.size()), before, true_classes, origin
        )

    def add(self, double first, double second, bint is_right, str cls=None, str source=None):
        cdef TopTwoScores top_two
        cdef string_view name, origin
        top_two.first = first
        top_two.second = second
        if cls is not None:
            name = Instance.any_utf8(cls)
        if source is not None:
            origin = Instance.any_utf8(source)
        deref(self._native).add(top_two, is_right, name, origin)

    def forget_class(self, str name not None):
        deref(self._native).forget_class(Instance.any_utf8(name))

    def settle(self, const double[:, ::1] top_two not None, const uint8_t[::1] right not None):
        if top_two.shape[1] != 2 or top_two.shape[0] != right.shape[0]:
            raise ValueError("top_two must have the shape (n, 2), and right (n,)")
        if not np.isfinite(top_two).all():
            raise ValueError("the scores must be finite")
        if top_two.shape[0]:
            deref(self._native).settle(
                <const TopTwoScores*>&top_two[0, 0], &right[0], top_two.shape[0]
            )

    def curve(self, size_t newest, aliases):
        cdef vector[pair[string, string]] renamed = names_in(aliases)
        cdef NativeCurve found
        with nogil:
            found = read_curve(deref(self._native), newest, renamed)
        points = [
            Point(each.limit, each.answers, each.right) for each in found.points
        ]
        return Curve(found.outcomes, found.right, points, list(found.groups))

    def mean_confidences(self, sizes):
        cdef vector[size_t] lengths = sizes
        cdef vector[double] means
        with nogil:
            means = read_mean_confidences(deref(self._native), lengths)
        return [None if mean < 0 else mean for mean in means]

    def groups(self, str by not None, size_t newest, aliases, targets, size_t offset, size_t limit):
        cdef vector[pair[string, string]] renamed = names_in(aliases)
        cdef vector[double] wanted = targets
        cdef GroupedBy kind = GroupedBy.CLS if by == "class" else GroupedBy.SOURCE
        cdef GroupPage page
        with nogil:
            page = read_groups(
                deref(self._native), newest, renamed, kind, wanted, offset, limit
            )
        groups = []
        cdef NativeGroup* each
        for at in range(page.groups.size()):
            each = &page.groups[at]
            reached = [point_of(each.reached[i]) for i in range(each.reached.size())]
            groups.append(Group(
                page.names[at].decode("utf-8"), each.outcomes, each.right, reached,
                point_of(each.best),
            ))
        return Groups(page.total, list(page.reached), groups)

    def probability_curve(self):
        cdef NativeProbabilityCurve found
        with nogil:
            found = deref(self._native).probability_curve()
        points = [
            ProbabilityPoint(each.limit, each.classes, each.right, each.rankings)
            for each in found.points
        ]
        return ProbabilityCurve(found.rankings, found.true_classes, points)

    @property
    def resident_bytes(self):
        return (
            deref(self._native).kept().resident_bytes()
            + deref(self._native).places().resident_bytes()
        )

    @property
    def brier(self):
        cdef double brier = deref(self._native).brier()
        return None if brier < 0 else brier

    @property
    def reliability(self):
        cdef NativeBins bins = deref(self._native).reliability()
        return [
            Bin(bins[i].count, bins[i].confidence, bins[i].right) for i in range(<Py_ssize_t>BINS)
        ]

    def dump(self):
        cdef KeptSizes sizes = deref(self._native).kept().sizes()
        cdef CalibrationCounts counts = deref(self._native).counts()
        places = deref(self._native).places().size()
        lengths = dict.fromkeys(SECTIONS, sizes.outcomes) | {
            "calibration_outcomes": 3,
            "calibration_numbers": NUMBERS,
            "calibration_lower": LOWER_NUMBERS,
            "calibration_name_sizes": sizes.names,
            "calibration_names": sizes.name_bytes,
            "calibration_places": PLACES * places,
            "calibration_places_true": places,
            "calibration_true_classes": places,
        }
        arrays = {name: np.empty(lengths[name], dtype) for name, dtype in SECTIONS.items()}
        arrays["calibration_outcomes"][:] = counts.outcomes, counts.added, counts.places
        deref(self._native).dump(views_of(arrays))
        return arrays

    @classmethod
    def load(cls, sections, uint64_t hash_seed=0):
        cdef Calibration calibration = Calibration(hash_seed)
        cdef dict arrays = runs(sections, SECTIONS)
        cdef KeptSizes sizes
        sizes.outcomes = len(arrays["calibration_confidences"])
        sizes.names = len(arrays["calibration_name_sizes"])
        sizes.name_bytes = len(arrays["calibration_names"])
        cdef size_t places = len(arrays["calibration_places_true"])
        lengths = {
            "calibration_outcomes": 3,
            "calibration_numbers": NUMBERS,
            "calibration_lower": LOWER_NUMBERS,
            "calibration_places": PLACES * places,
            "calibration_true_classes": places,
        }
        lengths |= dict.fromkeys(OF_OUTCOMES, sizes.outcomes)
        for name, length in lengths.items():
            if len(arrays[name]) != length:
                raise SnapshotError(f"it has {len(arrays[name])} numbers, not {length}", name)
        cdef CalibrationCounts counts
        counts.outcomes, counts.added, counts.places = arrays["calibration_outcomes"].tolist()
        try:
            deref(calibration._native).load(counts, sizes, places, views_of(arrays))
        except ValueError as error:
            section, _, fault = str(error).partition(": ")
            raise SnapshotError(fault, section) from error
        return calibration
