"""Errors of the engine. Programs use their classes and fields; people read their messages."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

LONGEST_COMPARED = 200  # characters; an unknown name can be of any length


def did_you_mean(given: str, known: Iterable[str]) -> str:
    """Return a question about the known name closest to an unknown one; empty if none is close.

    If `known` is a mapping, the question is about the value of the closest key.
    """
    close = get_close_matches(given[:LONGEST_COMPARED], list(known), n=1)
    meant = [known[name] if isinstance(known, Mapping) else name for name in close]
    return f"did you mean `{meant[0]}`?" if meant else ""


class CoreError(Exception):
    """Base of the engine's own errors."""


SAME_MODEL = "send vectors of one model"  # for a vector of another dimension than those before


class InstanceError(CoreError, ValueError):
    """An invalid feature, value or class name. The state is unchanged.

    `where` is the path to the fault: `("features", name)`, `("classes", position)`.
    """

    def __init__(self, message: str, where: tuple[str | int, ...] = ()) -> None:
        super().__init__(message)
        self.where = where


class EventError(CoreError, ValueError):
    """Bytes that are not an event, or an event out of order."""


class RequestConflict(CoreError):
    """An event contradicts the state, so no event of its request is applied.

    `position` is the index of the event in the request, `where` the path to the fault in the event.
    """

    hint = ""

    def __init__(self, message: str, position: int, where: tuple[str, ...]) -> None:
        super().__init__(message)
        self.position = position
        self.where = where


class EventConflict(RequestConflict):
    """The event id was used for another event."""

    hint = "give every event an id of its own, and send a retry unchanged"

    def __init__(self, position: int, event_id: str, seq: int) -> None:
        message = f"event_id {event_id!r} belongs to event {seq}, which has another content"
        super().__init__(message, position, ("event_id",))
        self.event_id = event_id
        self.seq = seq


class DimensionConflict(RequestConflict):
    """The vector of an event has another number of numbers than those before it."""

    def __init__(self, position: int, given: int, others: str) -> None:
        message = f"the vector has {given} numbers; {others}: {SAME_MODEL}"
        super().__init__(message, position, ("vector",))


class PlacementConflict(RequestConflict):
    """A class has another parent in the taxonomy than the event names."""

    hint = (
        "send the parent that it has, or move the class: PUT /classes/{name} with `move`, or"
        " `manyclass place --move`"
    )

    def __init__(self, position: int, name: str, has: str, given: str) -> None:
        wanted = f"below {given!r}" if given else "at the top"
        super().__init__(f"class {name!r} is below {has!r}, not {wanted}", position, _path(name))


class PlacementFault(RequestConflict):
    """A class cannot be placed: a circle, too long a path, or a full taxonomy would follow."""

    def __init__(self, message: str, position: int, name: str) -> None:
        super().__init__(message, position, _path(name))


def _path(name: str) -> tuple[str, str]:
    return ("parents", name)


class UnknownName(CoreError, LookupError):
    """An unknown name. `kind` is "class", "feature" or "learner".

    `now` is the present name of a class, if `name` is a former one.
    """

    def __init__(self, kind: str, name: str, now: str | None = None) -> None:
        more = "" if now is None else f": it is a former name of {now!r}"
        super().__init__(f"no {kind} is named {name!r}{more}")
        self.kind = kind
        self.name = name


class RenameConflict(CoreError):
    """A class cannot have this name. `hint` says what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(f"{message}; {hint}")
        self.hint = hint


class DescriptionsFull(CoreError):
    """The descriptions of a model are as many, or as large, as its limits allow."""

    def __init__(self, most: str, setting: str) -> None:
        super().__init__(
            f"the descriptions are full: they may {most}; remove some, with null in place of each"
            f" of their parts, or raise {setting}"
        )


class TaxonomyMissing(CoreError, LookupError):
    """No class has a place in the taxonomy, which the request needs."""

    def __init__(self) -> None:
        super().__init__(
            "`decode` needs a taxonomy, and no class has a place in it yet: place the classes with"
            " PUT /classes/{name}, POST /classes or `manyclass place`, or leave `decode` out"
        )


class OptionError(CoreError, ValueError):
    """An invalid option of a learner, or of several learners together. `option` is its name."""

    def __init__(self, option: str, message: str) -> None:
        super().__init__(f"{option}: {message}")
        self.option = option


class RulesDiffer(CoreError):
    """Events or a state need another version of the rules than this release has. No state changed.

    `needed` is the version of the events or the state, `known` that of this release.
    """

    def __init__(self, needed: int, known: int) -> None:
        super().__init__(
            f"version {needed} of the rules of learning is in force, and this release of manyclass"
            f" has version {known}"
        )
        self.needed = needed
        self.known = known

    @property
    def is_newer(self) -> bool:
        """True if a newer release is needed, False if an older one."""
        return self.needed > self.known


class LearnerHalfChanged(CoreError):
    """An error, such as a failed allocation, interrupted a change of a learner.

    Every later call of that learner raises this. Load it again from a snapshot.
    """

    def __init__(self) -> None:
        super().__init__("an error left the learner half changed: load it again from a snapshot")


class SnapshotError(CoreError, ValueError):
    """A damaged or truncated snapshot, or one of an unknown format. Nothing was loaded.

    `section` names the part at fault: an array of the snapshot, or "header".
    """

    def __init__(self, reason: str, section: str = "header") -> None:
        super().__init__(reason if section == "header" else f"section {section!r}: {reason}")
        self.reason = reason
        self.section = section

    def within(self, prefix: str) -> "SnapshotError":
        """Return the same error for a section whose name has this prefix in the snapshot."""
        return SnapshotError(self.reason, prefix + self.section)
