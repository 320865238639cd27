"""Options of a learner given as settings of their own, as earlier releases took them."""

import shlex
from collections.abc import Mapping

from manyclass.core.errors import OptionError
from manyclass.core.learners.options import Options
from manyclass.core.learners.registry import DEFAULT_LEARNER, LEARNERS, option_of
from manyclass.core.learners.spec import Value
from manyclass.service.config.kinds import read_flag


def instead_of(given: Mapping[str, tuple[str, str]], learner: str | None) -> str:
    """Return the specification to write instead, as a message.

    `given`: variable or flag -> (option, its text); `learner`: the specification that is set.
    """
    name = "--learner " if any(each.startswith("--") for each in given) else "MANYCLASS_LEARNER="
    try:
        options = _options({option: text for option, text in given.values()}, learner)
    except OptionError as error:
        example = f"{DEFAULT_LEARNER}(replay=4)"
        return f"options stand in the learner's specification, as in {name}'{example}'; {error}"
    message = f"is an option of the learner: write {name}{shlex.quote(options.full_specification)}"
    if len(given) > 1:
        message += f" instead of {' and '.join(given)}"
    if learner is None:
        message += "; if the store holds another learner, write that one with these options"
    return message


def _options(texts: Mapping[str, str], learner: str | None) -> Options:
    values = {name: _read(name, text.strip()) for name, text in texts.items()}
    if learner is not None:
        return Options.parse(learner, **values)
    candidates = [DEFAULT_LEARNER, *LEARNERS]
    fitting = (name for name in candidates if all(map(LEARNERS[name].option, values)))
    return Options.of(next(fitting, DEFAULT_LEARNER), **values)


def _read(name: str, text: str) -> Value:
    option = option_of(name)
    if isinstance(option.default, bool):
        try:
            return read_flag(text)
        except ValueError:
            raise OptionError(name, f"must be yes or no, not {text!r}") from None
    return option.read(text)
