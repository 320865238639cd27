"""The initial learners, from the settings and the stored model."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from manyclass.core.errors import OptionError
from manyclass.core.learners.options import LIMITS, Options
from manyclass.core.learners.registry import DEFAULT_LEARNER
from manyclass.core.model_set import ModelSet, check_shadows


@dataclass(frozen=True)
class LearnerSettings:
    """The settings about learners. Settings that are None, and limits not listed, stay as stored.

    The `option` of each OptionError is the name of the setting at fault.
    """

    learner: str | None
    shadows: tuple[str, ...] | None
    limits: dict[str, int]

    def check(self) -> None:
        """Raise OptionError for settings that are invalid with any stored learners."""
        # A learner's name alone may mean a stored learner whose options differ from the shadow's.
        is_open = self.learner is None or _is_name(self.learner)
        if not is_open or self.learner in (self.shadows or ()):
            self.model_set(None)
            return
        self._primary(None)
        with self._about("shadows"):
            check_shadows([Options.parse(each) for each in self.shadows or ()])

    def model_set(self, stored: ModelSet | None) -> ModelSet:
        """Return the initial learners. Raises OptionError.

        If no learner is set, the stored primary learner continues with its options; if no shadows
        are set, the stored shadows continue. An omitted limit keeps its stored value; a new shadow
        has the limits of the primary learner.
        """
        primary = self._primary(stored)
        with self._about("learner" if self.shadows is None else "shadows"):
            return ModelSet(primary, self._shadows(primary, stored))

    def _primary(self, stored: ModelSet | None) -> Options:
        with self._about("learner"):
            if self.learner is None:
                return (self._unnamed(stored) or Options.of(DEFAULT_LEARNER)).replace(**self.limits)
            former = None if stored is None else stored.primary
            primary = self._read(self.learner, self._beside_shadows(stored), limits_of(former))
            for name, value in self.limits.items():
                if getattr(primary, name) != value:
                    raise OptionError(name, f"contradicts MANYCLASS_LEARNER={self.learner!r}")
            return primary

    def _unnamed(self, stored: ModelSet | None) -> Options | None:
        """Return the stored primary learner, or the learner left if the settings name shadows."""
        if stored is None or self.shadows is None:
            return None if stored is None else stored.primary
        return stored.beside(tuple(self._read(each, stored.learners, {}) for each in self.shadows))

    def _beside_shadows(self, stored: ModelSet | None) -> tuple[Options, ...]:
        """Return the stored learners that are not a shadow in the settings."""
        if stored is None:
            return ()
        shadows = [meant_by(each, stored.learners) for each in self.shadows or ()]
        return tuple(each for each in stored.learners if each not in shadows)

    def _shadows(self, primary: Options, stored: ModelSet | None) -> tuple[Options, ...]:
        if self.shadows is None:
            left = () if stored is None else stored.without(primary)
            return tuple(each.replace(**self.limits) for each in left)
        known = () if stored is None else stored.learners
        return tuple(self._read(each, known, limits_of(primary)) for each in self.shadows)

    def _read(self, text: str, stored: tuple[Options, ...], inherited: dict[str, int]) -> Options:
        """Return the options of a specification, which may mean a stored learner. Raises
        OptionError.
        """
        continued = meant_by(text, stored)
        values = inherited if continued is None else dict(continued.values)
        return Options.parse(text, **{**values, **self.limits})

    @contextmanager
    def _about(self, setting: str) -> Iterator[None]:
        """Attribute an OptionError to this setting, unless it is about a limit that is set."""
        try:
            yield
        except OptionError as error:
            if error.option == setting or error.option in self.limits:
                raise
            raise OptionError(setting, str(error)) from error


def as_variables(model_set: ModelSet) -> str:
    """Return the environment variables for exactly these learners, in shell syntax."""
    learner, *shadows = (each.full_specification for each in model_set.learners)
    shadowing = ",".join(shadows) or "none"
    return f"MANYCLASS_LEARNER='{learner}' MANYCLASS_SHADOWS='{shadowing}'"


def meant_by(text: str, stored: tuple[Options, ...]) -> Options | None:
    """Return the stored learner that a specification means, or None. Raises OptionError.

    Its options are equal, with defaults for omitted ones. If there is none and the specification is
    a learner's name alone, it means the first stored learner of this name.
    """
    meant = Options.parse(text)
    for each in stored:
        if each.specification == meant.specification:
            return each
    named = (each for each in stored if _is_name(text) and each.learner == text.strip())
    return next(named, None)


def _is_name(specification: str) -> bool:
    return "(" not in specification


def limits_of(options: Options | None) -> dict[str, int]:
    """Return the limits of a learner by name, empty without a learner."""
    return {} if options is None else {name: getattr(options, name) for name in LIMITS}
