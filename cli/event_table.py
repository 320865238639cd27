"""The events of a history as the rows of a table."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

import msgspec

from manyclass.client.types import TaughtEvent
from manyclass.training.vectors import checked, packed

EVENT_COLUMNS: Final = (  # as the members of an event, but `event_id` for its key
    *("event_id", "time", "text", "classes", "not", "source", "reviewer", "batch"),
    *("weight", "rank_before", "features", "vector"),
)
SEPARATOR: Final = "; "  # of classes


def cells_of_event(event: TaughtEvent) -> Sequence[str]:
    """Return the cells of an event, in the order of EVENT_COLUMNS; a structure is JSON, and a
    vector is base64 of float32, which the cell of a workbook always holds.
    """
    time = "" if event.time is None else str(datetime.fromtimestamp(int(event.time), UTC))[:19]
    text = event.text if isinstance(event.text, str) else _json(event.text)
    return (
        event.key,
        time,
        text,
        SEPARATOR.join(event.classes),
        SEPARATOR.join(event.rejected),
        event.source or "",
        event.reviewer or "",
        event.batch or "",
        f"{event.weight:g}",
        "" if event.rank_before is None else str(event.rank_before),
        _json(event.features),
        "" if event.vector is None else packed(checked(event.vector)),
    )


def _json(value: object) -> str:
    return "" if value is None else msgspec.json.encode(value).decode()
