"""The bounds of a request's head, and the problems of a head that breaks them."""

import httptools

from manyclass.service.http.problems import Problem, problem_of

MOST_HEAD_BYTES = 65_536  # of URL and headers
MOST_HEADERS = 100


def parser_problem(error: httptools.HttpParserError) -> Problem:
    """Return the problem raised in a callback of the parser, or that the request is not HTTP."""
    cause = error.__context__
    if isinstance(cause, Problem | MemoryError):
        return problem_of(cause)
    return Problem(400, "Invalid HTTP request received.")


def head_too_large() -> Problem:
    """Return the problem of a head that is too large."""
    return Problem(431, f"A URL and headers have at most {MOST_HEAD_BYTES} bytes together.")


def too_many_headers() -> Problem:
    """Return the problem of a head with too many headers."""
    return Problem(431, f"A request has at most {MOST_HEADERS} headers.")
