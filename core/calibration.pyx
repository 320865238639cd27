"""The Python interface of a learner's calibration, native/calibration.hpp."""

from cython.operator cimport dereference as deref
from libc.stdint cimport uint8_t, uint64_t

cimport cython

from manyclass.core.locking cimport release_gil_while_waiting

import numpy as np

from manyclass.core.errors import SnapshotError
from manyclass.core.reliability import Bin
from manyclass.core.sections import runs

release_gil_while_waiting()

cdef dict SECTIONS = {
    "calibration_outcomes": np.dtype("<u8"),
    "calibration_numbers": np.dtype("<f8"),
    "calibration_confidences": np.dtype("<f4"),
    "calibration_right": np.dtype("u1"),
}


@cython.final
cdef class Calibration:
    """A map from the scores of the two best classes to the probability that the first is right.

    Threads: any may call `confidence`; one at a time the rest.
    """

    def __cinit__(self):
        self._native.reset(new NativeCalibration())

    @property
    def outcomes(self):
        return deref(self._native).outcomes()

    def confidence(self, double first, double second):
        cdef TopTwoScores top_two
        top_two.first = first
        top_two.second = second
        cdef double confidence = deref(self._native).confidence(top_two)
        return None if confidence < 0 else confidence

    def add(self, double first, double second, bint is_right):
        cdef TopTwoScores top_two
        top_two.first = first
        top_two.second = second
        deref(self._native).add(top_two, is_right)

    def settle(self, const double[:, ::1] top_two not None, const uint8_t[::1] right not None):
        if top_two.shape[1] != 2 or top_two.shape[0] != right.shape[0]:
            raise ValueError("top_two must have the shape (n, 2), and right (n,)")
        if not np.isfinite(top_two).all():
            raise ValueError("the scores must be finite")
        if top_two.shape[0]:
            deref(self._native).settle(
                <const TopTwoScores*>&top_two[0, 0], &right[0], top_two.shape[0]
            )

    @property
    def brier(self):
        return deref(self._native).brier() if deref(self._native).kept() else None

    @property
    def reliability(self):
        cdef NativeBins bins = deref(self._native).reliability()
        return [
            Bin(bins[i].count, bins[i].confidence, bins[i].right) for i in range(<Py_ssize_t>BINS)
        ]

    def dump(self):
        cdef Py_ssize_t kept = deref(self._native).kept()
        outcomes = np.array([self.outcomes], "<u8")
        numbers = np.empty(<Py_ssize_t>NUMBERS, "<f8")
        confidences = np.empty(max(kept, 1), "<f4")
        right = np.empty(max(kept, 1), "u1")
        cdef double[::1] number_view = numbers
        cdef float[::1] confidence_view = confidences
        cdef uint8_t[::1] right_view = right
        deref(self._native).dump(&number_view[0], &confidence_view[0], &right_view[0])
        arrays = (outcomes, numbers, confidences[:kept], right[:kept])
        return dict(zip(SECTIONS, arrays, strict=True))

    @classmethod
    def load(cls, sections):
        cdef Calibration calibration = Calibration()
        arrays = runs(sections, SECTIONS)
        cdef Py_ssize_t kept = len(arrays["calibration_confidences"])
        sizes = (1, NUMBERS, kept, kept)
        for name, size in zip(SECTIONS, sizes, strict=True):
            if len(arrays[name]) != size:
                raise SnapshotError(f"it has {len(arrays[name])} numbers, not {size}", name)
        cdef uint64_t outcomes = arrays["calibration_outcomes"][0]
        cdef const double[::1] numbers = arrays["calibration_numbers"]
        # One more element, so that a pointer to the first is valid in an empty array too.
        cdef float[::1] confidences = np.append(arrays["calibration_confidences"], np.float32(0))
        cdef uint8_t[::1] right = np.append(arrays["calibration_right"], np.uint8(0))
        try:
            deref(calibration._native).load(
                outcomes, &numbers[0], kept, &confidences[0], &right[0]
            )
        except ValueError as error:
            section, _, fault = str(error).partition(": ")
            raise SnapshotError(fault, section) from error
        return calibration
