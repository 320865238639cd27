"""Makes learners."""

from manyclass.core.learner import Learner
from manyclass.core.learners.options import Options
from manyclass.core.sections import Sections
from manyclass.core.taxonomy import Taxonomy


def make(options: Options, hash_seed: int = 0, taxonomy: Taxonomy | None = None) -> Learner:
    """Return an empty learner of classes in this taxonomy, or in one of its own.

    `hash_seed` salts its tables of names, not its state.
    """
    learner = Learner(options, hash_seed, taxonomy)
    learner.place_all()
    return learner


def load(
    options: Options, sections: Sections, hash_seed: int = 0, taxonomy: Taxonomy | None = None
) -> Learner:
    """Return the learner that was dumped; SnapshotError when the arrays do not make one."""
    return Learner.load(options, sections, hash_seed, taxonomy)
