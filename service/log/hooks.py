"""The functions by which the parts around the log notify the rest of the service."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from manyclass.core.event import Event
from manyclass.core.outcome import Outcome
from manyclass.service.store.protocol import PeerMessage

OnApplied = Callable[[Event, Outcome, float], None]  # event, outcome, seconds
# the label of the learner, ranks (0: not retrieved) and seconds of plain events
OnLearned = Callable[[str, Sequence[int], Sequence[float]], None]
OnMessage = Callable[[PeerMessage], None]


@dataclass(frozen=True, slots=True)
class Hooks:
    """The functions to call on the event loop, in the order of the log.

    `on_applied` receives an event that changed the model; `on_learned` receives many plain events
    at once. `on_short` is called repeatedly while events wait for memory. `on_message` receives the
    messages of other processes.
    """

    on_applied: OnApplied | None = None
    on_learned: OnLearned | None = None
    on_short: Callable[[], None] = lambda: None
    on_message: OnMessage = lambda _: None


NO_HOOKS = Hooks()
