"""The beginning of an event's instance or of a long name, for a line on the terminal."""

from typing import Final

from manyclass.client.types import TaughtEvent, Text

MOST_SHOWN: Final = 60  # letters


def beginning_of(event: TaughtEvent) -> str:
    """Return the text of an event, or its features and values, shortened, on one line."""
    if event.text is not None:
        return beginning_of_text(event.text)
    features = (event.features or {}).items()
    return shortened(" ".join(f"{name}={value:g}" for name, value in features))


def beginning_of_text(text: Text) -> str:
    """Return a text, or its fields with their names, shortened, on one line."""
    if isinstance(text, str):
        return shortened(_on_one_line(text))
    fields = (f"{_on_one_line(name)}: {_on_one_line(each)}" for name, each in text.items())
    return shortened("  ".join(fields))


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def shortened(text: str) -> str:
    """Return a text, or its beginning with an ellipsis if it is too long for a line."""
    return text if len(text) <= MOST_SHOWN else text[: MOST_SHOWN - 1] + "…"
