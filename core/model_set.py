"""The learners of a model: the primary, and shadows that learn the same events."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from manyclass.core.errors import OptionError, UnknownName
from manyclass.core.learners.options import Options

Role = Literal["primary", "shadow"]

MOST_SHADOWS = 15
# Counts the members of committees too. Each learner has some twenty arrays, whose names, types and
# checksums must fit into the header of a snapshot.
MOST_LEARNERS = 128


@dataclass(frozen=True, slots=True)
class ModelSet:
    """The options of every learner, labelled by their specifications, which must all differ."""

    primary: Options
    shadows: tuple[Options, ...] = ()

    def __post_init__(self) -> None:
        """Raise OptionError for too many or equal learners, and for options of members only."""
        check_shadows(self.shadows)
        check_together(self.learners)

    @property
    def learners(self) -> tuple[Options, ...]:
        """The options of all learners, the primary first."""
        return (self.primary, *self.shadows)

    @property
    def labels(self) -> list[str]:
        """The specifications of all learners, in the same order."""
        return [options.specification for options in self.learners]

    def promoted(self, label: str) -> "ModelSet":
        """Return the same learners with this one as the primary; KeyError for an unknown one."""
        promoted = self.find(label)
        if promoted is None:
            raise KeyError(label)
        if promoted == self.primary:
            return self
        shadows = tuple(self.primary if each is promoted else each for each in self.shadows)
        return ModelSet(promoted, shadows)

    def find(self, specification: str) -> Options | None:
        """Return the learner of a specification, options in any order; None if there is none."""
        try:
            label = Options.parse(specification).specification
        except OptionError:
            return None  # not a specification
        return next((each for each in self.learners if each.specification == label), None)

    def having(self, shadow: Options) -> "ModelSet":
        """Return the same learners, with this one as a shadow unless it is there; OptionError."""
        if self.find(shadow.specification) is not None:
            return self
        return ModelSet(self.primary, (*self.shadows, shadow))

    def lacking(self, specification: str) -> "ModelSet":
        """Return the same learners without this shadow.

        Raise UnknownName for a learner that is not there, OptionError for the primary one.
        """
        found = self.find(specification)
        if found is None:
            raise UnknownName("learner", specification)
        if found == self.primary:
            raise OptionError(
                "learner",
                f"{found.specification!r} is the primary learner, which answers: promote another"
                " one first",
            )
        return ModelSet(self.primary, tuple(each for each in self.shadows if each is not found))

    def without(self, primary: Options) -> tuple[Options, ...]:
        """Return the shadows that remain beside this primary, which may be a shadow here."""
        label = primary.specification
        if label not in self.labels:
            return self.shadows
        return tuple(each for each in self.learners if each.specification != label)

    def beside(self, shadows: tuple[Options, ...]) -> Options:
        """Return the primary beside these shadows.

        It is the primary here, unless that was promoted from among them: then the learner that it
        replaced.
        """
        named = {options.specification for options in shadows}
        others = (options for options in self.learners if options.specification not in named)
        return next(others, self.primary)

    def after(self, stored: "ModelSet") -> "ModelSet":
        """Return these learners, continued from the stored ones.

        Only a promotion changes the primary, so the stored primary stays primary, also if it is a
        shadow here or has other options here. Raise OptionError if the primary here is another
        learner, which has no state yet.
        """
        label = stored.primary.specification
        if label in self.labels:
            return self.promoted(label)
        if continues(self.primary, stored.primary):
            return self
        asked = self.primary.specification
        raise OptionError(
            "learner",
            f"{asked!r} cannot take the place of {stored.primary.full_specification!r}, which"
            f" answers: leave that one, add {asked!r} to the shadows, and promote it when it has"
            " learned enough; or begin anew in another store",
        )

    def origins(self, before: "ModelSet") -> list[int | None]:
        """Return, for each learner, the position of the former learner that it continues, or None.

        The primary continues the former primary, unless that was another learner. A shadow
        continues the shadow of the same specification, or else the next one of the same learner
        with other options.
        """
        origins: list[int | None] = [0 if continues(self.primary, before.primary) else None]
        left = dict(enumerate(before.shadows, 1))
        positions = {options.specification: origin for origin, options in left.items()}
        for options in self.shadows:
            origin = positions.get(options.specification)
            left.pop(origin or 0, None)
            origins.append(origin)
        for position, options in enumerate(self.shadows, 1):
            if origins[position] is None:
                alike = (origin for origin, each in left.items() if continues(options, each))
                origins[position] = origin = next(alike, None)
                left.pop(origin or 0, None)
        return origins

    def differences(self, other: "ModelSet") -> dict[str, tuple[Any, Any]]:
        """Return the options that differ, in any order of shadows: name -> (here, in the other)."""
        found = self.primary.differences(other.primary)
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
        """Return the options of every learner, as logs and snapshots store them."""
        return {
            "primary": self.primary.to_dict(),
            "shadows": [options.to_dict() for options in self.shadows],
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "ModelSet":
        """Return the model set of `to_dict`; other keys are ignored.

        Raise OptionError for an option that is unknown or out of range; KeyError, TypeError or
        ValueError for another structure.
        """
        shadows = tuple(map(Options.from_dict, values["shadows"]))
        return cls(Options.from_dict(values["primary"]), shadows)


def check_shadows(shadows: Sequence[Options]) -> None:
    """Raise OptionError for shadows that are invalid with any primary."""
    if len(shadows) > MOST_SHADOWS:
        raise OptionError(
            "shadows", f"there may be {MOST_SHADOWS} at most, not {len(shadows)}: remove one first"
        )
    check_together(shadows)


def check_together(learners: Sequence[Options]) -> None:
    """Raise OptionError for too many or equal learners, and for options of members only."""
    count = sum(1 + len(options.member_options) for options in learners)
    if count > MOST_LEARNERS:
        most = f"{MOST_LEARNERS} learners, members of committees counted"
        raise OptionError("shadows", f"there may be {most}, not {count}")
    known: set[str] = set()
    for options in learners:
        label = options.specification
        if label in known:
            raise OptionError("shadows", f"two learners are {label!r}; one is enough")
        known.add(label)
        for option, (name, value) in zip(options.spec.options, options.values, strict=True):
            if option.of_members and value != option.default:
                raise OptionError(name, "is for the members of a committee only")


def continues(options: Options, before: Options) -> bool:
    """Return whether a learner with these options can continue the state of the other."""
    learners, learners_before = (
        [each.learner for each in (of, *of.member_options)] for of in (options, before)
    )
    return learners == learners_before
