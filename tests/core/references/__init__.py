"""Slow and plain reference implementations of the learners, equal to the learner bit by bit.

They are written from docs/learners.md, one module a learner, in dictionaries and lists.
"""

from tests.core.references.arow import Confidence
from tests.core.references.ema import MovingAverage
from tests.core.references.ff import FeatureFocus
from tests.core.references.frequency import Frequency
from tests.core.references.ind import Independent
from tests.core.references.mmp import Perceptron
from tests.core.references.ooz import Slack
from tests.core.references.pa import PassiveAggressive
from tests.core.references.paths import Hieron, PathVectorMachine
from tests.core.references.svm import VectorMachine
from tests.core.references.tree import LabelTree

REFERENCES = {
    "ff": FeatureFocus,
    "ind": Independent,
    "ema": MovingAverage,
    "ooz": Slack,
    "pa": PassiveAggressive,
    "mmp": Perceptron,
    "arow": Confidence,
    "svm": VectorMachine,
    "path": PathVectorMachine,
    "hieron": Hieron,
    "iplt": LabelTree,
    "oplt": LabelTree,
    "frequency": Frequency,
}


def reference_of(options):
    """Return an untrained reference implementation of the learner with these options."""
    return REFERENCES[options.learner](options)
