"""Creates learners."""

from manyclass.core.evidence import Evidence
from manyclass.core.learner import Learner
from manyclass.core.learners.options import Options
from manyclass.core.taxonomy import Taxonomy


def make(
    options: Options,
    hash_seed: int = 0,
    taxonomy: Taxonomy | None = None,
    evidence: Evidence | None = None,
) -> Learner:
    """Return an empty learner over the classes of this taxonomy, or of an empty one of its own.

    `hash_seed` salts the tables of names and has no effect on the state. With the `evidence` of a
    model, it ranks by that too.
    """
    learner = Learner(options, hash_seed, taxonomy, evidence)
    learner.place_all()
    return learner
