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
    "describe",
]

@final
class Event:
    """One change of the state, as the log stores it. Immutable; any thread may read it.

    `fingerprint` (64 bit) distinguishes a retry from a different event with the same event_id.
    """

    def __init__(self, *args: object, **kwargs: object) -> None:
        """Raise TypeError: events are made by the class methods below."""

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
        reviewer: str | None = None,
        batch: str | None = None,
    ) -> Event:
        """Return an event that learns `instance` with its true classes, each once.

        `rejected` are classes labelled as wrong. `weight`, from SMALLEST_WEIGHT to LARGEST_WEIGHT,
        is the weight of the event in learning. `parents` places classes in the taxonomy, each below
        its parent. `source`, `reviewer`, `batch`, `time` (Unix milliseconds) and `instance_id` (the
        id under which the instance was ranked) record the origin of the event and do not affect
        learning. An instance of a text has a `reading`, and the `text` if it is kept.

        Raise ValueError for a text without a reading. Raise InstanceError without any class, for a
        class in both lists, for another weight, and for a name that is empty, overlong or not valid
        Unicode.
        """

    @classmethod
    def place(cls, parents: Mapping[str, str | int | None], moves: bool = False) -> Event:
        """Return an event that places each class below its parent, None for the root.

        With `moves`, a class that has another parent moves; without it, such an event is refused.
        Raise InstanceError for none or more than MOST_PLACEMENTS classes, and for an invalid name.
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
        reviewer: str | None = None,
    ) -> Event:
        """Return an event that corrects the classes of the "learn" event `target`, or deletes it.

        `target` is a seq. `instance`, `weight`, `text`, `reading` and the `replaced` classes are
        those of the target. Without `classes`, the target is deleted. With a `reviewer`, the
        corrected event has this reviewer.
        """

    @classmethod
    def rename(cls, name: str, to: str, merges: bool = False) -> Event:
        """Return an event that renames a class, or merges it into the class `to`.

        Raise InstanceError for an invalid name, and if both names are equal.
        """

    @classmethod
    def release(cls, name: str) -> Event:
        """Return an event that releases a former name: a class of its own can have it again.

        It is a "rename" event without a new name. Raise InstanceError for an invalid name.
        """

    @classmethod
    def forget_class(cls, name: str) -> Event:
        """Return an event that forgets a class; InstanceError for an invalid name."""

    @classmethod
    def forget_feature(cls, name: str) -> Event:
        """Return an event that forgets a feature; InstanceError for an invalid name."""

    @classmethod
    def describe(cls, name: str, changes: Mapping[str, object]) -> Event:
        """Return an event that changes the description of a class.

        `changes` has the parts to replace: `title`, `description` (strings), `alt_labels` (other
        names, strings) and `vector` (numbers, or an Instance that has it); None removes a part, and
        the others stay. Raise InstanceError for an invalid name or part, and without one.
        """

    @classmethod
    def configure(cls, options: Mapping[str, object]) -> Event:
        """Return an event that changes the model's learners, see `ModelLearners.changed`."""

    @classmethod
    def restore(cls, seq: int) -> Event:
        """Return a mark in the log at which the state becomes that of the snapshot at `seq`."""

    @classmethod
    def adopt(cls, token: str) -> Event:
        """Return a mark in the log at which the state becomes the rebuilt state of this token."""

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
        """Return the bytes of a "learn" event with this time; other bytes unchanged."""

    @staticmethod
    def time_of(data: bytes) -> int:
        """Return the `time` of the event of these bytes, 0 if it has none."""

    @staticmethod
    def amends(data: bytes) -> bool:
        """Return whether these are the bytes of an "amend" event."""

    @staticmethod
    def names_class(data: bytes) -> bool:
        """Return whether these are the bytes of a "forget_class" or "rename" event."""

    @staticmethod
    def is_mark(data: bytes) -> bool:
        """Return whether these are the bytes of a "restore", "rules", "rename" or "adopt" event."""

    @staticmethod
    def alone(data: bytes) -> bytes:
        """Return the bytes of the same event, not joined to the previous one."""

    def without_id(self) -> Event:
        """Return the same "learn" event without id and origin, not joined; it learns equally."""

    @staticmethod
    def is_readable(data: bytes, analysis: TextAnalysis) -> bool:
        """Return whether `read_by` keeps the features of the event of these bytes.

        It does if the instance was sent as features or was made by this analysis, if the text is
        kept, and if `data` is empty.
        """

    def read_by(self, analysis: TextAnalysis) -> Event:
        """Return the event with the instance that this analysis makes of its text.

        The instance has no features if the text was not kept. Return the event itself if features
        were sent.
        """

    def join(self) -> Event:
        """Return the same event joined to the previous one: both are applied, or neither is."""

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
        """The classes labelled as wrong by a "learn" event, else an empty list."""

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
        """The name of the source of a "learn" event, such as a user; None without one."""

    @property
    def reviewer(self) -> str | None:
        """The name of the person who labelled the instance of a "learn" event, or corrected it by
        an "amend" event; None without one."""

    @property
    def batch(self) -> str | None:
        """The name of the import that a "learn" event came with; None without one."""

    @property
    def text(self) -> Text | None:
        """The text, or the texts of fields, of the instance of a "learn" or "amend" event.

        None if features were sent, or the text was not kept.
        """

    @property
    def reading(self) -> Reading | None:
        """The analysis that made the instance of a text; None if features were sent.

        With a reading and no `text`, the text was not kept.
        """

    @property
    def time(self) -> int:
        """The time of the append of a "learn" event in Unix milliseconds, 0 if it has none."""

    @property
    def instance_id(self) -> str | None:
        """The id under which the instance of a "learn" event was ranked; None if it was not."""

    @property
    def parents(self) -> dict[str, str]:
        """The parent of each class that the event places; "" stands for the root."""

    @property
    def moves(self) -> bool:
        """True if classes may move from their present parents."""

    @property
    def name(self) -> str:
        """The class or feature to forget, the class to rename or describe, the learner to promote,
        or the token of the rebuilt state to adopt.

        An empty string for other kinds.
        """

    @property
    def renamed_to(self) -> str:
        """The new name of the class of a "rename" event.

        Empty for other kinds, and if the event releases a former name.
        """

    @property
    def merges(self) -> bool:
        """True if a "rename" event may merge the class into another."""

    @property
    def described(self) -> dict[str, object]:
        """The changes of a "describe" event: the vector is an Instance; None removes a part."""

    @property
    def options(self) -> dict[str, object]:
        """The change of learners of a "configure" event, else an empty dict."""

    @property
    def restored(self) -> int:
        """The seq of the snapshot of a "restore" event, else 0."""

    @property
    def rules(self) -> int:
        """The version of a "rules" event, else 0."""
