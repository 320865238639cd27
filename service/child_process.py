"""Child processes of the service: they do not inherit its keys, and import no file beside it."""

import os
import sys
from collections.abc import Mapping
from typing import Final

# All other variables may have keys and passwords, and a child reads data of clients.
_NAMES: Final = ("HOME", "LANG", "PATH", "TMPDIR", "TZ", "VIRTUAL_ENV")
_PREFIXES: Final = (
    *("ASAN_", "GLIBC_", "LC_", "LD_", "MALLOC_", "OMP_", "OPENBLAS_", "PYTHON", "UBSAN_"),
)


def command_of(module: str) -> list[str]:
    """Return the command that runs a module; -P keeps the current folder out of the imports."""
    return [sys.executable, "-P", "-m", module]


def environment_of(variables: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the variables that a child needs to run."""
    return {
        name: value
        for name, value in variables.items()
        if name in _NAMES or name.startswith(_PREFIXES)
    }
