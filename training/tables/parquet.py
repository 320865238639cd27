"""Parquet, by arro3-io of the extra [tables]: batch by batch, in bounded memory."""

from collections.abc import Iterator
from os import SEEK_END
from pathlib import Path
from typing import Final

from manyclass.training.tables.record import Record, TableError, cell_of

MAGIC: Final = b"PAR1"  # at both ends of a file
LEAST_BYTES = 12  # both magics, and the length of what is between them
BATCH_ROWS = 1024


def records(file: Path) -> Iterator[Record]:
    """Yield the names of the columns, then the rows, from number 1 on; OSError, TableError."""
    try:
        from arro3.io import read_parquet
    except ImportError as error:
        raise TableError(
            "reading .parquet needs another package: pip install 'manyclass[tables]'"
        ) from error
    with file.open("rb") as opened:
        begin = opened.read(LEAST_BYTES)
        opened.seek(-len(begin), SEEK_END)
        if len(begin) < LEAST_BYTES or {begin[:4], opened.read()[-4:]} != {MAGIC}:
            raise TableError("it is not a whole Parquet file")
    try:
        batches = read_parquet(file, batch_size=BATCH_ROWS)
        yield Record(0, batches.schema.names)
        number = 0
        for batch in batches:
            columns = [batch.column(at).to_pylist() for at in range(batch.num_columns)]
            for row in zip(*columns, strict=True):
                number += 1
                yield Record(number, [cell_of(value) for value in row])
    except (GeneratorExit, KeyboardInterrupt, OSError):
        raise
    except BaseException as error:  # the reader panics, in Rust, where a file is damaged
        raise TableError(f"the Parquet file is damaged: {error}") from error
