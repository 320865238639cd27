"""The vectors of rows, checked before they are sent."""

from manyclass.cli.request_lines import Body
from manyclass.training.lines import Line, LineFault
from manyclass.training.vectors import vector_of_json


class RowVectors:
    """Checks that all vectors have as many numbers as the first one."""

    def __init__(self) -> None:
        self._dimension = 0
        self._first = ""  # the location of the first one

    def checked(self, line: Line, body: Body) -> Body:
        """Return the request of a line, without a `vector` of null. Raise LineFault for a vector
        that no instance can have, or of another dimension than the first one.
        """
        if "vector" not in body:
            return body
        if bytes(body["vector"]) == b"null":
            return {name: value for name, value in body.items() if name != "vector"}
        dimension = len(vector_of_json(body["vector"]))
        if not self._dimension:
            self._dimension, self._first = dimension, line.location
        if dimension != self._dimension:
            raise LineFault(
                f"its vector has {dimension:,} numbers, but that of {self._first} has"
                f" {self._dimension:,}: all vectors of a service are of one model"
            )
        return body
