"""Events: the changes of a model that the log stores.

An event's bytes, little-endian:
    kind u8 (| 0x80: joined, | 0x40: with an origin, | 0x20: with the id of its instance),
    fingerprint u64, event id (u16 size, UTF-8; 0: none), the origin, the id of the instance, and
    the content of the kind
    origin          time u64, source, reviewer and batch (u16 size, UTF-8 each), text (u32 size,
                    see text/stored_text.hpp); of learn events; amend events have a reviewer and the
                    text only
    id of the instance  u16 size, UTF-8; of learn events only
    learn           u32 count, the classes (u16 size, UTF-8 each), the instance (wire.hpp)
    learn, weighted u32 count, the classes, u32 count, the rejected ones, weight f64, the instance
    learn, placing  as the weighted one, with the placements before the instance
    amend           target u64, weight f64, u32 count, the new classes (none: the target is
                    deleted), u32 count, the replaced classes, the instance
    rename          merges u8, u32 count, the present and the new name of a class, or a former name
                    alone, which is released
    place           moves u8, the placements: u32 count, the classes, u32 count, the parent of each
    forget_...      the name's UTF-8
    promote         the learner's specification, in UTF-8
    configure       the options as JSON
    restore         seq u64
    adopt           the token of a rebuilt state, in UTF-8
    rules           version u32
    describe        the class (u16 size, UTF-8), the changes (u32 size, JSON), an instance without
                    features, with the new vector if there is one
"""

import json
import struct

from libcpp.string_view cimport string_view

cimport cython

from manyclass.core.event_parts cimport (
    READING_BYTES,
    check_weight,
    placements,
    reading_in,
    refuse_both,
    stored_text,
    text_in,
    wire_of,
    wire_of_head,
    wire_of_placements,
)
from manyclass.core.instance cimport Instance
from manyclass.core.text cimport TextAnalysis

from manyclass.core.descriptions import checked_changes
from manyclass.core.errors import EventError, InstanceError
from manyclass.core.event_parts import class_names
from manyclass.core.text import Reading

cdef tuple KINDS = (
    *("learn", "forget_class", "forget_feature", "configure", "restore", "promote", "rules"),
    *("learn", "place", "learn", "amend", "rename", "adopt", "describe"),
)
cdef enum:
    LEARN, FORGET_CLASS, FORGET_FEATURE, CONFIGURE, RESTORE, PROMOTE, RULES  # positions in KINDS
    WEIGHTED  # a learn event with a weight or rejected classes
    PLACE
    PLACING  # a learn event with placements
    AMEND  # a correction or deletion of an earlier learn event
    RENAME
    ADOPT
    DESCRIBE
    WITH_INSTANCE_ID = 0x20
    WITH_ORIGIN = 0x40
    JOINED = 0x80
    MARKS = WITH_INSTANCE_ID | WITH_ORIGIN | JOINED
    ORIGIN_NAMES = 3  # source, reviewer and batch
    NO_ORIGIN_BYTES = ORIGIN_NAMES * 2 + 4  # of an origin behind its time, without names and text
cdef dict NAMED = {
    FORGET_CLASS: "class", FORGET_FEATURE: "feature", PROMOTE: "learner", ADOPT: "state",
}
_HEAD = struct.Struct("<BQH")
_TIME = struct.Struct("<Q")
_TARGET = struct.Struct("<Qd")

Text = str | dict[str, str]  # the text of an instance, or the texts of its fields


