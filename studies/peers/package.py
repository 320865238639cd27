"""The packages of the peers, imported only when one of them is made."""

from importlib import import_module
from typing import Any


class PeerMissing(ImportError):
    """The package of a peer is not installed. `package` is its name for pip."""

    hint = "`make studies-env` installs the packages of all peers in .venv-studies"

    def __init__(self, package: str, reason: str) -> None:
        super().__init__(f"needs the package {package}, which cannot be imported ({reason})")
        self.package = package

    def __str__(self) -> str:
        return f"{super().__str__()}; {self.hint}"


def imported(module: str, package: str) -> Any:
    """Return this module of this package; PeerMissing if it cannot be imported."""
    try:
        return import_module(module)
    except ImportError as reason:
        raise PeerMissing(package, str(reason)) from reason
