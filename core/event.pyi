from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, Self, final

from _typeshed import ReadableBuffer as Buffer

_Kind = Literal[
    "learn", "forget_class", "forget_feature", "configure", "restore", "promote", "rules"
]

LONGEST_NAME: int
LARGEST_VALUE: float
SMALLEST_VALUE: float

@final
class Instance:
    """A sparse instance: unique feature names with values above 0. Immutable.

    Built from a mapping name -> value, or from names worth 1 each, where repeated ones add up.
    Values below SMALLEST_VALUE, negative ones among them, are left out. Raises InstanceError for
    an empty or overlong name, a name that is not valid Unicode, and a value that is not a finite
    number up to LARGEST_VALUE.
    """

    def __new__(cls, features: Mapping[str, float] | Iterable[str | int]) -> Self: ...
    @classmethod
    def from_bytes(cls, data: bytes) -> Instance:
        """The instance that `bytes(instance)` came from; EventError when data is not one."""

    @classmethod
    def from_json(cls, data: Buffer, most: int = 0xFFFFFFFF) -> Instance | None:
        """The instance whose `features` this is as JSON text, without a detour over objects.

        None, whatever the reason, unless it is an object name -> number or an array of names, of
        at most `most` entries, without escapes, repeated keys, or anything an instance cannot
        hold: read it in the ordinary way then, which can say what is wrong.
        """

    def __bytes__(self) -> bytes: ...
    def __len__(self) -> int:
        """How many features are active."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def items(self) -> list[tuple[str, float]]:
        """Names and values, in the order they were given."""

@final
class Event:
    """One change of the state, as the log keeps it. Immutable; any thread may read it.

    `fingerprint` (64 bit) tells a retry of an event from another event under the same event_id.
    """

    def __init__(self, *args: object, **kwargs: object) -> None:
        """Raises TypeError: events are made by the methods below."""

    @classmethod
    def learn(
        cls,
        instance: Instance,
        classes: Sequence[str | int],
        event_id: str | None = None,
        fingerprint: int = 0,
    ) -> Event:
        """The event that teaches `instance` its true classes; repeated ones count once.

        InstanceError when there is no class or a class name is empty, overlong or not Unicode.
        """

    @classmethod
    def forget_class(cls, name: str) -> Event: ...
    @classmethod
    def forget_feature(cls, name: str) -> Event: ...
    @classmethod
    def configure(cls, options: Mapping[str, object]) -> Event:
        """The event that gives the model these learners, with these options, from here on."""

    @classmethod
    def restore(cls, seq: int) -> Event:
        """The mark in the log that the state went back to the snapshot taken at `seq`."""

    @classmethod
    def promote(cls, specification: str) -> Event:
        """The event that makes this learner the one that answers; the other becomes a shadow."""

    @classmethod
    def use_rules(cls, version: int) -> Event:
        """The event after which this version of the rules is in force, see rules.py."""

    @classmethod
    def from_bytes(cls, data: bytes) -> Event:
        """The event that `bytes(event)` came from; EventError when data is not one."""

    def join(self) -> Event:
        """The same event, which is taken only together with the one before it in the log."""

    def __bytes__(self) -> bytes: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    @property
    def joined(self) -> bool:
        """Whether the event and the one before it came in one request, taken whole or not."""

    @property
    def kind(self) -> _Kind: ...
    @property
    def event_id(self) -> str | None: ...
    @property
    def fingerprint(self) -> int: ...
    @property
    def instance(self) -> Instance:
        """What is learned; AttributeError unless kind is "learn"."""

    @property
    def classes(self) -> list[str]:
        """The true classes of a "learn" event, else empty."""

    @property
    def name(self) -> str:
        """The class or feature to forget, the learner to promote, else empty."""

    @property
    def options(self) -> dict[str, object]:
        """What a "configure" event says, as `ModelSet.to_dict` has it, else empty."""

    @property
    def restored(self) -> int:
        """The snapshot's seq of a "restore" event, else 0."""

    @property
    def rules(self) -> int:
        """The version of a "rules" event, else 0."""
