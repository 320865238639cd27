"""The chain of appends in a SQLite log: each names the one before by its checksum.

A row of `events` has a proof:

    link 16 bytes | writer 8 bytes | checksum 16 bytes

`link` is the checksum of the row before, and the checksum covers the link, so the last checksum of
a log stands for all of it. A row that was lost, doubled or written by another store breaks the
chain. `writer` is a random number of the process that wrote the row: only it may take the row back.
"""

from collections.abc import Iterable

from manyclass.service.store.batch import CHECKSUM_BYTES, batch_checksum
from manyclass.service.store.sqlite.mark import Mark

WRITER_BYTES = 8
_PROOF_BYTES = CHECKSUM_BYTES + WRITER_BYTES + CHECKSUM_BYTES


def prove(link: bytes, writer: bytes, first_seq: int, last_seq: int, body: bytes) -> bytes:
    """Return the proof of a row that follows the one whose checksum is `link`."""
    head = link + writer
    return head + batch_checksum(first_seq, last_seq, body, head)


def chain_of(proof: object) -> bytes:
    """Return the checksum a proof ends with; nothing fits that of a damaged one."""
    return proof[-CHECKSUM_BYTES:] if isinstance(proof, bytes) else b""


class ChainCheck:
    """Checks the rows of a log, which are given to it in order, against each other and known ends.

    Each end is known from elsewhere: a row that holds its number must be the one it names. So all
    rows before a known end are right, as its checksum covers them.
    """

    def __init__(self, after: int, ends: Iterable[Mark]) -> None:
        """`after`: the event before the first row."""
        self._ends = {end.seq: end.chain for end in ends}
        self._link = self._ends.get(after)  # None: not known

    def reason_against(
        self, first_seq: object, last_seq: int, proof: object, body: object
    ) -> str | None:
        """Return what is wrong with the next row, None when it is right."""
        if not (
            isinstance(first_seq, int) and isinstance(proof, bytes) and isinstance(body, bytes)
        ):
            return "its checksum does not match"
        head, checksum = proof[:-CHECKSUM_BYTES], proof[-CHECKSUM_BYTES:]
        fits = batch_checksum(first_seq, last_seq, body, head) == checksum
        if len(proof) != _PROOF_BYTES or not fits:
            return "its checksum does not match"
        if self._link not in (None, head[:CHECKSUM_BYTES]):
            return "it does not follow the event before it"
        for seq, chain in self._ends.items():
            if first_seq <= seq <= last_seq and (seq != last_seq or chain != checksum):
                return f"event {seq} is not the one that was acknowledged"
        self._link = checksum
        return None
