"""The registry: all learners and all options by name."""

from manyclass.core.errors import OptionError, did_you_mean
from manyclass.core.learners import ensemble, frequency, label_tree, linear
from manyclass.core.learners.spec import LearnerSpec, Option

DEFAULT_LEARNER = "svm"  # of a new store

LEARNERS: dict[str, LearnerSpec] = {
    learner.name: learner
    for family in (linear, label_tree, frequency, ensemble)
    for learner in family.LEARNERS
}
OPTIONS: dict[str, Option] = {}  # as declared by the first learner that has the option
for _learner in LEARNERS.values():
    OPTIONS |= {each.name: each for each in _learner.options if each.name not in OPTIONS}


def learner_of(name: object) -> LearnerSpec:
    """Return the learner of this name; OptionError, with a suggestion."""
    learner = LEARNERS.get(name) if isinstance(name, str) else None
    if learner is None:
        message = f"must be one of {', '.join(LEARNERS)}, not {name!r}"
        suggestion = did_you_mean(str(name), [*LEARNERS])
        raise OptionError("learner", f"{message}; {suggestion}" if suggestion else message)
    return learner


def option_of(name: str, learner: LearnerSpec | None = None) -> Option:
    """Return the option of this name; OptionError, with a suggestion.

    If `learner` has the option, its own declaration is returned.
    """
    option = (learner and learner.option(name)) or OPTIONS.get(name)
    if option is None:
        known = [each.name for each in (learner.options if learner else OPTIONS.values())]
        suggestion = did_you_mean(name, known) or did_you_mean(name, OPTIONS)
        suggestion = suggestion or f"known are {', '.join(known)}"
        raise OptionError(name, f"is not an option of a learner; {suggestion}")
    return option
