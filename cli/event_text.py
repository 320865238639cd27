"""The beginning of an event's instance or of a long name, for a line on the terminal."""

from typing import Final

from manyclass.client.types import TaughtEvent

MOST_SHOWN: Final = 60  # letters


def beginning_of(event: TaughtEvent) -> str:
    """Return the text of an event, or its features and values, shortened, on one line."""
    if event.text is not None:
        texts = [event.text] if isinstance(event.text, str) else event.text.values()
        whole = " ".join(" ".join(texts).split())
    else:
        whole = " ".join(f"{name}={value:g}" for name, value in (event.features or {}).items())
    return shortened(whole)


def shortened(text: str) -> str:
    """Return a text, or its beginning with an ellipsis if it is too long for a line."""
    return text if len(text) <= MOST_SHOWN else text[: MOST_SHOWN - 1] + "…"
