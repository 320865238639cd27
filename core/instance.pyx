"""Sparse instances, stored in the wire form of native/pipeline/wire.hpp."""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.dict cimport PyDict_Next
from cpython.float cimport PyFloat_AS_DOUBLE
from cpython.ref cimport PyObject
from cpython.unicode cimport PyUnicode_AsUTF8AndSize
from cython.operator cimport dereference as deref
from libc.math cimport fabs, isfinite
from libc.stdint cimport uint32_t
from libc.string cimport memcpy
from libcpp.string cimport string
from libcpp.string_view cimport string_view

cimport cython

import numpy as np

from manyclass.core.errors import EventError, InstanceError


cdef extern from "core/native/text/json.hpp" namespace "manyclass" nogil:
    cdef cppclass JsonFeatures:
        @staticmethod
        JsonFeatures& mine() except +
        bint read(string_view data, size_t most) except +
        uint32_t write(string& out) except +

cdef extern from "core/native/text/json_vector.hpp" namespace "manyclass" nogil:
    cdef cppclass JsonCursor:
        JsonCursor(string_view text)

    cdef enum class VectorFault:
        none
        form
        number
        base64
        bytes
        dimension
        not_finite
        zero

    cdef cppclass JsonVector:
        @staticmethod
        JsonVector& mine() except +
        VectorFault read(JsonCursor& json) except +
        void write(string& instance) except +
        size_t count()

cdef extern from "core/native/pipeline/wire.hpp" namespace "manyclass" nogil:
    const size_t LONGEST_NAME_BYTES "manyclass::LONGEST_NAME"
    const double MOST "manyclass::LARGEST_VALUE"
    const double LEAST "manyclass::SMALLEST_VALUE"
    const uint32_t SIGNED "manyclass::SIGNED"
    void put_feature(string& out, string_view name, double value) except +
    cdef cppclass FeatureReader:
        FeatureReader(string_view instance)
        bint next()
        string_view name()
        double value()
        bint whole(size_t behind)
        uint32_t left()

cdef extern from "core/native/pipeline/vector.hpp" namespace "manyclass" nogil:
    const size_t SMALLEST "manyclass::LEAST_DIMENSION"
    const size_t LARGEST "manyclass::MOST_DIMENSION"
    const double VECTOR_LENGTH
    size_t vector_bytes(size_t dimension)
    bint append_vector(string& instance, const double* numbers, size_t dimension) except +
    void append_same "manyclass::append_vector"(string& instance, VectorView vector) except +
    void copy_features(string_view instance, VectorView vector, string& features) except +

LONGEST_NAME = LONGEST_NAME_BYTES
LARGEST_VALUE = MOST
SMALLEST_VALUE = LEAST
LEAST_DIMENSION = SMALLEST  # of a vector
MOST_DIMENSION = LARGEST

VECTOR_FORMS = (
    f"a list of {LEAST_DIMENSION} to {MOST_DIMENSION} numbers, a base64 string of float32 numbers,"
    ' or an object with one of int8 numbers: [0.12, -0.5] or {"int8": "Hoo="}'
)

cdef object UNMADE = object()  # the argument for an instance whose bytes are set afterwards

cdef enum:
    SHORT_JSON = 16384  # bytes


cdef double number(object value, object name) except? -1:
    """Return the value as a double; InstanceError unless it is a finite number within the limit."""
    cdef double real
    if type(value) is bool or isinstance(value, (str, bytes)):
        raise InstanceError(f"the value of feature {name!r} is not a number", ("features", name))
    try:
        real = float(value)
    except OverflowError:
        real = float("inf")
    except (TypeError, ValueError):
        raise InstanceError(
            f"the value of feature {name!r} is not a number", ("features", name)
        ) from None
    if not isfinite(real) or fabs(real) > MOST:
        raise InstanceError(
            f"the value of feature {name!r} must be a finite number from {-MOST:g} to {MOST:g}",
            ("features", name),
        )
    return real


cdef dict merge(object features):
    """Return unique names with the sums of their values."""
    cdef dict merged = {}
    pairs = features.items() if hasattr(features, "items") else None
    if pairs is None:
        if isinstance(features, (str, bytes)) or not hasattr(features, "__iter__"):
            raise InstanceError("features must be a mapping or an array of names", ("features",))
        for position, name in enumerate(features):
            name = Instance.as_name(name, "feature", ("features", position))
            merged[name] = merged.get(name, 0.0) + 1.0
        return merged
    for name, value in pairs:
        name = Instance.as_name(name, "feature", ("features", name))
        merged[name] = merged.get(name, 0.0) + number(value, name)
    return merged


cdef bint only_strings(dict features):
    cdef PyObject* key
    cdef Py_ssize_t at = 0
    while PyDict_Next(features, &at, &key, NULL):
        if type(<object>key) is not str:
            return False
    return True


