"""The learners to start with, from the settings and the stored model."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from manyclass.core.errors import OptionError
from manyclass.core.learners.options import LIMITS, Options
from manyclass.core.learners.registry import DEFAULT_LEARNER
from manyclass.core.model_set import ModelSet, check_shadows


@dataclass(frozen=True)
class LearnerSettings:
    """The settings about learners; None, or no limit: as stored.

    Every OptionError has the name of the setting at fault as its `option`.
    """

    learner: str | None
    shadows: tuple[str, ...] | None
    limits: dict[str, int]

    def check(self) -> None:
        """Raise OptionError for settings that are invalid with any stored learners."""
        if self.learner is not None:
            self.model_set(None)
            return
        self._primary(None)
        with self._about("shadows"):
            check_shadows([Options.parse(each) for each in self.shadows or ()])

    def model_set(self, stored: ModelSet | None) -> ModelSet:
        """Return the learners to start with; OptionError.

        Without a learner the stored primary continues with its options, without shadows the stored
        shadows do. An omitted limit keeps its stored value; a new shadow has the primary's.
        """
        primary = self._primary(stored)
        with self._about("learner" if self.shadows is None else "shadows"):
            return ModelSet(primary, self._shadows(primary, stored))

    def _primary(self, stored: ModelSet | None) -> Options:
        with self._about("learner"):
            before = None if stored is None else self._predecessor(stored)
            if self.learner is None:
                return (before or Options.of(DEFAULT_LEARNER)).replace(**self.limits)
            primary = Options.parse(self.learner, **{**limits_of(before), **self.limits})
            for name, value in self.limits.items():
                if getattr(primary, name) != value:
                    raise OptionError(name, f"MANYCLASS_LEARNER says otherwise: {self.learner!r}")
            return primary

    def _predecessor(self, stored: ModelSet) -> Options:
        """Return the stored learner that the settings mean by the primary."""
        if self.learner is not None:
            return stored.find(Options.parse(self.learner).specification) or stored.primary
        if self.shadows is not None:
            return stored.beside(tuple(map(Options.parse, self.shadows)))
        return stored.primary

    def _shadows(self, primary: Options, stored: ModelSet | None) -> tuple[Options, ...]:
        if self.shadows is None:
            left = () if stored is None else stored.without(primary)
            return tuple(each.replace(**self.limits) for each in left)
        shadows = []
        for text in self.shadows:
            known = None if stored is None else stored.find(Options.parse(text).specification)
            shadows.append(Options.parse(text, **{**limits_of(known or primary), **self.limits}))
        return tuple(shadows)

    @contextmanager
    def _about(self, setting: str) -> Iterator[None]:
        """Make errors those of this setting, or of a limit that is given."""
        try:
            yield
        except OptionError as error:
            if error.option == setting or error.option in self.limits:
                raise
            raise OptionError(setting, str(error)) from error


def as_variables(model_set: ModelSet) -> str:
    """Return the variables for exactly these learners, in shell syntax."""
    learner, *shadows = (each.full_specification for each in model_set.learners)
    shadowing = ",".join(shadows) or "none"
    return f"MANYCLASS_LEARNER='{learner}' MANYCLASS_SHADOWS='{shadowing}'"


def limits_of(options: Options | None) -> dict[str, int]:
    """Return the limits of a learner by name; none without one."""
    return {} if options is None else {name: getattr(options, name) for name in LIMITS}
