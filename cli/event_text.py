"""The beginning of an event's instance, for a line on the terminal."""

from typing import Final

from manyclass.client.types import TaughtEvent

MOST_SHOWN: Final = 60  # letters of an instance


def beginning_of(event: TaughtEvent) -> str:
    """Return the text of an event, or its features and values, shortened, on one line."""
    if event.text is not None:
        whole = " ".join(event.text.split())
    else:
        whole = " ".join(f"{name}={value:g}" for name, value in (event.features or {}).items())
    return whole if len(whole) <= MOST_SHOWN else whole[: MOST_SHOWN - 1] + "…"
