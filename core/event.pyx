"""Instances and events: what the log keeps and the index learns from.

An event's bytes, little-endian:
    kind u8 (| 0x80: joined), fingerprint u64, event id (u16 size, UTF-8; 0: none), then by kind
    learn           u32 count, the classes (u16 size, UTF-8 each), the instance (wire.hpp)
    forget_...      the name's UTF-8
    promote         the learner's specification, in UTF-8
    configure       the options as JSON
    restore         seq u64
    rules           version u32
"""

import json
import struct

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.dict cimport PyDict_Next
from cpython.float cimport PyFloat_AS_DOUBLE
from cpython.ref cimport PyObject
from cpython.unicode cimport PyUnicode_AsUTF8AndSize
from libc.math cimport isfinite
from libc.stdint cimport uint16_t, uint32_t
from libc.string cimport memcpy
from libcpp.string cimport string
from libcpp.string_view cimport string_view

cimport cython

from manyclass.core.errors import EventError, InstanceError


cdef extern from "core/native/text/json.hpp" namespace "manyclass" nogil:
    cdef cppclass JsonFeatures:
        @staticmethod
        JsonFeatures& mine() except +
        bint read(string_view data, size_t most) except +
        uint32_t write(string& out) except +

cdef extern from "core/native/pipeline/wire.hpp" namespace "manyclass" nogil:
    const size_t LONGEST_NAME_BYTES "manyclass::LONGEST_NAME"
    const double MOST "manyclass::LARGEST_VALUE"
    const double LEAST "manyclass::SMALLEST_VALUE"
    void put_feature(string& out, string_view name, double value) except +
    cdef cppclass FeatureReader:
        FeatureReader(const char* data, size_t size)
        bint next()
        string_view name()
        double value()
        bint whole()
        uint32_t left()

LONGEST_NAME = LONGEST_NAME_BYTES
LARGEST_VALUE = MOST
SMALLEST_VALUE = LEAST

cdef object UNMADE = object()  # for an instance that is made from its bytes

cdef tuple KINDS = (
    "learn", "forget_class", "forget_feature", "configure", "restore", "promote", "rules"
)
_HEAD = struct.Struct("<BQH")
cdef enum:
    JOINED = 0x80
    SHORT_JSON = 16384  # bytes


cdef double number(object value, object name) except? -1:
    """Return the value as a double; InstanceError unless it is a finite number in the limit."""
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
    if not isfinite(real) or real > MOST:
        raise InstanceError(
            f"the value of feature {name!r} must be a finite number up to {MOST:g}",
            ("features", name),
        )
    return real


cdef str as_name(object name, str what, object place):
    if type(name) is str:
        return <str>name
    if isinstance(name, int) and type(name) is not bool:
        return str(name)
    if isinstance(name, str):
        return str(name)
    raise InstanceError(f"a {what} name must be a string or an integer", place)


cdef dict merge(object features):
    """Return unique names with the sums of their values."""
    cdef dict merged = {}
    pairs = features.items() if hasattr(features, "items") else None
    if pairs is None:
        if isinstance(features, (str, bytes)) or not hasattr(features, "__iter__"):
            raise InstanceError("features must be a mapping or an array of names", ("features",))
        for position, name in enumerate(features):
            name = as_name(name, "feature", ("features", position))
            merged[name] = merged.get(name, 0.0) + 1.0
        return merged
    for name, value in pairs:
        name = as_name(name, "feature", ("features", name))
        votes = max(number(value, name), 0.0)
        merged[name] = merged.get(name, 0.0) + votes
    return merged


cdef bint only_strings(dict features):
    cdef PyObject* key
    cdef Py_ssize_t at = 0
    while PyDict_Next(features, &at, &key, NULL):
        if type(<object>key) is not str:
            return False
    return True


cdef inline void put_count(string& out, uint32_t count):
    out.append(<const char*>&count, sizeof(count))


