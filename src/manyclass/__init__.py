"""Online ranking of sparse instances against very many classes, with learning from each answer.

`Learner` and `Options` are the engine, for use inside a Python program; `Client` calls a running
service, and `Embedder` a server of embeddings for it. Each is imported on first use, so a program
that needs the engine does not load the HTTP client.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from manyclass.client.client import Client
    from manyclass.client.embedder import Embedder
    from manyclass.core.learner import Learner
    from manyclass.core.learners.options import Options

__version__ = version("manyclass")
__all__ = ["Client", "Embedder", "Learner", "Options", "__version__"]

_HOMES = {
    "Client": "manyclass.client.client",
    "Embedder": "manyclass.client.embedder",
    "Learner": "manyclass.core.learner",
    "Options": "manyclass.core.learners.options",
}


def __getattr__(name: str) -> Any:
    """Return a public name, imported from its home when it is first used."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names, imported or not."""
    return sorted({*globals(), *__all__})
