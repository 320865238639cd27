"""A learner: an index, or a committee of indexes. Both have the same methods."""

from manyclass.core.index import Index
from manyclass.core.learners.committee import Committee
from manyclass.core.learners.options import Options
from manyclass.core.sections import Sections
from manyclass.core.taxonomy import Taxonomy

# The same calls in the same order make the same state, byte for byte. Any number of threads may
# rank at once; one at a time may change. Index documents each method.
Learner = Index | Committee


def make(options: Options, hash_seed: int = 0, taxonomy: Taxonomy | None = None) -> Learner:
    """Return an empty learner of classes in this taxonomy, or in one of its own.

    `hash_seed` salts its tables of names, not its state.
    """
    learner = (Committee if options.members else Index)(options, hash_seed, taxonomy)
    learner.place_all()
    return learner


def load(
    options: Options, sections: Sections, hash_seed: int = 0, taxonomy: Taxonomy | None = None
) -> Learner:
    """Return the learner that was dumped; SnapshotError when the arrays do not make one."""
    if options.members:
        return Committee.load(options, sections, hash_seed, taxonomy)
    return Index.load(options, sections, hash_seed, taxonomy)
