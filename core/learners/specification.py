"""Specifications as text: `name` or `name(option=value, …)`; members of a committee nest them."""

from manyclass.core.errors import OptionError


def split(specifications: str, separator: str = ",") -> list[str]:
    """Return the specifications in a text, without empty ones."""
    return [part for part in parts(specifications, separator) if part]


def parts(text: str, separator: str) -> list[str]:
    """Return the text divided at each separator outside of parentheses, without outer blanks."""
    found, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == separator and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return [part.strip() for part in found]


def parse(specification: str) -> tuple[str, dict[str, str]]:
    """Return the learner's name and the options with their texts; OptionError for "learner"."""
    name, parenthesis, rest = specification.strip().partition("(")
    if parenthesis and not rest.endswith(")"):
        raise OptionError("learner", f"{specification!r} has no closing parenthesis at its end")
    given: dict[str, str] = {}
    for part in split(rest[:-1]):
        option, equals, text = (piece.strip() for piece in part.partition("="))
        if not equals or option in given:
            raise OptionError("learner", f"{part!r} must be option=value, each option once")
        given[option] = text
    return name.strip(), given