@cython.final
cdef class Event:
    """One change of the state, as stored in the log. Immutable; any thread may read it."""

    def __cinit__(self):
        self._data = b""
        self.kind = ""
        self.classes = []
        self.rejected = []
        self.replaced = []
        self.weight = 1
        self.parents = {}
        self.name = ""
        self.renamed_to = ""
        self.options = {}
        self.described = {}

    def __init__(self, *args, **kwargs):
        raise TypeError("make an event with Event.learn, Event.forget_class, ...")

    @classmethod
    def learn(cls, Instance instance not None, classes, str event_id=None,
              unsigned long long fingerprint=0, rejected=(), double weight=1, parents=None,
              str source=None, text=None, unsigned long long time=0, str instance_id=None,
              reading=None, str reviewer=None, str batch=None):
        cdef list names = class_names(classes)
        cdef list wrong = class_names(rejected, "not") if rejected else []
        if not names and not wrong:
            raise InstanceError("an event needs at least one true class", ("classes",))
        if wrong and names:
            refuse_both(names, rejected)
        check_weight(weight)
        cdef dict placed = placements(parents, to_root=False) if parents else {}
        cdef bint is_plain = not wrong and weight == 1 and not placed
        cdef bytes stored = stored_text(text, reading)
        cdef int kind = LEARN if is_plain else PLACING if placed else WEIGHTED
        cdef Event event = Event.__new__(Event)
        event.kind = "learn"
        event.parents = placed
        event.rejected = wrong
        event.weight = weight
        event.event_id = event_id
        event.fingerprint = fingerprint
        event.classes = names
        event.source = source
        event.reviewer = reviewer
        event.batch = batch
        if stored:
            event.text, event.reading = text, reading
        event.time = time
        event.instance_id = instance_id
        event._instance = instance
        event._data = b"".join((
            wire_of_head(
                kind, event_id, fingerprint, time, source, stored, instance_id, reviewer, batch
            ),
            wire_of(names),
            b"" if is_plain else wire_of(wrong) + struct.pack("<d", weight),
            wire_of_placements(placed) if placed else b"",
            instance._data,
        ))
        return event

    @classmethod
    def place(cls, parents not None, bint moves=False):
        cdef dict placed = placements(parents, to_root=True)
        if not placed:
            raise InstanceError("an event places at least one class", ("parents",))
        cdef Event event = event_of(PLACE, bytes([moves]) + wire_of_placements(placed))
        event.parents = placed
        event.moves = moves
        return event

    @classmethod
    def amend(cls, unsigned long long target, Instance instance not None, classes, replaced,
              double weight=1, str event_id=None, unsigned long long fingerprint=0,
              text=None, reading=None, str reviewer=None):
        check_weight(weight)
        cdef bytes stored = stored_text(text, reading)
        cdef Event event = Event.__new__(Event)
        event.kind = "amend"
        event.reviewer = reviewer
        event.target = target
        event.classes = class_names(classes)
        event.replaced = class_names(replaced)
        event.weight = weight
        event.event_id = event_id
        event.fingerprint = fingerprint
        event._instance = instance
        if stored:
            event.text, event.reading = text, reading
        event._data = b"".join((
            wire_of_head(AMEND, event_id, fingerprint, 0, None, stored, None, reviewer),
            _TARGET.pack(target, weight),
            wire_of(event.classes), wire_of(event.replaced), instance._data,
        ))
        return event

    @classmethod
    def rename(cls, str name not None, str to not None, bint merges=False):
        cdef list names = class_names([name, to])
        if len(names) != 2:
            raise InstanceError("the two names of a rename must differ", ("rename",))
        cdef Event event = event_of(RENAME, bytes([merges]) + wire_of(names))
        event.name, event.renamed_to = names
        event.merges = merges
        return event

    @classmethod
    def release(cls, str name not None):
        cdef Event event = event_of(RENAME, b"\0" + wire_of(class_names([name])))
        event.name = name
        return event

    @classmethod
    def forget_class(cls, str name not None):
        return named_event(FORGET_CLASS, name)

    @classmethod
    def forget_feature(cls, str name not None):
        return named_event(FORGET_FEATURE, name)

    @classmethod
    def describe(cls, str name not None, changes):
        cdef list names = class_names([name])
        given = checked_changes(changes)
        vector = given.get("vector")
        texts = {key: value for key, value in given.items() if key != "vector" or value is None}
        cdef bytes content = json.dumps(texts, sort_keys=True, ensure_ascii=False).encode()
        cdef Event event = event_of(DESCRIBE, b"".join((
            wire_of(names)[4:], struct.pack("<I", len(content)), content,
            bytes(Instance({}) if vector is None else vector),
        )))
        event.name = names[0]
        event.described = given
        return event

    @classmethod
    def configure(cls, options):
        given = dict(options)
        cdef Event event = event_of(CONFIGURE, json.dumps(given, sort_keys=True).encode())
        event.options = given
        return event

    @classmethod
    def restore(cls, unsigned long long seq):
        cdef Event event = event_of(RESTORE, struct.pack("<Q", seq))
        event.restored = seq
        return event

    @classmethod
    def adopt(cls, str token not None):
        return named_event(ADOPT, token)

    @classmethod
    def promote(cls, str specification not None):
        return named_event(PROMOTE, specification)

    @classmethod
    def use_rules(cls, unsigned int version):
        cdef Event event = event_of(RULES, struct.pack("<I", version))
        event.rules = version
        return event

    @classmethod
    def from_bytes(cls, bytes data not None):
        try:
            return parse(data)
        except (struct.error, ValueError, RecursionError) as error:
            raise EventError(f"these bytes are not an event: {error}") from error

    @staticmethod
    def stamped(bytes data not None, unsigned long long time):
        marked_kind, _, id_size = _HEAD.unpack_from(data)
        cdef int kind = marked_kind & ~MARKS
        cdef Py_ssize_t at = _HEAD.size + id_size
        if kind != LEARN and kind != WEIGHTED and kind != PLACING:
            return data
        if marked_kind & WITH_ORIGIN:
            return b"".join((data[:at], _TIME.pack(time), data[at + _TIME.size:]))
        return b"".join((
            bytes([marked_kind | WITH_ORIGIN]), data[1:at],
            _TIME.pack(time), bytes(NO_ORIGIN_BYTES), data[at:],
        ))

    @staticmethod
    def time_of(bytes data not None):
        if not data:
            return 0
        marked_kind, _, id_size = _HEAD.unpack_from(data)
        return _TIME.unpack_from(data, _HEAD.size + id_size)[0] if marked_kind & WITH_ORIGIN else 0

    @staticmethod
    def amends(bytes data not None):
        return len(data) > 0 and data[0] & ~MARKS == AMEND

    @staticmethod
    def names_class(bytes data not None):
        return len(data) > 0 and data[0] & ~MARKS in (FORGET_CLASS, RENAME)

    @staticmethod
    def is_mark(bytes data not None):
        cdef int kind = data[0] & ~MARKS if data else LEARN
        return kind in (RESTORE, RULES, RENAME, ADOPT)

    @staticmethod
    def alone(bytes data not None):
        return bytes([data[0] & ~JOINED]) + data[1:] if data and data[0] & JOINED else data

    def without_id(self):
        cdef bint is_bare = self.event_id is None and self.fingerprint == 0 and not self.joined
        cdef bint is_of_no_origin = (
            self.source is None and self.reviewer is None and self.batch is None
            and self.reading is None
        )
        if is_bare and is_of_no_origin and not self.time and self.instance_id is None:
            return self
        return Event.learn(
            self.instance, self.classes, rejected=self.rejected, weight=self.weight
        )

    @staticmethod
    def is_readable(bytes data not None, TextAnalysis analysis not None):
        if not data or not data[0] & WITH_ORIGIN:
            return True
        _, _, id_size = _HEAD.unpack_from(data)
        cdef Py_ssize_t at = _HEAD.size + id_size + _TIME.size
        for _ in range(ORIGIN_NAMES):
            at += 2 + struct.unpack_from("<H", data, at)[0]
        size = struct.unpack_from("<I", data, at)[0]
        if size != READING_BYTES or data[at + 4] == analysis.parts.code():
            return True
        return len(Event.from_bytes(data).instance) == 0

    def read_by(self, TextAnalysis analysis not None):
        if self.reading is None or self.reading.analysis == analysis:
            return self
        reading = Reading(analysis, self.reading.most_features)
        instance = Instance({})
        if self.text is not None:
            instance = analysis.instance_of(self.text, reading.most_features).instance
        instance = instance.with_vector_of(self._instance)
        if self.kind == "amend":
            return Event.amend(
                self.target, instance, self.classes, self.replaced, self.weight, self.event_id,
                self.fingerprint, self.text, reading, self.reviewer,
            )
        return Event.learn(
            instance, self.classes, self.event_id, self.fingerprint, self.rejected, self.weight,
            self.parents, self.source, self.text, self.time, self.instance_id, reading,
            self.reviewer, self.batch,
        )

    def join(self):
        if self.joined:
            return self
        cdef Event event = Event.__new__(Event)
        event.kind = self.kind
        event.event_id = self.event_id
        event.fingerprint = self.fingerprint
        event.classes = self.classes
        event.rejected = self.rejected
        event.replaced = self.replaced
        event.target = self.target
        event.weight = self.weight
        event.parents = self.parents
        event.moves = self.moves
        event.name = self.name
        event.renamed_to = self.renamed_to
        event.merges = self.merges
        event.options = self.options
        event.described = self.described
        event.restored = self.restored
        event.rules = self.rules
        event.source = self.source
        event.reviewer = self.reviewer
        event.batch = self.batch
        event.text = self.text
        event.reading = self.reading
        event.time = self.time
        event.instance_id = self.instance_id
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

