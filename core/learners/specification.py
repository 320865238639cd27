"""Specifications as text: `name`, `name(option=value, …)` or `name(preset, option=value, …)`.

Members of a committee nest them.
"""

from collections.abc import Mapping

from manyclass.core.errors import OptionError


def split(specifications: str, separator: str = ",") -> list[str]:
    """Return the specifications in a text, without empty ones."""
    return [part for part in parts(specifications, separator) if part]


def parts(text: str, separator: str) -> list[str]:
    """Return the text split at separators outside of parentheses, without outer blanks."""
    found, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == separator and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return [part.strip() for part in found]


def parse(specification: str) -> tuple[str, str, dict[str, str]]:
    """Return the name of the learner, the name of its preset ("" for none), and the options' texts.

    Raise OptionError("learner") for text that is not a specification.
    """
    name, parenthesis, rest = specification.strip().partition("(")
    if parenthesis and not rest.endswith(")"):
        raise OptionError("learner", f"{specification!r} has no closing parenthesis at its end")
    preset, given = "", dict[str, str]()
    entries = split(rest[:-1])
    if rest[:-1].strip() and entries != parts(rest[:-1], ","):
        written_so = f"{name}({', '.join(entries)})" if entries else name
        message = f"{specification!r} has a comma with nothing before or after it: {written_so}"
        raise OptionError("learner", message)
    for position, part in enumerate(entries):
        option, equals, text = (piece.strip() for piece in part.partition("="))
        if position == 0 and not equals:
            preset = option
        elif not equals or option in given:
            raise OptionError("learner", f"{part!r} must be option=value, each option once")
        else:
            given[option] = text
    return name.strip(), preset, given


def written(learner: str, options: Mapping[str, str]) -> str:
    """Return the specification of a learner with the texts of its options."""
    texts = ",".join(f"{name}={text}" for name, text in options.items())
    return f"{learner}({texts})" if texts else learner
