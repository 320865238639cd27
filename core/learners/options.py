"""Options: the name of a learner and the values of its options.

They are stored with the state and compared at the start of a service. A specification writes them
in one line:

    ff    pa(replay=4)    svm(fast)    committee(members=ff+pa(replay=4), vote=rarest)
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

from manyclass.core.errors import OptionError
from manyclass.core.learners import nested, specification
from manyclass.core.learners.common import LIMITS as _LIMITS
from manyclass.core.learners.ensemble import members_of
from manyclass.core.learners.registry import LEARNERS, OPTIONS, learner_of, option_of
from manyclass.core.learners.spec import LearnerSpec, Value

LIMITS = tuple(option.name for option in _LIMITS)


@dataclass(frozen=True, init=False, repr=False)
class Options:
    """A learner and the values of its options, each readable as an attribute.

    Options of other learners can be read too: they have a neutral value. `dataclasses.replace`
    takes options as it takes fields.
    """

    learner: str
    values: tuple[tuple[str, Value], ...]

    def __init__(
        self, learner: str = "ff", values: Iterable[tuple[str, Value]] = (), **given: Any
    ) -> None:
        """Take the given options, then `values`, then the learner's defaults.

        Raise OptionError for a value out of range, and for an option of another learner whose value
        is not neutral.
        """
        spec = learner_of(learner)
        chosen = dict(values) | given
        own = {}
        for option in spec.options:
            value = option.check(chosen.pop(option.name, option.default))
            own[option.name] = nested.normalized(str(value)) if option.is_nested else value
        for name, value in chosen.items():
            option = option_of(name, spec)
            if option.check(value) != option.neutral:
                message = f"has no effect on learner {learner!r}, only on {_having(name)}"
                raise OptionError(name, message)
        self.__dict__.update(own, learner=learner, values=tuple(own.items()))
        if spec.check is not None:
            spec.check(self)

    def __getattr__(self, name: str) -> Any:
        """Return the neutral value of an option of other learners."""
        if name not in OPTIONS:
            raise AttributeError(f"{name!r} is not an option of a learner")
        return OPTIONS[name].neutral

    def __repr__(self) -> str:
        """Return an expression for these options."""
        return f"Options.parse({self.full_specification!r})"

    @classmethod
    def of(cls, learner: str, **given: Any) -> Self:
        """Return the learner's defaults with the options `given`; OptionError."""
        return cls(learner, **given)

    @classmethod
    def parse(cls, text: str, **inherited: Any) -> Self:
        """Return the options of a specification; `inherited` ones replace the learner's defaults.

        Raise OptionError, with the option "learner" if the text cannot be parsed.
        """
        learner, named = _named(text)
        return cls(learner, inherited.items(), **named)

    def replace(self, **changes: Any) -> Self:
        """Return the same learner with other options; OptionError."""
        return type(self)(self.learner, self.values, **changes)

    @property
    def spec(self) -> LearnerSpec:
        """The declaration of the learner."""
        return LEARNERS[self.learner]

    @property
    def specification(self) -> str:
        """The learner and the options that differ from its defaults, without the limits."""
        return self._written(LIMITS)

    @property
    def full_specification(self) -> str:
        """The specification with the limits that differ from the defaults."""
        return self._written()

    def _written(self, without: Iterable[str] = ()) -> str:
        differing = {
            option.name: option.write(value)
            for option, (_, value) in zip(self.spec.options, self.values, strict=True)
            if value != option.default and option.name not in without
        }
        return specification.written(self.learner, differing)

    @cached_property
    def needs_features(self) -> bool:
        """Return whether a class is ranked only by features that it was learned with.

        True for a label tree too: a class is not added for its bias alone.
        """
        return all(each.spec.needs_features for each in self.member_options or (self,))

    @cached_property
    def learns_weights(self) -> bool:
        """Return whether the learner, or every member, can learn an event with a weight."""
        return all(each.spec.learns_weights for each in self.member_options or (self,))

    @cached_property
    def learns_rejections(self) -> bool:
        """Return whether the learner, or every member, can learn rejected classes."""
        return all(each.spec.learns_rejections for each in self.member_options or (self,))

    @cached_property
    def without_signs(self) -> "tuple[Options, ...]":
        """The options of the learner, or of those members, that treat values below 0 as absent."""
        return tuple(each for each in self.member_options or (self,) if not each.spec.takes_signs)

    @property
    def builds_offline(self) -> bool:
        """Return whether offline training builds a label tree for the learner or a member."""
        return any(each.spec.builds_offline for each in (self, *self.member_options))

    @cached_property
    def member_options(self) -> "tuple[Options, ...]":
        """The options of each member of a committee, in order; empty for other learners."""
        return members_of(self)

    def to_dict(self) -> dict[str, Value]:
        """Return the learner and its options by name, as logs and snapshots store them."""
        return {"learner": self.learner, **dict(self.values)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Return the options of `to_dict`; OptionError, or KeyError without a learner."""
        given = dict(values)
        return cls(given.pop("learner"), given.items())

    def differences(self, other: "Options") -> dict[str, tuple[Any, Any]]:
        """Return the options that differ: name -> (here, in the other)."""
        names = {**self.to_dict(), **other.to_dict()}
        pairs = {name: (getattr(self, name), getattr(other, name)) for name in names}
        return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def _named(text: str) -> tuple[str, dict[str, Value]]:
    """Return the learner of a specification, and the options that it or its preset names."""
    learner, preset, given = specification.parse(text)
    spec = learner_of(learner)
    read = {name: option_of(name, spec).read(value) for name, value in given.items()}
    return learner, {**spec.preset(preset), **read}


def _having(option: str) -> str:
    """Return the names of the learners that have the option."""
    return ", ".join(name for name, learner in LEARNERS.items() if learner.option(option))