cdef Event event_of(int kind, bytes content):
    """Return an event without an id; the caller sets the attributes of its kind."""
    cdef Event event = Event.__new__(Event)
    event.kind = KINDS[kind]
    event._data = wire_of_head(kind) + content
    return event


cdef Event named_event(int kind, str name):
    what = NAMED[kind]
    cdef string_view encoded = Instance.utf8(name, what, (what,))
    cdef Event event = event_of(kind, encoded.data()[:encoded.size()])
    event.name = name
    return event


cdef Event parse(bytes data):
    marked_kind, fingerprint, id_size = _HEAD.unpack_from(data)
    kind = marked_kind & ~MARKS
    cdef Event event
    cdef Py_ssize_t at = _HEAD.size
    event_id = take(data, at, id_size).decode("utf-8") if id_size else None
    at += id_size
    time, names, text, reading, instance_id = 0, [None] * ORIGIN_NAMES, None, None, None
    if marked_kind & (WITH_ORIGIN | WITH_INSTANCE_ID):
        if kind not in (LEARN, WEIGHTED, PLACING) and marked_kind & ~JOINED != AMEND | WITH_ORIGIN:
            raise EventError("only a learn event can have an origin or the id of an instance")
        if marked_kind & WITH_ORIGIN:
            time, names, text, reading, at = origin_at(data, at)
        if marked_kind & WITH_INSTANCE_ID:
            instance_id, at = name_at(data, at)
    source, reviewer, batch = names
    if kind == LEARN:
        classes, at = names_at(data, at)
        event = Event.learn(
            Instance.from_bytes(data[at:]), classes, event_id, fingerprint,
            source=source, text=text, time=time, instance_id=instance_id, reading=reading,
            reviewer=reviewer, batch=batch,
        )
    elif kind == WEIGHTED or kind == PLACING:
        classes, at = names_at(data, at)
        rejected, at = names_at(data, at)
        weight = struct.unpack_from("<d", data, at)[0]
        parents = {}
        at += 8
        if kind == PLACING:
            parents, at = placements_at(data, at)
        instance = Instance.from_bytes(data[at:])
        event = Event.learn(
            instance, classes, event_id, fingerprint, rejected, weight, parents,
            source, text, time, instance_id, reading, reviewer, batch,
        )
    elif kind == PLACE:
        moves = take(data, at, 1) == b"\x01"
        parents, at = placements_at(data, at + 1)
        event = Event.place({name: parent or None for name, parent in parents.items()}, moves)
    elif kind == AMEND:
        target, weight = _TARGET.unpack_from(data, at)
        classes, at = names_at(data, at + _TARGET.size)
        replaced, at = names_at(data, at)
        instance = Instance.from_bytes(data[at:])
        event = Event.amend(
            target, instance, classes, replaced, weight, event_id, fingerprint, text, reading,
            reviewer,
        )
    elif kind == RENAME:
        merges = take(data, at, 1) == b"\x01"
        names, at = names_at(data, at + 1)
        if len(names) not in (1, 2) or at != len(data):
            raise EventError("a rename event must have one or two names")
        event = Event.rename(*names, merges) if len(names) == 2 else Event.release(names[0])
    elif kind in NAMED:
        event = named_event(kind, data[at:].decode("utf-8"))
    elif kind == CONFIGURE:
        options = json.loads(data[at:])
        if not isinstance(options, dict):
            raise EventError("the options of an event are not an object")
        event = Event.configure(options)
    elif kind == DESCRIBE:
        name, at = name_at(data, at)
        size = struct.unpack_from("<I", data, at)[0]
        changes = json.loads(take(data, at + 4, size))
        instance = Instance.from_bytes(data[at + 4 + size:])
        if not isinstance(changes, dict) or name is None:
            raise EventError("the changes of a description are not an object of a class")
        if instance.has_vector:
            changes["vector"] = instance
        event = Event.describe(name, changes)
    elif kind == RESTORE:
        event = Event.restore(struct.unpack("<Q", data[at:])[0])
    elif kind == RULES:
        event = Event.use_rules(struct.unpack("<I", data[at:])[0])
    else:
        raise EventError(f"there is no event of kind {kind}")
    if marked_kind & JOINED:
        event = event.join()
    if bytes(event) != data:
        raise EventError("an event does not read back as it was written")
    return event


