"""Reads workbooks, one at a time, each in a child process of bounded memory and time."""

import asyncio
import subprocess
from contextlib import suppress
from signal import SIGKILL, SIGXCPU
from typing import Final

from manyclass.service.child_process import command_of, environment_of
from manyclass.service.http.memory_budget import Reservation
from manyclass.service.http.problems import Problem, unavailable
from manyclass.service.http.workbook_child import CPU_SECONDS, MEMORY_BYTES, REFUSED

MODULE: Final = "manyclass.service.http.workbook_child"
MOST_WAITING: Final = 8  # one client's workbooks do not fill the memory for requests
_REMEDY: Final = "save the sheet as CSV, or divide it"


class Workbooks:
    """The reader of workbooks."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._waiting = 0  # with the one that is read

    async def answer(self, workbook: bytes, most_bytes: int, reservation: Reservation) -> bytes:
        """Return the body of the answer about a workbook, of at most so many bytes.

        They are reserved once it is the turn of this workbook. Raises Problem: 422 with the reason
        if it cannot be read, 503 if too many wait, or memory for the answer is short.
        """
        if self._waiting == MOST_WAITING:
            raise unavailable("Other workbooks are being read.")
        self._waiting += 1
        try:
            return await self._in_turn(workbook, most_bytes, reservation)
        finally:
            self._waiting -= 1

    async def _in_turn(self, workbook: bytes, most_bytes: int, reservation: Reservation) -> bytes:
        async with self._lock:
            reservation.add(most_bytes)
            reading = _Reading(workbook, most_bytes)
            try:
                return await asyncio.to_thread(reading.run)
            finally:
                reading.stop()


class _Reading:
    """The reading of one workbook. `run` blocks; any thread may call `stop`."""

    def __init__(self, workbook: bytes, most_bytes: int) -> None:
        self._workbook = workbook
        self._most_bytes = most_bytes
        self._child: subprocess.Popen[bytes] | None = None
        self._is_stopped = False

    def stop(self) -> None:
        """End the child process."""
        self._is_stopped = True
        if self._child is not None:
            self._child.kill()

    def run(self) -> bytes:
        """Return the body of the answer. Raises Problem."""
        command, environment = command_of(MODULE), environment_of()
        pipe, nothing = subprocess.PIPE, subprocess.DEVNULL  # the reader prints its panics
        with subprocess.Popen(
            command, env=environment, stdin=pipe, stdout=pipe, stderr=nothing
        ) as child:
            self._child = child
            if self._is_stopped:
                child.kill()
            assert child.stdin is not None
            assert child.stdout is not None
            with suppress(BrokenPipeError):  # its status says why it ended
                child.stdin.write(self._workbook)
                child.stdin.close()
            body = child.stdout.read(self._most_bytes + 1)
            if len(body) > self._most_bytes:
                child.kill()
                raise _refused(f"its rows take more than {self._most_bytes:,} bytes: {_REMEDY}")
        if child.returncode == REFUSED:
            raise _refused(body.rpartition(b"\n")[2].decode())
        if child.returncode in (-SIGKILL, -SIGXCPU):
            raise _refused(f"to read it takes more than {CPU_SECONDS} seconds: {_REMEDY}")
        if child.returncode != 0:
            raise _refused(f"to read it takes more than {MEMORY_BYTES:,} bytes: {_REMEDY}")
        return body


def _refused(reason: str) -> Problem:
    return Problem(422, f"The workbook cannot be read: {reason}.")
