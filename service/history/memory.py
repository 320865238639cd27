"""The memory that a rebuild needs: a second state, in another process and then in this one."""

from pathlib import Path

from manyclass.service.errors import MemoryShort

STATES = 3  # the state in the child process, its bytes, and the loaded state
_MEMINFO = Path("/proc/meminfo")


def available_bytes() -> int | None:
    """Return the memory that the system can give without swapping, or None if unknown."""
    try:
        lines = _MEMINFO.read_text().splitlines()
    except OSError:
        return None
    found = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return 1024 * int(found[0]) if found else None


def check_memory(state_bytes: int) -> None:
    """Raise MemoryShort if the system lacks memory to rebuild a state of this size."""
    check_available(STATES * state_bytes, "a rebuild")


def check_available(needed: int, what: str) -> None:
    """Raise MemoryShort if the system lacks this much memory for something."""
    available = available_bytes()
    if available is not None and needed > available:
        raise MemoryShort(what, needed, available)
