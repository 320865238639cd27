"""The answers about the history of events, as immutable structs."""

import msgspec

from manyclass.client.bodies import EventBody, Text


class TaughtEvent(msgspec.Struct, frozen=True):
    """An event of the history. `key` addresses it: its `event_id`, or `seq:` and its number.

    `id` is the id of the ranked instance if the event labelled one. `classes` are the true classes
    after corrections. `rank_before` is the position of the best true class before the event was
    learned, None if none was retrieved or `outcome_known` is False. `undone` is True if a restore
    has removed the event from the state. `time` is in unix seconds, None if it was not recorded.
    The instance is `text`, or its fields, if it was sent as text, else `features`. `dimension` is
    that of its vector, if it has one; the numbers, of a vector of length 1, are in `vector` if they
    were asked for.
    """

    seq: int
    key: str
    classes: tuple[str, ...]
    event_id: str | None = None
    id: str | None = None
    time: float | None = None
    source: str | None = None
    reviewer: str | None = None
    batch: str | None = None
    rejected: tuple[str, ...] = msgspec.field(name="not", default=())
    weight: float = 1.0
    parents: dict[str, str] = {}
    corrected: bool = False
    undone: bool = False
    rank_before: int | None = None
    outcome_known: bool = True
    text: Text | None = None
    features: dict[str, float] | None = None
    dimension: int | None = None
    vector: tuple[float, ...] | None = None

    def body(self) -> EventBody:
        """Return the body that teaches this event with its corrected classes.

        The body has no `id`, by which a service would look the instance up.
        """
        body = EventBody()
        if self.text is not None:
            body["text"] = self.text
        else:
            body["features"] = self.features or {}
        if self.vector is not None:
            body["vector"] = self.vector
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
        if self.reviewer is not None:
            body["reviewer"] = self.reviewer
        if self.batch is not None:
            body["batch"] = self.batch
        if self.event_id is not None:
            body["event_id"] = self.event_id
        return body


class EventPage(msgspec.Struct, frozen=True):
    """Events in order; `next` is None on the last page."""

    events: tuple[TaughtEvent, ...]
    next: int | None = None


class Amended(msgspec.Struct, frozen=True):
    """A correction: the number of the correcting event, and the number of the amended event.

    `changed` is False if the event had these classes already, also after a retry; `seq` is then
    its own number.
    """

    seq: int
    amended: int
    changed: bool


class Deleted(msgspec.Struct, frozen=True):
    """The number of the last deleting event, None if no event was found, the count of deleted
    events, and of instances that waited for review; `more` is True if the service has not deleted
    all of them yet."""

    seq: int | None
    deleted: int
    waiting: int = 0
    more: bool = False


class RebuildReport(msgspec.Struct, frozen=True):
    """A finished rebuild: the state at event `seq` follows from the amended history.

    Events up to `base` were not learned again, because they are in the snapshot with which the
    rebuild began. These include the `unreached` amended events, whose data and effect on the
    weights remain. `text` is the text analysis of the state. `finished_at` is in unix seconds.
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
    wait for a rebuild, `erasures` the deleted ones of these; the oldest has waited for
    `amendment_age_seconds`."""

    first_seq: int
    events: int
    bytes: int
    deleted_events: int
    lost_events: int
    failures: int
    amendments: int
    erasures: int
    amendment_age_seconds: float
    rebuild_failures: int
    last_rebuild: RebuildReport | None


class RebuildStatus(msgspec.Struct, frozen=True):
    """The status of rebuilds: `learned` counts the events of the rebuild in progress, `waiting` the
    amended events that wait for one, and `last` is the last rebuild since the process started.

    `merged` is the number of the newest event that merged classes, until a rebuild includes it.
    """

    running: bool
    learned: int
    waiting: int
    last: RebuildReport | None = None
    merged: int | None = None


class ConfusedPair(msgspec.Struct, frozen=True):
    """A class ranked first instead of the true one, how often, and the numbers of some events."""

    ranked_first: str
    true: str
    count: int
    events: tuple[int, ...]


class ClassErrors(msgspec.Struct, frozen=True):
    """A class, its number of events, and the recall and precision of ranking it first."""

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
    seq: int  # number of the newest event when the count began
    complete: bool


class Suspect(msgspec.Struct, frozen=True):
    """An event, the best other class of the model, and the confidence that the label is wrong."""

    suggested: str
    confidence: float
    event: TaughtEvent


class SuspectList(msgspec.Struct, frozen=True):
    """Likely label errors, most likely first."""

    suspects: tuple[Suspect, ...]