@cython.final
cdef class Instance:
    """A sparse instance: unique feature names with values above 0. Immutable.

    Threads: any may read it.
    Ownership: its bytes are a Python object of its own; the index reads them while it holds it.
    """

    def __cinit__(self, features):
        cdef dict unique
        cdef PyObject* key
        cdef PyObject* entry
        cdef Py_ssize_t at = 0
        cdef uint32_t count = 0
        cdef double value
        cdef string out
        if features is UNMADE:
            return
        if type(features) is dict and only_strings(<dict>features):
            unique = <dict>features
        else:
            unique = merge(features)
        out.reserve(4 + len(unique) * 24)
        put_count(out, 0)
        while PyDict_Next(unique, &at, &key, &entry):
            given = <object>key
            name = Instance.utf8(<str>given, "feature", ("features", given))
            if type(<object>entry) is float:
                value = PyFloat_AS_DOUBLE(<object>entry)
                if not isfinite(value) or value > MOST:
                    number(<object>entry, <object>key)
            else:
                value = number(<object>entry, <object>key)
            if value >= LEAST:
                put_feature(out, name, value)
                count += 1
        memcpy(&out[0], &count, sizeof(count))
        self._data = PyBytes_FromStringAndSize(out.data(), out.size())
        self._count = count

    @staticmethod
    cdef string_view utf8(str name, str what, object place) except *:
        """Return a name as UTF-8, valid as long as the string; InstanceError for a bad name."""
        cdef Py_ssize_t size
        cdef const char* data
        try:
            data = PyUnicode_AsUTF8AndSize(name, &size)
        except UnicodeEncodeError:
            raise InstanceError(
                f"a {what} name is not valid Unicode: {ascii(name)}", place
            ) from None
        if size == 0:
            raise InstanceError(f"a {what} name is empty", place)
        if <size_t>size > LONGEST_NAME_BYTES:
            raise InstanceError(
                f"a {what} name has {size} bytes; at most {LONGEST_NAME_BYTES} are allowed", place
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
        cdef FeatureReader* reader = new FeatureReader(
            PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data)
        )
        cdef Py_ssize_t count = reader.left()
        cdef string_view name
        cdef set seen = set()
        try:
            while reader.next():
                name = reader.name()
                if name.size() > LONGEST_NAME_BYTES:
                    raise EventError("an instance holds an overlong name")
                try:
                    seen.add(name.data()[:name.size()].decode("utf-8"))
                except UnicodeDecodeError:
                    raise EventError("an instance holds a name that is not UTF-8") from None
                if not (LEAST <= reader.value() <= MOST):
                    raise EventError("an instance holds a value out of range")
            if not reader.whole() or len(seen) != count:
                raise EventError("these bytes are not an instance")
        finally:
            del reader
        return Instance.wrap(data, count)

    def __bytes__(self):
        return self._data

    def __len__(self):
        return self._count

    def __eq__(self, other):
        return isinstance(other, Instance) and self._data == (<Instance>other)._data

    def __hash__(self):
        return hash(self._data)

    def __repr__(self):
        return f"Instance({dict(self.items())!r})"

    def items(self):
        cdef FeatureReader* reader = new FeatureReader(
            PyBytes_AS_STRING(self._data), PyBytes_GET_SIZE(self._data)
        )
        cdef string_view name
        cdef list pairs = []
        try:
            while reader.next():
                name = reader.name()
                pairs.append((name.data()[:name.size()].decode("utf-8"), reader.value()))
        finally:
            del reader
        return pairs


cdef bytes head(int kind, str event_id, unsigned long long fingerprint):
    cdef string_view name
    cdef bytes id_bytes = b""
    if event_id is not None:
        name = Instance.utf8(event_id, "event_id", ("event_id",))
        id_bytes = name.data()[:name.size()]
    return _HEAD.pack(kind, fingerprint, len(id_bytes)) + id_bytes


