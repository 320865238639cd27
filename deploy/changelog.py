"""The entries of CHANGELOG.md, in the form of Keep a Changelog."""

import re
from typing import NamedTuple

UNRELEASED = "Unreleased"
SECTIONS = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")
_ENTRY = re.compile(r"^## \[(?P<version>[^\]]+)\](?: - (?P<date>\d{4}-\d{2}-\d{2}))?$", re.M)


class Entry(NamedTuple):
    """The changes of a version; those of none yet have the version `Unreleased` and no date."""

    version: str
    date: str | None
    text: str


def entries(page: str) -> list[Entry]:
    """Return the entries of a changelog in their order, newest first."""
    found = [*_ENTRY.finditer(page)]
    ends = [each.start() for each in found[1:]] + [len(page)]
    return [
        Entry(each["version"], each["date"], page[each.end() : end].strip())
        for each, end in zip(found, ends, strict=True)
    ]
