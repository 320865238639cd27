"""Texts with fields, as users send them."""


def without_nulls(given: str | dict[str, str | None]) -> str | dict[str, str]:
    """Return the text; without its null fields if it has fields."""
    if isinstance(given, str):
        return given
    return {name: text for name, text in given.items() if text is not None}
