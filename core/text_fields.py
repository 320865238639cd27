"""Texts of fields as users send them."""


def without_nulls(given: str | dict[str, str | None]) -> str | dict[str, str]:
    """Return a text without the fields that are null."""
    if isinstance(given, str):
        return given
    return {name: text for name, text in given.items() if text is not None}
