"""The lock of the state: exclusion, and progress of both sides. In C++, without an interpreter."""

import pytest

from tests.core.test_limits import run


@pytest.mark.parametrize("flags", [(), ("-fsanitize=thread",)], ids=["plain", "checked for races"])
def test_readers_and_writers_exclude_each_other_and_both_go_on(tmp_path, flags):
    assert run(tmp_path, "reader_slots.cpp", "-pthread", *flags) == "kept\n"
