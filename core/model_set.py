"""Which learners a model has: the one that answers, and the shadows that learn the same events."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from manyclass.core.errors import OptionError
from manyclass.core.learners.options import MATTERS, Options, members_of

Role = Literal["primary", "shadow"]

MOST_SHADOWS = 15
# Members of committees counted. Each has some twenty arrays, whose names, types and checksums have
# to fit into the header of a snapshot.
MOST_LEARNERS = 128


@dataclass(frozen=True, slots=True)
class ModelSet:
    """The options of every learner. Each is known by its specification, so no two may be equal."""

    answering: Options
    shadows: tuple[Options, ...] = ()

    def __post_init__(self) -> None:
        """Raise OptionError for too many, two of one specification, or options of members only."""
        check_shadows(self.shadows)
        check_together(self.learners)

    @property
    def learners(self) -> tuple[Options, ...]:
        """All of them, the one that answers first."""
        return (self.answering, *self.shadows)

    @property
    def labels(self) -> list[str]:
        """The specifications of all of them, in the same order."""
        return [options.specification for options in self.learners]

    def promoted(self, label: str) -> "ModelSet":
        """The same learners, `label` the one that answers; KeyError when there is none."""
        learners = dict(zip(self.labels, self.learners, strict=True))
        promoted = learners.pop(label)
        if promoted == self.answering:
            return self
        shadows = tuple(self.answering if each is promoted else each for each in self.shadows)
        return ModelSet(promoted, shadows)

    def find(self, label: str) -> Options | None:
        """The learner of this specification."""
        return next((each for each in self.learners if each.specification == label), None)

    def without(self, answering: Options) -> tuple[Options, ...]:
        """The shadows there are when this learner answers, which may have been one of them."""
        label = answering.specification
        if label not in self.labels:
            return self.shadows
        return tuple(each for each in self.learners if each.specification != label)

    def beside(self, shadows: tuple[Options, ...]) -> Options:
        """The learner to which these are the shadows: the one that answers, or, when that was
        promoted from among them, the one whose place it took.
        """
        named = {options.specification for options in shadows}
        others = (options for options in self.learners if options.specification not in named)
        return next(others, self.answering)

    def after(self, stored: "ModelSet") -> "ModelSet":
        """These learners as they go on from the stored ones.

        Who answers is changed by a promotion only: the stored one that answers goes on answering,
        whether it is named as a shadow here, or has other options here. OptionError when another
        learner is to answer in its place, which knows nothing yet.
        """
        label = stored.answering.specification
        if label in self.labels:
            return self.promoted(label)
        if continues(self.answering, stored.answering):
            return self
        asked = self.answering.specification
        raise OptionError(
            "learner",
            f"{asked!r} cannot take the place of {label!r}, which answers: leave that one, add"
            f" {asked!r} to the shadows, and promote it when it has learned enough; or begin"
            " anew in another store",
        )

    def origins(self, before: "ModelSet") -> list[int | None]:
        """For each learner the place of the one before that it goes on from, None to begin anew.

        The one that answers goes on from the one that answered, unless that was another learner. A
        shadow goes on from the one of the same specification, or else from the next of the same
        learner with other options.
        """
        origins: list[int | None] = [0 if continues(self.answering, before.answering) else None]
        left = dict(enumerate(before.shadows, 1))
        places = {options.specification: place for place, options in left.items()}
        for options in self.shadows:
            place = places.get(options.specification)
            left.pop(place or 0, None)
            origins.append(place)
        for position, options in enumerate(self.shadows, 1):
            if origins[position] is None:
                alike = (place for place, each in left.items() if continues(options, each))
                origins[position] = place = next(alike, None)
                left.pop(place or 0, None)
        return origins

    def differences(self, other: "ModelSet") -> dict[str, tuple[Any, Any]]:
        """What differs: name -> (here, in the other). The order of shadows is no difference."""
        found = self.answering.differences(other.answering)
        mine, others = (
            {options.specification: options for options in each.shadows} for each in (self, other)
        )
        if mine.keys() != others.keys():
            found["shadows"] = (",".join(mine), ",".join(others))
        for label in mine:
            if label in others:
                differing = mine[label].differences(others[label])
                found |= {f"{name} of {label}": values for name, values in differing.items()}
        return found

    def to_dict(self) -> dict[str, Any]:
        """The effective options of every learner, as plain values."""
        return {
            "answering": effective(self.answering),
            "shadows": [effective(options) for options in self.shadows],
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "ModelSet":
        """Return the model set of `to_dict`, or of the one learner of an older release.

        OptionError for an option that is not known or out of range; KeyError, TypeError or
        ValueError for what is nothing of the kind.
        """
        if "answering" not in values:
            return cls(_options(values))
        return cls(_options(values["answering"]), tuple(map(_options, values["shadows"])))


def check_shadows(shadows: Sequence[Options]) -> None:
    """Raise OptionError for shadows that cannot be, whichever learner answers beside them."""
    if len(shadows) > MOST_SHADOWS:
        raise OptionError("shadows", f"there may be {MOST_SHADOWS} at most")
    check_together(shadows)


def check_together(learners: Sequence[Options]) -> None:
    """Raise OptionError for learners that are too large together, equal, or of members only."""
    parts = sum(1 + len(members_of(options)) for options in learners)
    if parts > MOST_LEARNERS:
        most = f"{MOST_LEARNERS} learners, members of committees counted"
        raise OptionError("shadows", f"there may be {most}, not {parts}")
    known: set[str] = set()
    for options in learners:
        label = options.specification
        if label in known:
            raise OptionError("shadows", f"two learners are {label!r}; one is enough")
        known.add(label)
        for name in ("subsample", "shuffle"):
            if getattr(options, name) != Options.__dataclass_fields__[name].default:
                raise OptionError(name, "is for the members of a committee only")


def effective(options: Options) -> dict[str, Any]:
    """The learner and the options that have an effect on it, by name.

    Those without have to be as they are by default, which may be otherwise in a later release.
    """
    matters = {"learner", *MATTERS[options.learner]}
    return {name: value for name, value in options.to_dict().items() if name in matters}


def _options(values: Mapping[str, Any]) -> Options:
    given = dict(values)
    learner = given.pop("learner", "ff")
    if learner == "ff":  # it did not damp values when that was no option yet
        given.setdefault("sublinear", False)
    return Options.of(learner, **given)


def continues(options: Options, before: Options) -> bool:
    """Whether a learner with these options can go on from what the other has learned."""
    learners, learners_before = (
        [each.learner for each in (of, *members_of(of))] for of in (options, before)
    )
    return learners == learners_before