cdef int add_vector(string& out, object vector) except -1:
    """Append a vector to the bytes of an instance without one; InstanceError for a bad one."""
    cdef const double[::1] numbers
    if isinstance(vector, (str, bytes)):
        raise InstanceError("a vector must be an array of numbers", ("vector",))
    try:
        numbers = np.ascontiguousarray(vector, np.float64)
    except (OverflowError, TypeError, ValueError):
        raise InstanceError("a vector must be an array of numbers", ("vector",)) from None
    if not LEAST_DIMENSION <= len(numbers) <= MOST_DIMENSION:
        raise wrong_dimension(str(len(numbers)))
    if not append_vector(out, &numbers[0], len(numbers)):
        raise InstanceError(
            "the numbers of a vector must be finite, and not all of them 0", ("vector",)
        )
    return 0


cdef object wrong_dimension(str given):
    """Return the refusal of a vector of so many numbers."""
    return InstanceError(
        f"a vector has from {LEAST_DIMENSION} to {MOST_DIMENSION} numbers, not {given}",
        ("vector",),
    )


cdef object refusal_of(VectorFault fault, size_t count):
    """Return the refusal of a vector in JSON, of which so many numbers were read."""
    if fault == VectorFault.dimension:
        return wrong_dimension(f"{count}" if count <= LARGEST else f"{count} or more")
    if fault == VectorFault.number:
        return InstanceError(
            "an element of a vector must be a number that a double can be, such as -0.25",
            ("vector", count),
        )
    if fault == VectorFault.base64:
        detail = "a string of a vector must be standard base64 with padding"
    elif fault == VectorFault.bytes:
        detail = "the base64 string of a vector must hold float32 numbers, of 4 bytes each"
    elif fault == VectorFault.form:
        detail = f"`vector` must be {VECTOR_FORMS}"
    else:
        detail = "the numbers of a vector must be finite, and not all of them 0"
    return InstanceError(detail, ("vector",))


cdef string features_of(Instance instance):
    """Return the bytes of an instance without its vector."""
    cdef string_view given = bytes_of(instance)
    cdef VectorView vector = vector_of(given)
    cdef string out
    if vector.empty():
        out.assign(given.data(), given.size())
    else:
        copy_features(given, vector, out)
    return out


