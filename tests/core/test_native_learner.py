"""The native interface of a learner, used by one that no header of core/native names."""

from pathlib import Path

from tests.core.test_limits import run

TOY = Path(__file__).parent / "learners" / "toy" / "core" / "native"


def test_a_learner_brings_its_option_and_its_sections(tmp_path):
    assert run(tmp_path, "toy_learner.cpp", f"-I{TOY}") == "kept\n"
