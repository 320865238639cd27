"""The id of rows that do not wait for a label."""

from collections.abc import Sequence
from contextlib import suppress
from secrets import token_hex

import msgspec

from manyclass.cli.request_lines import Body
from manyclass.cli.run_summary import counted
from manyclass.client.client import Client
from manyclass.client.errors import ClientError
from manyclass.client.types import Rankings
from manyclass.training.lines import Line
from manyclass.training.tables.source import Row


class RowId:
    """Gives rows the same id: of those, the newest waits for a label alone.

    `hides` all rows, or only rows without an id, whose result goes into a `table`.
    """

    def __init__(self, hides: bool, table: bool) -> None:
        self._id = f"manyclass-rank-{token_hex(8)}"
        self._raw = msgspec.Raw(msgspec.json.encode(self._id))
        self._hides = hides
        self._table = table
        self._is_used = False
        self.waiting = 0  # ranked instances with ids of their own

    def given(self, line: Line, instance: Body) -> Body:
        """Return the instance of a line, with the id if it is a row of a table without its own."""
        if self._hides or not self._table or not isinstance(line, Row) or "id" in instance:
            return instance
        return {**instance, "id": self._raw}

    def hidden(self, instances: Sequence[Body]) -> Sequence[Body]:
        """Return instances as they are sent; the service refuses an id that is not a string."""
        if not self._hides:
            return instances
        return [
            {**each, "id": self._raw} if _own_id(each) is not None else each for each in instances
        ]

    def shown(self, instances: Sequence[Body], answer: Rankings) -> Rankings:
        """Return the answer with the ids of the instances; empty ones if they have none."""
        waiting = sum(each.id != self._id for each in answer.results)
        self.waiting += waiting
        self._is_used |= waiting < len(answer.results)
        if not self._hides:
            return answer
        results = [
            msgspec.structs.replace(result, id=_own_id(each) or "")
            for each, result in zip(instances, answer.results, strict=True)
        ]
        return msgspec.structs.replace(answer, results=tuple(results))

    def free(self, client: Client) -> None:
        """Rank an instance without features in place of the last row; Review leaves it out.

        If the service does not answer, the row waits for a label; the results stay.
        """
        if self._is_used:
            with suppress(ClientError):
                client.rank({"text": "", "id": self._id})

    def note(self, abstained: int) -> str:
        """Return how rows that wait are found, labelled and left out; empty if none waits.

        `abstained` of all rows were not answered.
        """
        if not self.waiting:
            return ""
        waiting = f"{counted(self.waiting, 'row')} wait{'s' if self.waiting == 1 else ''}"
        found = "`manyclass review` lists the least certain"
        if abstained:
            found += ", with --abstained those not answered"
        return (
            f"{waiting} for a label: {found}; `manyclass learn` takes labels, as lines such as"
            ' {"id": "…", "classes": ["…"]} or as a table with --ranked-id-column; --no-review'
            " leaves rows out"
        )


def _own_id(instance: Body) -> str | None:
    """Return the id of an instance, empty without one; None if it is not a string."""
    found = msgspec.json.decode(instance["id"]) if "id" in instance else None
    return "" if found is None else found if isinstance(found, str) else None
