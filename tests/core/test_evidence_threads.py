"""Vectors and descriptions: rankings beside a thread that changes them. In C++."""

import pytest

from tests.core.test_limits import run

FLAGS = {
    "plain": (),
    "checked for races": ("-fsanitize=thread",),
    "checked for addresses and numbers": ("-fsanitize=address,undefined", "-D_GLIBCXX_ASSERTIONS"),
}


@pytest.mark.parametrize("flags", FLAGS.values(), ids=FLAGS)
def test_rankings_see_whole_weights_and_the_sums_are_exact(tmp_path, flags):
    assert run(tmp_path, "evidence.cpp", "-pthread", *flags) == "kept\n"
