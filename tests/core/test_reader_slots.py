"""The lock of the state, and what it guards: exclusion, and progress of both sides.

In C++, without an interpreter.
"""

import pytest

from tests.core.test_limits import run

FLAGS = {"plain": (), "checked for races": ("-fsanitize=thread",)}


@pytest.mark.parametrize("flags", FLAGS.values(), ids=FLAGS)
def test_readers_and_writers_exclude_each_other_and_both_go_on(tmp_path, flags):
    assert run(tmp_path, "reader_slots.cpp", "-pthread", *flags) == "kept\n"


@pytest.mark.parametrize("flags", FLAGS.values(), ids=FLAGS)
def test_others_read_until_a_change_begins(tmp_path, flags):
    assert run(tmp_path, "state_lock.cpp", "-pthread", *flags) == "kept\n"


@pytest.mark.parametrize("flags", FLAGS.values(), ids=FLAGS)
def test_a_calibration_is_read_while_it_learns(tmp_path, flags):
    assert run(tmp_path, "calibration.cpp", "-pthread", *flags) == "kept\n"
