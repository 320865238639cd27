"""The child process of a rebuild, which learns a stream of events again.

It reads frames from standard input, and writes the state to standard output as a snapshot.

    frame    kind u8, size u64, then that many bytes
    b"S"     the bytes of the snapshot to begin with
    b"T"     the text analysis with which the events are learned
    b"A"     former names of classes and their present ones, as a JSON object
    b"L"     the options of learners that learn all the events, as a JSON list
    b"E"     events, consecutive: size u32 and bytes of each; an empty one has no effect
    b"D"     the end: write the state

The exit status is OTHER_TEXT if the snapshot has learned with another text analysis.
"""

import json
import os
import struct
import sys
from collections.abc import Iterator, Sequence
from typing import BinaryIO

from manyclass.core import rules
from manyclass.core.event import Event
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.core.model_set import ModelSet
from manyclass.core.text import TextAnalysis
from manyclass.service.log.interpreter import Interpreter, OneModel, apply_all
from manyclass.service.threads import lower_priority

FRAME = struct.Struct("<cQ")
SIZE = struct.Struct("<I")
SNAPSHOT, TEXT, ALIASES, WHOLE, EVENTS, END = b"S", b"T", b"A", b"L", b"E", b"D"
OTHER_TEXT = 3  # an exit status


def frame(kind: bytes, body: bytes) -> bytes:
    """Return the bytes of a frame."""
    return FRAME.pack(kind, len(body)) + body


def events_body(payloads: list[bytes]) -> bytes:
    """Return the body of a frame of events."""
    return b"".join(part for each in payloads for part in (SIZE.pack(len(each)), each))


def run(given: BinaryIO, out: BinaryIO) -> None:
    """Learn the events in the frames and write the state. Raises EOFError if the parent has ended.

    Raises SystemExit if the snapshot has learned with another text analysis.
    """
    model = Model.load([_body(given, SNAPSHOT)])
    text = TextAnalysis.parse(_body(given, TEXT).decode())
    if model.text != text and any(each.learner.features for each in model.enrolled):
        sys.exit(OTHER_TEXT)
    model.text = text
    model.use_rules(rules.RULES)
    model.merged = 0
    model.take_aliases(json.loads(_body(given, ALIASES)))
    whole = [Options.from_dict(each) for each in json.loads(_body(given, WHOLE))]
    model.begin_whole(whole)
    interpreter = Interpreter(OneModel(model), is_replay=True)
    while (item := _read(given))[0] == EVENTS:
        for payload in _payloads(item[1]):
            learn_again(interpreter, payload, whole)
    out.writelines(model.dump())
    out.flush()


def learn_again(interpreter: Interpreter, payload: bytes, whole: Sequence[Options] = ()) -> None:
    """Apply the next event of the log, which is empty if it has no effect.

    It is a request by itself, because an event excluded by a conflict is empty already. The
    learners `whole` stay when the event chooses others.
    """
    if not payload:
        interpreter.pass_over()
        return
    event = Event.from_bytes(payload)
    if whole and event.kind == "configure":
        if event.options.get("removed") in {each.specification for each in whole}:
            interpreter.pass_over()
            return
        if "primary" in event.options:
            model_set = ModelSet.from_dict(event.options)
            for options in whole:
                model_set = model_set.having(options)
            event = Event.configure({**event.options, **model_set.to_dict()})
    apply_all(interpreter.request([event]))


def _payloads(body: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(body):
        (size,) = SIZE.unpack_from(body, at)
        at += SIZE.size + size
        yield body[at - size : at]


def _body(given: BinaryIO, kind: bytes) -> bytes:
    found, body = _read(given)
    if found != kind:
        raise ValueError(f"the next frame must be {kind!r}, not {found!r}")
    return body


def _read(given: BinaryIO) -> tuple[bytes, bytes]:
    head = given.read(FRAME.size)
    if len(head) < FRAME.size:
        raise EOFError("the frames end without an end")
    kind, size = FRAME.unpack(head)
    body = given.read(size)
    if len(body) < size:
        raise EOFError("a frame is cut short")
    return kind, body


if __name__ == "__main__":
    lower_priority()
    # Standard output has only the state; prints go to standard error.
    state = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        run(sys.stdin.buffer, state)
    except (EOFError, BrokenPipeError):  # the parent has ended, or has given up the rebuild
        sys.exit(1)
