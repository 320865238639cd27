"""CHANGELOG.md has the form of Keep a Changelog, and an entry that is read in two minutes."""

import re
import tomllib
from datetime import date

from packaging.version import Version

from deploy.changelog import SECTIONS, UNRELEASED, entries
from tests.docs.blocks import ROOT

PAGE = (ROOT / "CHANGELOG.md").read_text()
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
WORDS_IN_TWO_MINUTES = 500


def test_unreleased_changes_come_first_and_versions_follow_newest_first():
    first, *released = entries(PAGE)
    assert (first.version, first.date) == (UNRELEASED, None)
    order = [(Version(each.version), date.fromisoformat(each.date)) for each in released]
    assert order == sorted(order, reverse=True)
    assert PAGE.count("\n## ") == len(released) + 1


def test_the_version_of_the_package_has_the_newest_entry():
    assert entries(PAGE)[1].version == VERSION


def test_sections_have_the_names_of_the_form():
    assert {*re.findall(r"^### (.*)$", PAGE, re.MULTILINE)} <= {*SECTIONS}


def test_each_entry_is_read_in_two_minutes():
    for entry in entries(PAGE):
        assert len(entry.text.split()) <= WORDS_IN_TWO_MINUTES, entry.version


def test_entries_are_found_with_their_dates_and_texts():
    page = "# C\n\n## [Unreleased]\n\n## [2.0.0] - 2026-01-02\n\nNew.\n\n## [1.0.0] - 2026-01-01\n"
    assert entries(page) == [
        ("Unreleased", None, ""),
        ("2.0.0", "2026-01-02", "New."),
        ("1.0.0", "2026-01-01", ""),
    ]
