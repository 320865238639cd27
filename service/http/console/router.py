"""GET /console: the pages, as files that the wheel has, and the samples that they teach.

The browser checks each file again by its ETag, so that a new release shows at once.
"""

from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import PurePosixPath
from typing import Final, NamedTuple

from fastapi import APIRouter, Request
from fastapi.responses import Response

from manyclass.service.http.problems import Problem

router = APIRouter(include_in_schema=False)

HOME: Final = "index.html"
SAMPLES: Final = ("banking77.jsonl.gz", "persuasion.txt.gz")
MEDIA_TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".gz": "application/gzip",
}
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


class ConsoleFile(NamedTuple):
    """A file as it is answered."""

    content: bytes
    media_type: str
    etag: str


@cache
def console_files() -> dict[str, ConsoleFile]:
    """Return every file of the console by its path below /console/."""
    static = files("manyclass.service.http.console") / "static"
    samples = files("manyclass.service.samples")
    found = dict(_below(static))
    return found | {f"samples/{name}": _file(samples / name) for name in SAMPLES}


def _below(folder: Traversable, prefix: str = "") -> list[tuple[str, ConsoleFile]]:
    found: list[tuple[str, ConsoleFile]] = []
    for each in folder.iterdir():
        if each.is_dir():
            found += _below(each, f"{prefix}{each.name}/")
        elif PurePosixPath(each.name).suffix in MEDIA_TYPES:
            found.append((prefix + each.name, _file(each)))
    return found


def _file(source: Traversable) -> ConsoleFile:
    content = source.read_bytes()
    media_type = MEDIA_TYPES[PurePosixPath(source.name).suffix]
    return ConsoleFile(content, media_type, f'"{sha256(content).hexdigest()[:32]}"')


def _answer(name: str, request: Request) -> Response:
    file = console_files().get(name)
    if file is None:
        raise Problem(404, f"The console has no file {name[:100]!r}.")
    headers = {**HEADERS, "ETag": file.etag}
    if file.etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(file.content, media_type=file.media_type, headers=headers)


@router.get("/console")
async def console(request: Request) -> Response:
    """Return the page, which shows all others."""
    return _answer(HOME, request)


@router.get("/console/{name:path}")
async def console_file(name: str, request: Request) -> Response:
    """Return a file of the page."""
    return _answer(name, request)
