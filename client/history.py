"""The answers about the history of events, as immutable structs."""

import msgspec

from manyclass.client.bodies import EventBody, Text


class TaughtEvent(msgspec.Struct, frozen=True):
    """An event of the history. `key` addresses it: its `event_id`, or `seq:` and its number.

    `id` is that of the ranked instance, of an event whose label named it. `classes` are the true
    ones after corrections. `rank_before` is the rank of the best true class before it was learned,
    None if none was retrieved, or if `outcome_known` is False. `undone`: a restore has taken it out
    of the state. `time` is in unix seconds, None if it was not recorded. The instance is `text`, or
    its fields, if it was sent as text, else `features`.
    """

    seq: int
    key: str
    classes: tuple[str, ...]
    event_id: str | None = None
    id: str | None = None
    time: float | None = None
    source: str | None = None
    rejected: tuple[str, ...] = msgspec.field(name="not", default=())
    weight: float = 1.0
    parents: dict[str, str] = {}
    corrected: bool = False
    undone: bool = False
    rank_before: int | None = None
    outcome_known: bool = True
    text: Text | None = None
    features: dict[str, float] | None = None

    def body(self) -> EventBody:
        """Return the body that teaches this event, as it was corrected.

        It has no `id`: a service would look the instance up by it.
        """
        body = EventBody()
        if self.text is not None:
            body["text"] = self.text
        else:
            body["features"] = self.features or {}
        if self.classes:
            body["classes"] = self.classes
        if self.rejected:
            body["not"] = self.rejected
        if self.weight != 1:
            body["weight"] = self.weight
        if self.parents:
            body["parents"] = self.parents
        if self.source is not None:
            body["source"] = self.source
        if self.event_id is not None:
            body["event_id"] = self.event_id
        return body


class EventPage(msgspec.Struct, frozen=True):
    """Events in order; `next` is None on the last page."""

    events: tuple[TaughtEvent, ...]
    next: int | None = None


class Amended(msgspec.Struct, frozen=True):
    """A correction: the number of the event that made it, and that of the amended event.

    `changed` is False if the event was so already, also after a retry; `seq` is its own number
    then.
    """

    seq: int
    amended: int
    changed: bool


class Deleted(msgspec.Struct, frozen=True):
    """The number of the last event that deletes others, None if none was found, and their count;
    `more` if the service has not deleted all of them yet."""

    seq: int | None
    deleted: int
    more: bool = False


class RebuildReport(msgspec.Struct, frozen=True):
    """A rebuild: the state at event `seq` follows from the amended history.

    Events up to `base` were not learned again: they are in the snapshot that it began with. So are
    the `unreached` amended events: their data and their part of the weights are left.
    `text` is the analysis of texts by which the state has learned. `finished_at` is in unix
    seconds.
    """

    seq: int
    base: int
    events: int
    corrected: int
    deleted: int
    seconds: float
    finished_at: float
    unreached: int = 0
    text: str = ""


class HistoryStats(msgspec.Struct, frozen=True):
    """The history of events, from event `first_seq` on. `amendments` counts the amended events that
    wait for a rebuild, the oldest for `amendment_age_seconds`."""

    first_seq: int
    events: int
    bytes: int
    deleted_events: int
    lost_events: int
    failures: int
    amendments: int
    amendment_age_seconds: float
    rebuild_failures: int
    last_rebuild: RebuildReport | None


class RebuildStatus(msgspec.Struct, frozen=True):
    """The state of rebuilds: `learned` counts the events of the present one, `waiting` the amended
    events that wait for one, and `last` is the last one since the process started."""

    running: bool
    learned: int
    waiting: int
    last: RebuildReport | None = None


class ConfusedPair(msgspec.Struct, frozen=True):
    """A class ranked first in place of the true one, how often, and the numbers of some events."""

    ranked_first: str
    true: str
    count: int
    events: tuple[int, ...]


class ClassErrors(msgspec.Struct, frozen=True):
    """A class, the number of events of it, and recall and precision of the class ranked first."""

    name: str = msgspec.field(name="class")
    events: int
    recall: float | None
    precision: float | None


class Confusions(msgspec.Struct, frozen=True):
    """Recall at 1 of the newest events before they were learned, and the classes ranked above the
    true ones. `complete` is False if `seconds` ended the count."""

    events: int
    r1: float | None
    pairs: tuple[ConfusedPair, ...]
    classes: tuple[ClassErrors, ...]
    seq: int  # the newest event when the count began
    complete: bool


class Suspect(msgspec.Struct, frozen=True):
    """An event, the best other class of the model, and the confidence that the label is wrong."""

    suggested: str
    confidence: float
    event: TaughtEvent


class SuspectList(msgspec.Struct, frozen=True):
    """Likely label errors, the likeliest first."""

    suspects: tuple[Suspect, ...]
