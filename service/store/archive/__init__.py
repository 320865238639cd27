"""Archives of named objects: one interface, in a folder or in S3, chosen by a URL."""

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from manyclass.service.store.archive.archive import Archive
from manyclass.service.store.archive.folder import FolderArchive
from manyclass.service.store.errors import StoreError
from manyclass.service.store.home import expanded

_FORMS = "write file:///PATH, s3://BUCKET or s3://BUCKET/PREFIX"
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9]")
_PREFIX = re.compile(r"(?:[A-Za-z0-9_=-][A-Za-z0-9._=-]*(?:/(?!$)|$))*")


def open_archive(url: str) -> Archive:
    """Open the archive of a URL: `file:///PATH`, or `s3://BUCKET/PREFIX` with or without a prefix.

    Make a missing folder; connect to S3 at the first call only. Raises StoreError for another URL,
    a folder that cannot be written, and settings of S3 that cannot be used.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        raise _refused("...") from None
    place = unquote(parts.path)
    if parts.query or parts.fragment or "\0" in place:
        raise _refused(f"{parts.scheme}://...")
    if parts.scheme == "file" and (at_home := _at_home(parts.netloc, place)):
        return FolderArchive(at_home)
    if parts.scheme == "file" and not parts.netloc and place.strip("/"):
        return FolderArchive(Path("/", place.lstrip("/")))
    if parts.scheme != "s3":
        raise _refused(f"{parts.scheme}://...")
    prefix = place.removeprefix("/").removesuffix("/")
    if not _BUCKET.fullmatch(parts.netloc) or not _PREFIX.fullmatch(prefix):
        # Perhaps with a password: not to be shown.
        raise StoreError(
            "the URL s3://... of the archive does not name a bucket and a prefix",
            f"{_FORMS}; credentials are in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
        )
    try:
        from manyclass.service.store.archive.s3 import S3Archive  # needs the extra
    except ImportError as error:
        raise StoreError(
            f"the archive {url} needs the package obstore", 'pip install "manyclass[s3]"'
        ) from error
    return S3Archive(parts.netloc, prefix)


def _at_home(host: str, place: str) -> Path | None:
    """Return the path of file:~/PATH, file://~/PATH or file:///~/PATH; None of another form."""
    named = place.removeprefix("/") if place.startswith("/~/") else host + place
    if not named.startswith("~"):
        return None
    try:
        return expanded(named)
    except ValueError as error:
        raise StoreError(f"the archive in {named!r} cannot be found", str(error)) from error


def _refused(shown: str) -> StoreError:
    return StoreError(f"{shown!r} is not an archive", _FORMS)
