"""The id of the rows of a table that have none, so that they do not wait for a label."""

from contextlib import suppress
from secrets import token_hex

import msgspec

from manyclass.cli.request_lines import Body
from manyclass.client.client import Client
from manyclass.client.errors import ClientError
from manyclass.training.lines import Line
from manyclass.training.tables.source import Row


class RowId:
    """Gives all rows without an id the same one: of those, the newest waits for a label alone."""

    def __init__(self) -> None:
        self._id = f"manyclass-rank-{token_hex(8)}"
        self._raw = msgspec.Raw(msgspec.json.encode(self._id))
        self._is_used = False

    def given(self, line: Line, instance: Body) -> Body:
        """Return the instance of a line, with the id if it is a row without its own."""
        if not isinstance(line, Row) or "id" in instance:
            return instance
        self._is_used = True
        return {**instance, "id": self._raw}

    def free(self, client: Client) -> None:
        """Rank an instance without features in place of the last row; Review leaves it out.

        If the service does not answer, the row waits for a label; the results stay.
        """
        if self._is_used:
            with suppress(ClientError):
                client.rank({"text": "", "id": self._id})
