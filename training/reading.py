"""Reads files into rows; each line is checked as the service checks an event."""

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from manyclass.core.errors import InstanceError
from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.text import DEFAULT_TEXT, TextAnalysis
from manyclass.training.formats import format_of, jsonl, reader_of
from manyclass.training.formats.given import Given, Rejected
from manyclass.training.lines import Source
from manyclass.training.recognition import stopping
from manyclass.training.rows import Rows
from manyclass.training.tables.source import TableSource


@dataclass(slots=True)
class Account:
    """Counts of the lines read so far."""

    instances: int = 0
    rejected: int = 0
    values_left_out: int = 0  # 0 or less: an instance holds only values above 0


def read(
    sources: Sequence[Source],
    format: str | None = None,
    rejected: Callable[[Rejected], None] = lambda line: None,
    moved: Callable[[Account], None] = lambda account: None,
    text: TextAnalysis = DEFAULT_TEXT,
    accepted: Callable[[Given], None] = lambda given: None,
) -> tuple[Rows, Account]:
    """Read the labelled instances of the files, in order; `text` makes features of their texts.

    Without `format`, the name of each file determines its format. `rejected` is called with each
    rejected line, `accepted` with the instance of each row, in order, and `moved` after each line.
    A source of a table is a TableSource. Raises FormatUnknown before reading, and FileFault, also
    if the first lines of a file are rejected.
    """
    account = Account()
    readers = [
        jsonl.read
        if isinstance(source, TableSource)
        else reader_of(format or format_of(source.file))
        for source in sources
    ]
    given = (
        each
        for source, read in zip(sources, readers, strict=True)
        for each in stopping(source, read(iter(source)))
    )
    weights = array("f")
    rows = Rows.of(_checked(given, text, weights, account, rejected, moved, accepted))
    if any(weight != 1 for weight in weights):
        rows = replace(rows, weights=np.array(weights, np.float32))
    return rows, account


def _checked(
    given: Iterable[Given | Rejected],
    text: TextAnalysis,
    weights: "array[float]",
    account: Account,
    rejected: Callable[[Rejected], None],
    moved: Callable[[Account], None],
    accepted: Callable[[Given], None],
) -> Iterator[tuple[Mapping[str, float], list[str]]]:
    for each in given:
        checked = _event(each, text) if isinstance(each, Given) else each
        if isinstance(checked, Rejected):
            account.rejected += checked.line.lines
            rejected(checked)
        else:
            account.instances += 1
            weights.append(checked.weight)
            if isinstance(each, Given):
                accepted(each)
                if isinstance(each.features, Mapping):
                    account.values_left_out += len(each.features) - len(checked.instance)
            yield dict(checked.instance.items()), checked.classes
        moved(account)


def _event(given: Given, text: TextAnalysis) -> Event | Rejected:
    """Return the event that the service would learn from the line."""
    features = given.features
    try:
        if isinstance(features, str):
            instance = text.instance_of(features).instance
        else:
            instance = Instance(features)
        return Event.learn(instance, given.classes, weight=given.weight)
    except InstanceError as error:
        return Rejected(given.line, str(error))
