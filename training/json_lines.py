"""JSON lines: an object a line. An array and the body of a request are read as their objects."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Final

import msgspec

from manyclass.training.lines import STANDARD_INPUT, FileFault, Line, LineFault, Source
from manyclass.training.vectors import VectorFile, packed

LONGEST_BODY: Final = 2**28  # bytes; it is held whole
REJECTED_ANSWERS: Final = "rejected answer"  # of Prodigy: `reject` and `ignore`
LEFT_OUT_LABELS: Final = "row by its label"

_BODY = re.compile(rb'\s*\{\s*"(events|instances)"\s*:\s*\[')
_BODY_BEGINS = re.compile(rb'\s*\{\s*("(events|instances)"\s*:?\s*)?')
_ARRAY = re.compile(rb"\s*\[\s*\{")
_ARRAY_BEGINS = re.compile(rb"\s*\[\s*")
REJECTING: Final = ("reject", "ignore")  # answers of annotators
_CLASSES = msgspec.json.Decoder(list[str | int])


class _Answered(msgspec.Struct):
    answer: msgspec.Raw = msgspec.Raw(b"null")


_ANSWERED = msgspec.json.Decoder(_Answered)


class JsonLines(Source):
    """The objects of a file, a line each, without the ones that are not to be taught."""

    def __init__(
        self,
        file: str,
        encoding: str | None = None,
        left_out: Collection[str] = (),
        labelled: bool = True,
        guessed: Callable[[str], None] = lambda guess: None,
        vectors: VectorFile | None = None,
    ) -> None:
        """`left_out` are labels that are not taught, nor a line without another one. `vectors` are
        those of all objects, in order.
        """
        super().__init__(file, encoding, guessed)
        self._labels_left_out = left_out
        self._labelled = labelled
        self._vectors = vectors

    def check(self) -> None:
        """Raise FileFault for another number of vectors than objects.

        A pipe, which is read once, is not read.
        """
        if self._vectors is None or self.file == STANDARD_INPUT or not Path(self.file).is_file():
            return
        self._guessed, guessed = (lambda guess: None), self._guessed
        try:
            self._vectors.count(self)
        finally:
            self._guessed, self.position = guessed, 0

    def __iter__(self) -> Iterator[Line]:
        for line in self._members():
            if self._labelled and is_rejected(line):
                self.left_out[REJECTED_ANSWERS] += 1
                continue
            kept = self._without_labels(line) if self._labels_left_out else line
            if kept is None:
                self.left_out[LEFT_OUT_LABELS] += 1
            else:
                yield kept

    def _members(self) -> Iterator[Line]:
        """Yield the object of each line, with its vector if that is in another file."""
        if self._vectors is None:
            yield from members(super().__iter__())
            return
        self._vectors.begin()
        for line in members(super().__iter__()):
            try:
                vector = self._vectors.next_of(self.name)
                yield line if vector is None else _with_vector(line, packed(vector))
            except LineFault as error:
                yield Line(line.file, line.number, None, str(error), unit=line.unit)
        self._vectors.end(self.name)

    def _without_labels(self, line: Line) -> Line | None:
        """Return the line without the labels to leave out; None if it has no other."""
        try:
            body = msgspec.json.decode(line.kept or b"", type=dict[str, msgspec.Raw])
            names = _CLASSES.decode(body["classes"])
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, KeyError):
            return line  # it is refused where it is read
        left = [name for name in names if str(name) not in self._labels_left_out]
        if len(left) == len(names):
            return line
        if not left and "not" not in body:
            return None
        body["classes"] = msgspec.Raw(msgspec.json.encode(left))
        return Line(line.file, line.number, msgspec.json.encode(body), unit=line.unit)


def _with_vector(line: Line, vector: str) -> Line:
    """Return a line with a vector beside its members; LineFault if it has one of its own."""
    try:
        body = msgspec.json.decode(line.kept or b"", type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return line  # it is refused where it is read
    if bytes(body.get("vector", b"null")) != b"null":
        raise LineFault("it has a `vector` already: leave out --vectors, or this member")
    body["vector"] = msgspec.Raw(msgspec.json.encode(vector))
    return Line(line.file, line.number, msgspec.json.encode(body), unit=line.unit)


def is_rejected(line: Line) -> bool:
    """Return whether an annotator of Prodigy rejected or ignored the task of a line."""
    if line.kept is None or b'"answer"' not in line.kept:
        return False
    try:
        answer = msgspec.json.decode(_ANSWERED.decode(line.kept).answer)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return answer in REJECTING


def members(lines: Iterable[Line]) -> Iterator[Line]:
    """Yield the lines; in place of those of one array of objects, or of a body of a request, a line
    for each object, event or instance.

    FileFault for an array or a body that is damaged or too long.
    """
    remaining = iter(lines)
    first = list(islice(remaining, 1))
    begin = first[0].kept or b"" if first else b""
    if first and (_BODY_BEGINS.fullmatch(begin) or _ARRAY_BEGINS.fullmatch(begin)):
        first += islice(remaining, 2)  # it is written on several lines
        begin = b"\n".join(line.kept or b"" for line in first)
    found = _BODY.match(begin)
    if found is None and not _ARRAY.match(begin):
        yield from chain(first, remaining)
        return
    key = found[1].decode() if found else ""
    unit = key.removesuffix("s") or "object"
    for number, data in enumerate(_of_body(chain(first, remaining), key), 1):
        yield Line(first[0].file, number, bytes(data), unit=unit)


def _of_body(lines: Iterable[Line], key: str) -> list[msgspec.Raw]:
    """Return the elements below the key of a body, or without a key those of an array."""
    parts: list[bytes] = []
    size, file = 0, ""
    for line in lines:
        file = line.file
        if line.kept is None:
            raise FileFault(file, f"line {line.number} is too long: {_remedy(key)}")
        size += len(line.kept)
        if size > LONGEST_BODY:
            raise FileFault(file, f"it is longer than {LONGEST_BODY:,} bytes: {_remedy(key)}")
        parts.append(line.kept)
    whole = b"\n".join(parts)
    if not key:
        return _elements(file, whole)
    try:
        body = msgspec.json.decode(whole, type=dict[str, msgspec.Raw])
        found = msgspec.json.decode(body[key], type=list[msgspec.Raw])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise FileFault(file, f"the object with `{key}` cannot be read: {error}") from error
    more = sorted(body.keys() - {key})
    if more and key == "instances":  # beside events there is the position of the next page
        listed = ", ".join(f"`{name}`" for name in more)
        raise FileFault(file, f"{listed} beside `instances` cannot be used here: give options")
    return found


def _elements(file: str, array: bytes) -> list[msgspec.Raw]:
    try:
        return msgspec.json.decode(array, type=list[msgspec.Raw])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise FileFault(file, f"the array of JSON cannot be read: {error}") from error


def _remedy(key: str) -> str:
    return f"write one object a line, as jq -c '.{key}[]' FILE does"
