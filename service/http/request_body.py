"""The reading of request bodies, whole or in pieces, plain or gzipped, within limits."""

import zlib
from collections.abc import Iterator

from manyclass.service.http.asgi import Headers, Receive
from manyclass.service.http.memory_budget import Reservation
from manyclass.service.http.problems import ClientGone, Problem
from manyclass.service.http.time_slice import TimeSlice

NDJSON = b"application/x-ndjson"

PIECE_BYTES = 65_536  # a gzipped body is unpacked in pieces of this size
FED_BYTES = 4_096  # of packed bytes given to zlib at once
MOST_SMALL_MEMBERS = 100  # of a gzipped body
MEMBER_BYTES = 1_024  # packed bytes for which one more member is allowed
GUNZIP_BYTES = 49_152  # zlib's own state and window
BLOCK_BYTES = 65_536  # of a body or line while it arrives
MOST_UNUSED_BYTES = 65_536  # of a body that the request does not need


def media_type(headers: Headers) -> bytes:
    """Return the media type of the body without parameters, empty without the header."""
    given = headers.get(b"content-type", b"")
    if given == b"application/json":  # the usual case
        return given
    return given.split(b";", 1)[0].strip().lower()


def require_json(headers: Headers, *others: str) -> None:
    """Raise Problem 415 unless the media type of the body is JSON; the error lists `others`, which
    the call accepts too.

    A missing type is refused: a web page may send a body without a type without a preflight, but
    not a body of this type.
    """
    require_type(headers, "application/json", *others)


def require_type(headers: Headers, wanted: str, *others: str) -> None:
    """Raise Problem 415 unless the media type of the body is `wanted`; the error lists `others`."""
    if media_type(headers) != wanted.encode():
        shown = media_type(headers).decode("latin-1") or "nothing"
        listed = " or ".join((wanted, *others))
        raise Problem(415, f"Content-Type must be {listed}; this request has {shown}.")


def is_gzipped(headers: Headers) -> bool:
    """Return whether the body is gzipped. Raises Problem 415 for another encoding."""
    encoding = headers.get(b"content-encoding")
    if encoding is None:
        return False
    match encoding.strip().lower():
        case b"gzip":
            return True
        case b"identity" | b"":
            return False
    raise Problem(
        415, "Content-Encoding must be gzip or absent.", headers={"Accept-Encoding": "gzip"}
    )


async def read_body(
    headers: Headers, receive: Receive, most_bytes: int, reservation: Reservation
) -> bytes:
    """Return the whole body, unpacked; its bytes are counted in `reservation`.

    Raises Problem if the body is too large, damaged, or does not fit into memory, and ClientGone if
    it is cut short.
    """
    gunzip = Gunzip() if b"content-encoding" in headers and is_gzipped(headers) else None
    announced = headers.get(b"content-length", b"")
    if announced.isdigit() and int(announced) > most_bytes:
        raise _too_large(most_bytes)
    piece, more = await _next_piece(receive)
    if more or gunzip is not None:
        return await _read_pieces(piece, more, receive, most_bytes, gunzip, reservation)
    if len(piece) > most_bytes:
        raise _too_large(most_bytes)
    reservation.resize(len(piece))
    return piece


async def discard_body(receive: Receive) -> None:
    """Read a body that the request does not need, to its end.

    Raises Problem if the body is too large, and ClientGone if it is cut short.
    """
    size, more = 0, True
    while more:
        piece, more = await _next_piece(receive)
        size += len(piece)
        if size > MOST_UNUSED_BYTES:
            raise needless_body()


def needless_body() -> Problem:
    """Return the problem of a large body that the request does not need."""
    return Problem(
        413, f"This request needs no body; at most {MOST_UNUSED_BYTES} bytes are accepted."
    )


async def _next_piece(receive: Receive) -> tuple[bytes, bool]:
    """Return the next piece of a body, and whether more follow."""
    message = await receive()
    if message["type"] == "http.disconnect":
        raise ClientGone
    return message.get("body", b""), message.get("more_body", False)


