"""The native interface of a learner, used by one that no header of core/native names."""

from tests.core.test_limits import run


def test_a_learner_brings_its_option_and_its_section(tmp_path):
    assert run(tmp_path, "toy_learner.cpp") == "kept\n"
