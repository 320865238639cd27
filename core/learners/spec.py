"""Declarations: an option with its type, default and values; a learner with its options."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING, Self

from manyclass.core.errors import OptionError

if TYPE_CHECKING:
    from manyclass.core.learners.options import Options

Value = bool | int | float | str

_INTERVAL = re.compile(r"([\[(])(.+), (.+)([\])])")
_KINDS = {bool: "yes or no", int: "a whole number", float: "a number", str: "a text"}


@dataclass(frozen=True, slots=True)
class Option:
    """An option of one or several learners. The type of its default is the type of its values.

    `values` is an interval ("(0, 1]") or a list of choices ("l2 | none"); empty for yes or no and
    for free text. A learner with another default or other values declares the option by `at`.
    """

    name: str
    default: Value
    values: str
    help: str
    symbol: str = ""  # in the papers
    zero: str = ""  # the meaning of 0, if 0 is allowed beside the interval
    of_members: bool = False  # only for members of a committee
    is_nested: bool = False  # the value is a text of specifications
    absent: Value | None = None  # see `neutral`; None: the default

    def at(self, default: Value, values: str = "") -> Self:
        """Return the same option with another default, or other values."""
        return replace(self, default=default, values=values or self.values, absent=self.neutral)

    @property
    def neutral(self) -> Value:
        """The value of the option for learners that do not have it."""
        return self.default if self.absent is None else self.absent

    @property
    def allowed(self) -> str:
        """The values allowed, as the end of a sentence that begins with "must be"."""
        if not _INTERVAL.fullmatch(self.values):
            return f"one of {self.values.replace(' | ', ', ')}"
        return f"in {self.values}" + (f", or 0 ({self.zero})" if self.zero else "")

    def check(self, value: object) -> Value:
        """Return the value in the type of the option, so that equal options are stored equally.

        Raise OptionError for a value of another type, or one that is not allowed.
        """
        kind = type(self.default)
        if kind is float and type(value) is int:
            value = float(value) if abs(value) < 10**300 else float("inf")
        elif kind is float and isinstance(value, float):
            value = float(value) + 0.0  # no negative zero
        if not isinstance(value, Value) or type(value) is not kind:
            raise self._error(f"must be {_KINDS[kind]}, not {value!r}")
        if self.values and not self._allows(value):
            raise self._error(f"must be {self.allowed}")
        return value

    def _allows(self, value: Value) -> bool:
        if isinstance(value, str):
            return value in self.values.split(" | ")
        left, low, high, right = _bounds(self.values)
        above = value > low if left == "(" else value >= low
        below = value < high if right == ")" else value <= high
        return isfinite(value) and ((above and below) or (self.zero != "" and value == 0))

    def _error(self, message: str) -> OptionError:
        return OptionError(self.name, message)

    def read(self, text: str) -> Value:
        """Return the value that a text stands for, before `check`; OptionError for another type."""
        kind = type(self.default)
        try:
            return {"yes": True, "no": False}[text] if kind is bool else kind(text)
        except (KeyError, ValueError):
            raise self._error(f"must be {_KINDS[kind]}, not {text!r}") from None

    def write(self, value: Value) -> str:
        """Return the value as text for `read`."""
        if isinstance(value, bool):
            return "yes" if value else "no"
        return str(value).removesuffix(".0")


@dataclass(frozen=True)
class LearnerSpec:
    """A learner as it is declared: its name, its options, and its row in docs/learners.md."""

    name: str
    about: str  # content of its rows | condition of an update | source
    options: tuple[Option, ...]
    needs_features: bool = True  # ranks a class only by features that it was learned with
    takes_signs: bool = False  # uses values below 0, or no values at all
    is_probabilistic: bool = False  # its scores are probabilities
    builds_offline: bool = False  # offline training builds its tree before it learns
    learns_weights: bool = False  # weights of events other than 1
    learns_rejections: bool = False  # rejected classes of events
    # Raises OptionError for options that contradict each other.
    check: "Callable[[Options], None] | None" = None
    presets: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)  # name -> options

    def option(self, name: str) -> Option | None:
        """Return the option of this name; None if the learner does not have it."""
        return next((option for option in self.options if option.name == name), None)

    def preset(self, name: str) -> Mapping[str, Value]:
        """Return the options of a preset; none for ""; OptionError for an unknown one."""
        if name and name not in self.presets:
            preset = f", or the preset {' or '.join(self.presets)}" if self.presets else ""
            raise OptionError("learner", f"{name!r} must be option=value{preset}")
        return self.presets.get(name, {})


@cache
def _bounds(interval: str) -> tuple[str, float, float, str]:
    left, low, high, right = _INTERVAL.findall(interval)[0]
    numbers = [int(bound) if bound.isdigit() else float(bound) for bound in (low, high)]
    return left, *numbers, right