@cython.final
cdef class Instance:
    """A sparse instance: unique feature names with values other than 0, and perhaps a vector, such
    as an embedding. Immutable.

    Threads: any may read it.
    Ownership: it owns its bytes; native code reads them while the caller keeps the instance alive.
    """

    def __cinit__(self, features, vector=None):
        cdef dict unique
        cdef PyObject* key
        cdef PyObject* entry
        cdef Py_ssize_t at = 0
        cdef uint32_t begin, count = 0, sign = 0
        cdef double value
        cdef string out
        if features is UNMADE:
            return
        if type(features) is dict and only_strings(<dict>features):
            unique = <dict>features
        else:
            unique = merge(features)
        out.reserve(sizeof(count) + len(unique) * 24)
        out.resize(sizeof(count))  # set below
        while PyDict_Next(unique, &at, &key, &entry):
            given = <object>key
            name = Instance.utf8(<str>given, "feature", ("features", given))
            if type(<object>entry) is float:
                value = PyFloat_AS_DOUBLE(<object>entry)
                if not isfinite(value) or fabs(value) > MOST:
                    number(<object>entry, <object>key)
            else:
                value = number(<object>entry, <object>key)
            if fabs(value) >= LEAST:
                put_feature(out, name, value)
                count += 1
                if value < 0:
                    sign = SIGNED
        begin = count | sign
        memcpy(&out[0], &begin, sizeof(begin))
        if vector is not None:
            add_vector(out, vector)
        self._data = PyBytes_FromStringAndSize(out.data(), out.size())
        self._count = count

    @staticmethod
    cdef str as_name(object name, str what, object path):
        if type(name) is str:
            return <str>name
        if isinstance(name, int) and type(name) is not bool:
            return str(name)
        if isinstance(name, str):
            return str(name)
        raise InstanceError(f"a {what} name must be a string or an integer", path)

    @staticmethod
    cdef string_view any_utf8(str text) except *:
        """Return any text as UTF-8, valid as long as the text lives."""
        cdef Py_ssize_t size
        cdef const char* data
        try:
            data = PyUnicode_AsUTF8AndSize(text, &size)
        except UnicodeEncodeError:
            raise InstanceError(f"not valid Unicode: {ascii(text)}") from None
        return string_view(data, size)

    @staticmethod
    cdef string_view utf8(str name, str what, object path) except *:
        """Return a name as UTF-8, valid as long as the string lives.

        Raise InstanceError, with the path to the fault, for a bad name."""
        cdef Py_ssize_t size
        cdef const char* data
        try:
            data = PyUnicode_AsUTF8AndSize(name, &size)
        except UnicodeEncodeError:
            raise InstanceError(
                f"a {what} name is not valid Unicode: {ascii(name)}", path
            ) from None
        if size == 0:
            raise InstanceError(f"a {what} name is empty", path)
        if <size_t>size > LONGEST_NAME_BYTES:
            raise InstanceError(
                f"a {what} name has {size} bytes; at most {LONGEST_NAME_BYTES} are allowed", path
            )
        return string_view(data, size)

    @staticmethod
    cdef Instance wrap(bytes data, Py_ssize_t count):
        cdef Instance instance = Instance.__new__(Instance, UNMADE)
        instance._data = data
        instance._count = count
        return instance

    @classmethod
    def from_json(cls, data, size_t most=0xffffffff):
        cdef JsonFeatures* features = &JsonFeatures.mine()
        cdef Py_buffer view
        cdef string out
        cdef string_view text
        cdef uint32_t count = 0
        cdef bint plain
        PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
        try:
            text = string_view(<const char*>view.buf, view.len)
            if view.len <= SHORT_JSON:  # releasing the GIL takes longer than reading
                plain = features.read(text, most)
                if plain:
                    count = features.write(out)
            else:
                with nogil:
                    plain = features.read(text, most)
                    if plain:
                        count = features.write(out)
            if not plain:
                return None
        finally:
            PyBuffer_Release(&view)
        return Instance.wrap(PyBytes_FromStringAndSize(out.data(), out.size()), count)

    @classmethod
    def from_bytes(cls, bytes data not None):
        cdef string_view bytes_of_data = string_view(
            PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data)
        )
        cdef FeatureReader* reader = new FeatureReader(bytes_of_data)
        cdef VectorView vector = vector_of(bytes_of_data)
        cdef Py_ssize_t count = reader.left()
        cdef size_t behind
        cdef string_view name
        cdef set seen = set()
        cdef bint has_sign = False
        try:
            while reader.next():
                name = reader.name()
                if name.size() > LONGEST_NAME_BYTES:
                    raise EventError("an instance holds an overlong name")
                try:
                    seen.add(name.data()[:name.size()].decode("utf-8"))
                except UnicodeDecodeError:
                    raise EventError("an instance holds a name that is not UTF-8") from None
                if not (LEAST <= fabs(reader.value()) <= MOST):
                    raise EventError("an instance holds a value out of range")
                has_sign = has_sign or reader.value() < 0
            if has_vector(bytes_of_data) and not vector.is_valid():
                raise EventError("an instance holds a vector that cannot be one")
            behind = 0 if vector.empty() else vector_bytes(vector.size())
            if not reader.whole(behind) or len(seen) != count:
                raise EventError("these bytes are not an instance")
        finally:
            del reader
        cdef Instance instance = Instance.wrap(data, count)
        if instance.is_signed != has_sign:
            raise EventError("the mark for values below 0 in an instance is wrong")
        return instance

    def __bytes__(self):
        return self._data

    def __len__(self):
        return self._count

    @property
    def is_signed(self):
        return is_signed(bytes_of(self))

    @property
    def is_empty(self):
        return self._count == 0 and not has_vector(bytes_of(self))

    @property
    def has_vector(self):
        return has_vector(bytes_of(self))

    @property
    def dimension(self):
        return vector_of(bytes_of(self)).size()

    @property
    def vector(self):
        cdef VectorView found = vector_of(bytes_of(self))
        if found.empty():
            return None
        return np.frombuffer(found.data()[:found.bytes()], np.int16)

    def unit_vector(self):
        vector = self.vector
        return None if vector is None else tuple((vector / VECTOR_LENGTH).tolist())

    def with_vector(self, vector):
        cdef string out = features_of(self)
        if vector is not None:
            add_vector(out, vector)
        return Instance.wrap(PyBytes_FromStringAndSize(out.data(), out.size()), self._count)

    def with_vector_of_json(self, data):
        cdef JsonVector* vector = &JsonVector.mine()
        cdef JsonCursor* json
        cdef Py_buffer view
        cdef VectorFault fault
        cdef string out = features_of(self)
        PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
        try:
            json = new JsonCursor(string_view(<const char*>view.buf, view.len))
            try:
                fault = vector.read(deref(json))
            finally:
                del json
        finally:
            PyBuffer_Release(&view)
        if fault != VectorFault.none:
            raise refusal_of(fault, vector.count())
        vector.write(out)
        return Instance.wrap(PyBytes_FromStringAndSize(out.data(), out.size()), self._count)

    def with_vector_of(self, Instance other not None):
        cdef VectorView vector = vector_of(bytes_of(other))
        if vector.empty() and not self.has_vector:
            return self
        cdef string out = features_of(self)
        if not vector.empty():
            append_same(out, vector)
        return Instance.wrap(PyBytes_FromStringAndSize(out.data(), out.size()), self._count)

    def __eq__(self, other):
        return isinstance(other, Instance) and self._data == (<Instance>other)._data

    def __hash__(self):
        return hash(self._data)

    def __repr__(self):
        vector = f", {self.dimension} numbers" if self.has_vector else ""
        return f"Instance({dict(self.items())!r}{vector})"

    def items(self):
        cdef FeatureReader* reader = new FeatureReader(bytes_of(self))
        cdef string_view name
        cdef list pairs = []
        try:
            while reader.next():
                name = reader.name()
                pairs.append((name.data()[:name.size()].decode("utf-8"), reader.value()))
        finally:
            del reader
        return pairs
