from collections.abc import Mapping, Sequence
from typing import Literal, final

from manyclass.core.instance import Instance
from manyclass.core.text import Reading, TextAnalysis

Text = str | dict[str, str]

_Kind = Literal[
    "learn",
    "place",
    "forget_class",
    "forget_feature",
    "configure",
    "restore",
    "promote",
    "rules",
    "amend",
    "rename",
    "adopt",
]

@final
class Event:
    """One change of the state, as stored in the log. Immutable; any thread may read it.

    `fingerprint` (64 bit) distinguishes a retry from a different event with the same event_id.
    """

    def __init__(self, *args: object, **kwargs: object) -> None:
        """Raise TypeError: the methods below make events."""

    @classmethod
    def learn(
        cls,
        instance: Instance,
        classes: Sequence[str | int],
        event_id: str | None = None,
        fingerprint: int = 0,
        rejected: Sequence[str | int] = (),
        weight: float = 1.0,
        parents: Mapping[str, str | int | None] | None = None,
        source: str | None = None,
        text: Text | None = None,
        time: int = 0,
        instance_id: str | None = None,
        reading: Reading | None = None,
    ) -> Event:
        """Return an event to learn `instance` with its true classes; repeated ones count once.

        `rejected` are classes that are said to be wrong; `weight` says how much the event counts,
        from SMALLEST_WEIGHT to LARGEST_WEIGHT; `parents` places classes in the taxonomy, each below
        its parent. `source`, `time` and `instance_id`, under which the instance was ranked, say
        where the event comes from, and change nothing in what is learned. An instance of a text has
        a `reading`, and the `text` if it is kept. Raise ValueError for a text without a reading;
        InstanceError without any class, for a class in both lists, for another weight, and for a
        name that is empty, overlong or not valid Unicode.
        """

    @classmethod
    def place(cls, parents: Mapping[str, str | int | None], moves: bool = False) -> Event:
        """Return an event that places each class below its parent, None for the root.

        A class that has another parent `moves`, or the event is refused. Raise InstanceError for
        no or more than MOST_PLACEMENTS classes, and for an invalid name.
        """

    @classmethod
    def amend(
        cls,
        target: int,
        instance: Instance,
        classes: Sequence[str | int],
        replaced: Sequence[str | int],
        weight: float = 1.0,
        event_id: str | None = None,
        fingerprint: int = 0,
        text: Text | None = None,
        reading: Reading | None = None,
    ) -> Event:
        """Return an event that corrects the classes of "learn" event `target`, or deletes it.

        `instance`, `weight`, `text`, `reading` and the `replaced` classes are those of the target.
        Without `classes` it is deleted.
        """

    @classmethod
    def rename(cls, name: str, to: str, merges: bool = False) -> Event:
        """Return an event that gives a class another name, or merges it into the class `to`.

        Raise InstanceError for an invalid name, and for two equal ones.
        """

    @classmethod
    def release(cls, name: str) -> Event:
        """Return an event after which a former name is that of a class of its own again.

        It is a "rename" without a next name. Raise InstanceError for an invalid name.
        """

    @classmethod
    def forget_class(cls, name: str) -> Event: ...
    @classmethod
    def forget_feature(cls, name: str) -> Event: ...
    @classmethod
    def configure(cls, options: Mapping[str, object]) -> Event:
        """Return an event that sets the model's learners and their options."""

    @classmethod
    def restore(cls, seq: int) -> Event:
        """Return a mark in the log: the state goes back to the snapshot taken at `seq`."""

    @classmethod
    def adopt(cls, token: str) -> Event:
        """Return a mark in the log: the state becomes the rebuilt one of this name."""

    @classmethod
    def promote(cls, specification: str) -> Event:
        """Return an event that makes this learner the primary; the old primary becomes a shadow."""

    @classmethod
    def use_rules(cls, version: int) -> Event:
        """Return an event that puts this version of the rules in force, see rules.py."""

    @classmethod
    def from_bytes(cls, data: bytes) -> Event:
        """Return the event from its `bytes(event)`; raise EventError for other data."""

    @staticmethod
    def stamped(data: bytes, time: int) -> bytes:
        """Return the bytes of an event with this time, if it is a "learn" event."""

    @staticmethod
    def time_of(data: bytes) -> int:
        """Return the `time` of the event of these bytes."""

    @staticmethod
    def amends(data: bytes) -> bool:
        """Return whether these are the bytes of an "amend" event."""

    @staticmethod
    def is_mark(data: bytes) -> bool:
        """Return whether these are the bytes of a "restore", "rules", "rename" or "adopt" event."""

    @staticmethod
    def alone(data: bytes) -> bytes:
        """Return the bytes of the same event, not joined to the previous one."""

    def without_id(self) -> Event:
        """Return a "learn" event that is learned alike: without an id, not joined, of no origin."""

    @staticmethod
    def is_readable(data: bytes, analysis: TextAnalysis) -> bool:
        """Return whether `read_by` loses no feature of these bytes, which may be none: the instance
        is of features or of this analysis, or its text is kept.
        """

    def read_by(self, analysis: TextAnalysis) -> Event:
        """Return the event with the instance that this analysis makes of its text.

        Without features if the text was not kept; the same event if features were sent.
        """

    def join(self) -> Event:
        """Return the same event, joined to the previous one: both are applied, or neither."""

    def __bytes__(self) -> bytes: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    @property
    def joined(self) -> bool:
        """True if the event belongs to the request of the previous one, which is atomic."""

    @property
    def kind(self) -> _Kind: ...
    @property
    def event_id(self) -> str | None: ...
    @property
    def fingerprint(self) -> int: ...
    @property
    def instance(self) -> Instance:
        """The instance of a "learn" or "amend" event; AttributeError for another kind."""

    @property
    def classes(self) -> list[str]:
        """The true classes of a "learn" or "amend" event, else an empty list."""

    @property
    def rejected(self) -> list[str]:
        """The classes that a "learn" event says to be wrong, else an empty list."""

    @property
    def weight(self) -> float:
        """The weight of a "learn" event; 1 for other kinds."""

    @property
    def target(self) -> int:
        """The seq of the event that an "amend" event corrects or deletes, else 0."""

    @property
    def replaced(self) -> list[str]:
        """The former classes of the target of an "amend" event, else an empty list."""

    @property
    def source(self) -> str | None:
        """The caller's name for the origin of a "learn" event: a user, a file, an annotator."""

    @property
    def text(self) -> Text | None:
        """The text, or the texts of fields, that the instance of a "learn" or "amend" event was
        made of, if it was sent as text, and kept.
        """

    @property
    def reading(self) -> Reading | None:
        """The way in which the text became the instance, None if features were sent. Without a
        `text` it was not kept.
        """

    @property
    def time(self) -> int:
        """The time of the append of a "learn" event in Unix milliseconds, 0 if it has none."""

    @property
    def instance_id(self) -> str | None:
        """The id under which the instance of a "learn" event was ranked, if its label named it."""

    @property
    def parents(self) -> dict[str, str]:
        """The parent of each class that the event places, empty for the root."""

    @property
    def moves(self) -> bool:
        """True if a placed class leaves the parent that it has."""

    @property
    def name(self) -> str:
        """The class or feature to forget, the class to rename, the learner to promote, or the token
        of the rebuilt state to adopt.

        An empty string for other kinds.
        """

    @property
    def renamed_to(self) -> str:
        """The next name of the class of a "rename" event, else an empty string; so if it releases
        a former name.
        """

    @property
    def merges(self) -> bool:
        """True if a "rename" event may name another class, of which it becomes a part."""

    @property
    def options(self) -> dict[str, object]:
        """The learners of a "configure" event as from `ModelSet.to_dict`, else an empty dict."""

    @property
    def restored(self) -> int:
        """The seq of the snapshot of a "restore" event, else 0."""

    @property
    def rules(self) -> int:
        """The version of a "rules" event, else 0."""
