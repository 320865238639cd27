"""Specifications within an option, which name the members of a committee, as given and in logs.

Logs and snapshots keep the former names and defaults of options, so a text there means the same to
every release.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final

from manyclass.core.errors import OptionError
from manyclass.core.learners import specification
from manyclass.core.learners.registry import FORMER, LEARNERS
from manyclass.core.learners.spec import Option, Value

RENAMED: Final = {former: name for former, name in FORMER.items() if former != name}
_LOGGED: Final = {name: former for former, name in RENAMED.items()}

Default = Callable[[Option], Value]


def as_given(text: str) -> str:
    """Return the specifications with present names, without blanks, presets and new defaults."""
    return _each(respelled(text), _present, _present)


def as_logged(text: str) -> str:
    """Return specifications of `as_given` as they are in logs and snapshots."""
    return _spelled(_each(text, _present, _logged), _LOGGED)


def as_given_by_log(text: str) -> str:
    """Return specifications of a log or snapshot, of any release, as `as_given` does."""
    return _each(respelled(text), _logged, _present)


def respelled(label: str) -> str:
    """Return specifications with the present names of their options, and without blanks."""
    return _spelled(label, RENAMED)


def _spelled(text: str, names: Mapping[str, str]) -> str:
    return re.sub(r"\w+(?==)", lambda name: names.get(name[0], name[0]), "".join(text.split()))


def _present(option: Option) -> Value:
    return option.default


def _logged(option: Option) -> Value:
    return option.logged_default


def _each(text: str, before: Default, after: Default) -> str:
    return "+".join(_restated(each, before, after) for each in specification.parts(text, "+"))


def _restated(text: str, before: Default, after: Default) -> str:
    """Return a specification by the defaults `after` that means what it means by those `before`."""
    try:
        name, preset, given = specification.parse(text, is_logged=before is _logged)
        learner = LEARNERS.get(name)
        if learner is None:
            return text
        named = learner.preset(preset)
        for option in learner.options:
            if option.name in named:
                given.setdefault(option.name, option.write(named[option.name]))
            if option.logged is not None:
                value = option.read(given.pop(option.name, option.write(before(option))))
                if value != after(option):
                    given[option.name] = option.write(value)
    except OptionError:
        return text  # the committee refuses it, and says why
    return specification.written(name, given)
