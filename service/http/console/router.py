"""GET /console: the pages, as files that the wheel has, and the samples that they teach.

The browser checks each file again by its ETag, so that a new release shows at once.
"""

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import PurePosixPath
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import Response

from manyclass.service.http.documents import MEDIA_TYPES, Document, document_of
from manyclass.service.http.problems import Problem

router = APIRouter(include_in_schema=False)

HOME: Final = "index.html"
SAMPLES: Final = ("banking77.jsonl.gz", "persuasion.txt.gz")
POLICY: Final = "; ".join(
    [
        "default-src 'self'",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
)
HEADERS: Final = {
    "Cache-Control": "no-cache",  # keep it, and ask before each use
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


@cache
def console_files() -> dict[str, Document]:
    """Return every file of the console by its path below /console/."""
    static = files("manyclass.service.http.console") / "static"
    samples = files("manyclass.service.samples")
    found = dict(_below(static))
    return found | {f"samples/{name}": _file(samples / name) for name in SAMPLES}


def _below(folder: Traversable, prefix: str = "") -> list[tuple[str, Document]]:
    found: list[tuple[str, Document]] = []
    for each in folder.iterdir():
        if each.is_dir():
            found += _below(each, f"{prefix}{each.name}/")
        elif PurePosixPath(each.name).suffix in MEDIA_TYPES:
            found.append((prefix + each.name, _file(each)))
    return found


def _file(source: Traversable) -> Document:
    return document_of(source.name, source.read_bytes())


def _answer(name: str, request: Request) -> Response:
    file = console_files().get(name)
    if file is None:
        raise Problem(404, f"The console has no file {name[:100]!r}.")
    return file.answer(request, HEADERS)


@router.get("/console")
async def console(request: Request) -> Response:
    """Return the page, which shows all others."""
    return _answer(HOME, request)


@router.get("/console/{name:path}")
async def console_file(name: str, request: Request) -> Response:
    """Return a file of the page."""
    return _answer(name, request)