async def _read_pieces(
    piece: bytes,
    more: bool,
    receive: Receive,
    most_bytes: int,
    gunzip: "Gunzip | None",
    reservation: Reservation,
) -> bytes:
    body = Blocks()
    time_slice = TimeSlice()
    received = 0
    while True:
        received += len(piece)
        if received > most_bytes:
            raise _too_large(most_bytes)
        for unpacked in (piece,) if gunzip is None else gunzip.feed(piece):
            packed = 0 if gunzip is None else gunzip.packed_bytes
            reservation.resize(body.size + len(unpacked) + packed)
            body.add(unpacked)
            if body.size > most_bytes:
                raise _too_large(most_bytes)
            if time_slice.is_over:  # few bytes may unpack to many
                await time_slice.renew()
        if not more:
            break
        piece, more = await _next_piece(receive)
    if gunzip is not None:
        gunzip.end()
        reservation.resize(body.size)  # the packed bytes are freed
    return body.join()


class Blocks:
    """Bytes that arrive in pieces, kept in blocks of similar size.

    A single growing array would be moved many times and leave large gaps in the memory of the
    process. An array also allocates more than it contains, so full blocks are stored as bytes.
    """

    def __init__(self) -> None:
        self.size = 0
        self._full: list[bytes] = []
        self._last = bytearray()

    def add(self, piece: bytes) -> None:
        """Append a piece."""
        self.size += len(piece)
        if len(piece) >= BLOCK_BYTES:
            self._close()
            self._full.append(piece)
            return
        self._last += piece
        if len(self._last) >= BLOCK_BYTES:
            self._close()

    def join(self) -> bytes:
        """Return all bytes and clear the blocks."""
        whole = b"".join((*self._full, self._last))
        self.clear()
        return whole

    def clear(self) -> None:
        """Forget all bytes."""
        self._full.clear()
        self._last = bytearray()
        self.size = 0

    def _close(self) -> None:
        if self._last:
            self._full.append(bytes(self._last))
            self._last = bytearray()


def _too_large(most_bytes: int) -> Problem:
    return Problem(413, f"A body has at most {most_bytes} bytes, unpacked.")


class Gunzip:
    """A gzip decoder for arriving bytes, with pieces of bounded size and linear time.

    At the end of a member, zlib copies the rest of its input, so it gets little input at once. Each
    member needs its own decompressor, so the number of members is bounded too.
    """

    def __init__(self) -> None:
        self._member = zlib.decompressobj(wbits=31)
        self._members = 0
        self._fed = 0  # packed bytes given to zlib
        self.packed_bytes = 0  # size of the data being unpacked

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the unpacked pieces of `data`. Raises Problem 400 if it is not gzip."""
        self.packed_bytes = len(data)
        for start in range(0, len(data), FED_BYTES):
            fed = data[start : start + FED_BYTES]
            self._fed += len(fed)
            while fed:
                if self._member.eof or not self._members:
                    self._begin_member()
                try:
                    piece = self._member.decompress(fed, PIECE_BYTES)
                except zlib.error as error:
                    raise Problem(400, f"The body is not gzip: {error}.") from error
                if piece:
                    yield piece
                fed = self._member.unused_data or self._member.unconsumed_tail

    def end(self) -> None:
        """Raise Problem 400 if the last member is incomplete."""
        if self._members and not self._member.eof:
            raise Problem(400, "The gzipped body is cut short.")

    def _begin_member(self) -> None:
        self._members += 1
        if self._members > MOST_SMALL_MEMBERS + self._fed // MEMBER_BYTES:
            raise Problem(
                400,
                f"A gzipped body has at most {MOST_SMALL_MEMBERS} members, plus one for each"
                f" {MEMBER_BYTES} bytes.",
            )
        if self._members > 1:
            self._member = zlib.decompressobj(wbits=31)