cdef tuple origin_at(bytes data, Py_ssize_t at):
    """Return time, names, text and reading of the origin at this offset, and its end."""
    time = _TIME.unpack_from(data, at)[0]
    at += _TIME.size
    names = []
    for _ in range(ORIGIN_NAMES):
        name, at = name_at(data, at)
        names.append(name)
    size = struct.unpack_from("<I", data, at)[0]
    stored = take(data, at + 4, size)
    return time, names, text_in(stored), reading_in(stored), at + 4 + size


cdef tuple name_at(bytes data, Py_ssize_t at):
    """Return the name at this offset, None if it is empty, and the offset of its end."""
    size = struct.unpack_from("<H", data, at)[0]
    return take(data, at + 2, size).decode("utf-8") if size else None, at + 2 + size


cdef tuple names_at(bytes data, Py_ssize_t at):
    """Return the names at this offset, and the offset of their end."""
    count = struct.unpack_from("<I", data, at)[0]
    at += 4
    names = []
    for _ in range(count):
        name, at = name_at(data, at)
        names.append("" if name is None else name)
    return names, at


cdef tuple placements_at(bytes data, Py_ssize_t at):
    """Return the parents of classes at this offset, and the offset of their end."""
    names, at = names_at(data, at)
    parents, at = names_at(data, at)
    if len(names) != len(parents):
        raise EventError("not every placed class has a parent")
    return dict(zip(names, parents)), at


cdef bytes take(bytes data, Py_ssize_t at, Py_ssize_t size):
    if at + size > len(data):
        raise EventError("an event is cut short")
    return data[at:at + size]
