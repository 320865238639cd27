"""Parts of events: names of classes, placements and stored texts."""

import struct
from collections.abc import Mapping
from itertools import chain

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport uint8_t
from libcpp.string cimport string
from libcpp.string_view cimport string_view
from libcpp.vector cimport vector

from manyclass.core.instance cimport Instance
from manyclass.core.text cimport TextAnalysis

from manyclass.core.errors import InstanceError
from manyclass.core.text import Reading

_READING = struct.Struct("<BI")  # the code of the analysis, the largest number of features
_MOST_FEATURES = 2**32 - 1

SMALLEST_WEIGHT = 0.001
LARGEST_WEIGHT = 1000.0
MOST_PLACEMENTS = 1000  # in one event, since an event is applied without a pause


def class_names(names, str field="classes"):
    cdef dict unique = {}
    if isinstance(names, (str, bytes)):
        raise InstanceError(f"{field} must be an array of names", (field,))
    for position, given in enumerate(names):
        name = Instance.as_name(given, "class", (field, position))
        Instance.utf8(name, "class", (field, position))
        unique[name] = None
    return list(unique)


cdef dict placements(parents, bint to_root):
    """Return the parent of each class, empty for the root; InstanceError for a bad name.

    `to_root`: a parent of None stands for the root; else it is refused."""
    cdef dict placed = {}
    if not isinstance(parents, Mapping):
        raise InstanceError("parents must be an object: the parent of each class", ("parents",))
    if len(parents) > MOST_PLACEMENTS:
        raise InstanceError(f"an event places at most {MOST_PLACEMENTS} classes", ("parents",))
    for given, parent in parents.items():
        name = Instance.as_name(given, "class", ("parents", given))
        Instance.utf8(name, "class", ("parents", name))
        if parent is None and to_root:
            placed[name] = ""
            continue
        above = Instance.as_name(parent, "parent", ("parents", name))
        Instance.utf8(above, "parent", ("parents", name))
        placed[name] = above
    return placed


cdef bytes wire_of_head(int kind, str event_id=None, unsigned long long fingerprint=0,
                        unsigned long long time=0, str source=None, bytes text=b"",
                        str instance_id=None, str reviewer=None, str batch=None):
    """Return the bytes of an event in front of its content; InstanceError for a bad name.

    They include an origin if there is a time, a source, a reviewer, a batch or a stored text.
    """
    cdef EventHead before
    cdef string out
    before.kind = <uint8_t>kind
    before.fingerprint = fingerprint
    before.time = time
    before.origin.source = view_of(source, "source")
    before.origin.reviewer = view_of(reviewer, "reviewer")
    before.origin.batch = view_of(batch, "batch")
    before.origin.text = string_view(text, len(text))
    before.instance_id = view_of(instance_id, "id")
    before.event_id = view_of(event_id, "event_id")
    put_head(out, before)
    return PyBytes_FromStringAndSize(out.data(), out.size())


cdef string_view view_of(str given, str what):
    """Return a name in UTF-8, empty for None; InstanceError for a bad name."""
    if given is None:
        return string_view()
    return Instance.utf8(given, what, (what,))


cdef bytes wire_of(list names):
    """Return the bytes of names: their number, then each with its size; "" stands for the root."""
    cdef vector[string_view] views
    cdef string out
    for each in names:
        views.push_back(
            string_view() if <str>each == "" else Instance.utf8(<str>each, "class", ())
        )
    put_names(out, views)
    return PyBytes_FromStringAndSize(out.data(), out.size())


cdef bytes wire_of_placements(dict parents):
    return wire_of(list(parents)) + wire_of(list(parents.values()))


cdef int check_weight(double weight) except -1:
    if not SMALLEST_WEIGHT <= weight <= LARGEST_WEIGHT:  # nor NaN
        raise InstanceError(
            f"a weight must be from {SMALLEST_WEIGHT} to {LARGEST_WEIGHT:g}", ("weight",)
        )
    return 0


cdef int refuse_both(list names, rejected) except -1:
    cdef set true = set(names)
    for position, name in enumerate(rejected):
        if str(name) in true:
            raise InstanceError(
                f"class {str(name)!r} is in `classes` too: a class is either true or wrong",
                ("not", position),
            )
    return 0


cdef bytes stored_text(text, reading):
    """Return a text, or the texts of fields, in the form of text/stored_text.hpp.

    Empty if there is no reading, and for an empty text, which has no features under any analysis.
    `text` is None if it was read but is not kept.
    """
    if reading is None:
        if text is not None:
            raise ValueError("a text is stored with its reading")
        return b""
    if text == "":
        return b""
    analysis, most = reading
    code = (<TextAnalysis?>analysis).parts.code()
    cdef bytes head = _READING.pack(code, min(most, _MOST_FEATURES))
    if text is None:
        return head
    parts = [text] if isinstance(text, str) else ["", *chain.from_iterable(text.items())]
    try:
        return head + b"\xff".join([part.encode() for part in parts])
    except UnicodeEncodeError:
        raise InstanceError("text is not valid Unicode", ("text",)) from None


cdef object text_in(bytes stored):
    """Return a stored text, or the texts of its fields; None if it was not kept."""
    cdef Py_ssize_t front = READING_BYTES
    if len(stored) <= front:
        return None
    if stored[front] != 0xff:
        return stored[front:].decode("utf-8")
    parts = stored[front + 1:].split(b"\xff")
    return {
        name.decode("utf-8"): text.decode("utf-8")
        for name, text in zip(parts[::2], parts[1::2], strict=True)
    }


cdef object reading_in(bytes stored):
    """Return the reading of a stored text; None without one."""
    if not stored:
        return None
    code, most = _READING.unpack_from(stored)
    return Reading(TextAnalysis.of_code(code), most)
