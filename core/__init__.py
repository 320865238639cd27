"""The engine: ranks sparse instances against very many classes and learns from labelled events."""

from manyclass.core.columns import Columns
from manyclass.core.errors import (
    CoreError,
    EventError,
    InstanceError,
    OptionError,
    SnapshotError,
    UnknownName,
)
from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.learner import Learner
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.core.outcome import Outcome
from manyclass.core.text import features_of

__all__ = [
    "Columns",
    "CoreError",
    "Event",
    "EventError",
    "Instance",
    "InstanceError",
    "Learner",
    "Model",
    "OptionError",
    "Options",
    "Outcome",
    "SnapshotError",
    "UnknownName",
    "features_of",
]