@cython.final
cdef class Event:
    """One change of the state, as stored in the log. Immutable; any thread may read it."""

    def __cinit__(self):
        self._data = b""
        self.kind = ""
        self.classes = []
        self.name = ""
        self.options = {}

    def __init__(self, *args, **kwargs):
        raise TypeError("make an event with Event.learn, Event.forget_class, ...")

    @classmethod
    def learn(cls, Instance instance not None, classes, str event_id=None,
              unsigned long long fingerprint=0):
        cdef string out
        cdef string_view name
        cdef uint16_t size
        cdef dict names = {}
        if isinstance(classes, (str, bytes)):
            raise InstanceError("classes must be an array of names", ("classes",))
        for position, given in enumerate(classes):
            unique = as_name(given, "class", ("classes", position))
            name = Instance.utf8(unique, "class", ("classes", position))
            if unique in names:
                continue
            names[unique] = None
            size = <uint16_t>name.size()
            out.append(<const char*>&size, sizeof(size))
            out.append(name.data(), name.size())
        if not names:
            raise InstanceError("an event needs at least one true class", ("classes",))
        cdef uint32_t count = <uint32_t>len(names)
        cdef Event event = Event.__new__(Event)
        event.kind = "learn"
        event.event_id = event_id
        event.fingerprint = fingerprint
        event.classes = list(names)
        event._instance = instance
        event._data = b"".join((
            head(0, event_id, fingerprint),
            PyBytes_FromStringAndSize(<const char*>&count, sizeof(count)),
            PyBytes_FromStringAndSize(out.data(), out.size()),
            instance._data,
        ))
        return event

    @classmethod
    def forget_class(cls, str name not None):
        return named_event(1, name, "class")

    @classmethod
    def forget_feature(cls, str name not None):
        return named_event(2, name, "feature")

    @classmethod
    def configure(cls, options):
        cdef Event event = Event.__new__(Event)
        event.kind = "configure"
        event.options = dict(options)
        event._data = head(3, None, 0) + json.dumps(event.options, sort_keys=True).encode()
        return event

    @classmethod
    def restore(cls, unsigned long long seq):
        cdef Event event = Event.__new__(Event)
        event.kind = "restore"
        event.restored = seq
        event._data = head(4, None, 0) + struct.pack("<Q", seq)
        return event

    @classmethod
    def promote(cls, str specification not None):
        return named_event(5, specification, "learner")

    @classmethod
    def use_rules(cls, unsigned int version):
        cdef Event event = Event.__new__(Event)
        event.kind = "rules"
        event.rules = version
        event._data = head(6, None, 0) + struct.pack("<I", version)
        return event

    @classmethod
    def from_bytes(cls, bytes data not None):
        try:
            return parse(data)
        except (struct.error, ValueError, RecursionError) as error:
            raise EventError(f"these bytes are not an event: {error}") from error

    def join(self):
        if self.joined:
            return self
        cdef Event event = Event.__new__(Event)
        event.kind = self.kind
        event.event_id = self.event_id
        event.fingerprint = self.fingerprint
        event.classes = self.classes
        event.name = self.name
        event.options = self.options
        event.restored = self.restored
        event.rules = self.rules
        event._instance = self._instance
        event.joined = True
        event._data = bytes([self._data[0] | JOINED]) + self._data[1:]
        return event

    def __bytes__(self):
        return self._data

    def __eq__(self, other):
        return isinstance(other, Event) and self._data == (<Event>other)._data

    def __hash__(self):
        return hash(self._data)

    def __repr__(self):
        return f"Event({self.kind}, {len(self._data)} bytes, event_id={self.event_id!r})"

    @property
    def instance(self):
        if self._instance is None:
            raise AttributeError(f"a {self.kind} event has no instance")
        return self._instance


cdef Event named_event(int kind, str name, str what):
    cdef string_view encoded = Instance.utf8(name, what, (what,))
    cdef Event event = Event.__new__(Event)
    event.kind = KINDS[kind]
    event.name = name
    event._data = head(kind, None, 0) + encoded.data()[:encoded.size()]
    return event


cdef Event parse(bytes data):
    marked_kind, fingerprint, id_size = _HEAD.unpack_from(data)
    kind = marked_kind & ~JOINED
    cdef Event event
    cdef Py_ssize_t at = _HEAD.size
    event_id = take(data, at, id_size).decode("utf-8") if id_size else None
    at += id_size
    if kind == 0:
        count = struct.unpack_from("<I", data, at)[0]
        at += 4
        classes = []
        for _ in range(count):
            size = struct.unpack_from("<H", data, at)[0]
            classes.append(take(data, at + 2, size).decode("utf-8"))
            at += 2 + size
        event = Event.learn(Instance.from_bytes(data[at:]), classes, event_id, fingerprint)
    elif kind == 1:
        event = Event.forget_class(data[at:].decode("utf-8"))
    elif kind == 2:
        event = Event.forget_feature(data[at:].decode("utf-8"))
    elif kind == 3:
        options = json.loads(data[at:])
        if not isinstance(options, dict):
            raise EventError("the options of an event are not an object")
        event = Event.configure(options)
    elif kind == 4:
        event = Event.restore(struct.unpack("<Q", data[at:])[0])
    elif kind == 5:
        event = Event.promote(data[at:].decode("utf-8"))
    elif kind == 6:
        event = Event.use_rules(struct.unpack("<I", data[at:])[0])
    else:
        raise EventError(f"there is no event of kind {kind}")
    if marked_kind != kind:
        event = event.join()
    if bytes(event) != data:
        raise EventError("an event does not read back as it was written")
    return event


cdef bytes take(bytes data, Py_ssize_t at, Py_ssize_t size):
    if at + size > len(data):
        raise EventError("an event is cut short")
    return data[at:at + size]
