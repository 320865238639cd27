"""Reads files into rows. Lines are checked as events, but have no largest number of features."""

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from manyclass.core.errors import InstanceError
from manyclass.core.event import Event
from manyclass.core.event_parts import class_names
from manyclass.core.instance import Instance
from manyclass.core.text import DEFAULT_TEXT, TextAnalysis
from manyclass.training.formats import format_of, reader_of
from manyclass.training.formats.given import Given, Rejected
from manyclass.training.lines import Source
from manyclass.training.recognition import stopping
from manyclass.training.rows import Rows
from manyclass.training.tables.source import TableSource, rows_given


@dataclass(slots=True)
class Account:
    """Counts of the lines read so far."""

    instances: int = 0
    rejected: int = 0
    values_left_out: int = 0  # 0: an instance holds other values only
    values_below_0: int = 0  # absent to learners without signs
    cut_texts: int = 0  # with words longer than a name may be, which are left out
    first_cut: str = ""  # the location of the first of them
    vectors_left_out: int = 0  # only a service learns vectors


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
        rows_given
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
) -> Iterator[tuple[Instance, list[str]]]:
    for each in given:
        checked = _labelled(each, text, account) if isinstance(each, Given) else each
        if isinstance(checked, Rejected):
            account.rejected += checked.line.lines
            rejected(checked)
        elif isinstance(each, Given):
            account.instances += 1
            account.vectors_left_out += each.has_vector
            weights.append(each.weight)
            accepted(each)
            yield checked
        moved(account)


def _labelled(
    given: Given, text: TextAnalysis, account: Account
) -> tuple[Instance, list[str]] | Rejected:
    """Return the instance and the classes that the service would learn from the line."""
    try:
        long_words = 0
        if given.text is None:
            instance = Instance(given.features)
        else:
            read = text.instance_of(given.text)
            instance, long_words = read.instance, read.long_words
        classes = class_names(given.classes)
        if not classes or given.weight != 1:  # else nothing is left to refuse
            Event.learn(instance, classes, weight=given.weight)
    except InstanceError as error:
        return Rejected(given.line, str(error))
    if long_words:
        account.first_cut = account.first_cut or given.line.location
        account.cut_texts += 1
    if given.text is None:
        _count_values(given, instance, account)
    return instance, classes


def _count_values(given: Given, instance: Instance, account: Account) -> None:
    if isinstance(given.features, Mapping):
        account.values_left_out += len(given.features) - len(instance)
    if instance.is_signed:
        account.values_below_0 += sum(value < 0 for _, value in instance.items())
