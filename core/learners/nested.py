"""Specifications inside an option: the members of a committee."""

from manyclass.core.errors import OptionError
from manyclass.core.learners import specification
from manyclass.core.learners.registry import LEARNERS


def normalized(text: str) -> str:
    """Return specifications joined by +, without blanks, with presets spelled out."""
    members = specification.parts("".join(text.split()), "+")
    return "+".join(_without_preset(member) for member in members)


def _without_preset(text: str) -> str:
    try:
        name, preset, given = specification.parse(text)
        learner = LEARNERS.get(name)
        if learner is None:
            return text
        for option, value in learner.preset(preset).items():
            declared = learner.option(option)
            assert declared is not None, option
            given.setdefault(option, declared.write(value))
    except OptionError:
        return text  # the check of the committee reports the fault
    return specification.written(name, given)
