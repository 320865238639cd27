"""The child process that reads a workbook: a damaged or hostile one ends this process alone.

It reads the bytes of the workbook from standard input, and writes the body of the answer to
standard output; if the exit status is REFUSED, the reason instead.
"""

import resource
import sys
from io import BytesIO
from typing import BinaryIO, Final

import msgspec

from manyclass.service.threads import lower_priority
from manyclass.training.tables.record import TableError
from manyclass.training.tables.spreadsheet import Bounds, Workbook

REFUSED: Final = 3  # an exit status
MEMORY_BYTES: Final = 384 * 2**20
CPU_SECONDS: Final = 30
BOUNDS: Final = Bounds(cells=4_000_000, unpacked=256 * 2**20)
_encode: Final = msgspec.json.encode


def run(given: BinaryIO, out: BinaryIO) -> int:
    """Write the answer about a workbook; return the exit status."""
    try:
        workbook = Workbook(BytesIO(given.read()), BOUNDS)
        out.write(b'{"first":%b,"sheets":[' % _encode(workbook.first))
        for number, name in enumerate(workbook.names):
            out.write(b'%b{"name":%b,"rows":[' % (b"," * (number > 0), _encode(name)))
            for at, row in enumerate(workbook.rows(name)):
                out.write(b"," * (at > 0) + _encode(row))
            out.write(b"]}")
        out.write(b"]}")
    except TableError as error:
        out.write(b"\n" + str(error).encode())  # behind what was written before the fault
        return REFUSED
    return 0


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    lower_priority()
    status = run(sys.stdin.buffer, sys.stdout.buffer)
    sys.stdout.flush()
    sys.exit(status)
