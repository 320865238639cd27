"""The engine: ranks sparse instances against very many classes, and learns from each answer."""

from core.errors import (
    CoreError,
    EventError,
    InstanceError,
    OptionError,
    SnapshotError,
    UnknownName,
)
from core.event import Event, Instance
from core.index import Columns, Index
from core.model import Model, Outcome
from core.options import Options
from core.text import features_of

__all__ = [
    "Columns",
    "CoreError",
    "Event",
    "EventError",
    "Index",
    "Instance",
    "InstanceError",
    "Model",
    "OptionError",
    "Options",
    "Outcome",
    "SnapshotError",
    "UnknownName",
    "features_of",
]
