"""The learners again, slow and plain: what manyclass.core.index.Index must answer, bit by bit.

They are written from docs/learners.md, one module a learner, in dictionaries and lists.
"""

from tests.core.twins.arow import Confidence
from tests.core.twins.ema import MovingAverage
from tests.core.twins.ff import FeatureFocus
from tests.core.twins.frequency import Frequency
from tests.core.twins.ind import Independent
from tests.core.twins.mmp import Perceptron
from tests.core.twins.ooz import Slack
from tests.core.twins.pa import PassiveAggressive
from tests.core.twins.svm import VectorMachine
from tests.core.twins.tree import LabelTree

TWINS = {
    "ff": FeatureFocus,
    "ind": Independent,
    "ema": MovingAverage,
    "ooz": Slack,
    "pa": PassiveAggressive,
    "mmp": Perceptron,
    "arow": Confidence,
    "svm": VectorMachine,
    "iplt": LabelTree,
    "oplt": LabelTree,
    "frequency": Frequency,
}


def twin_of(options):
    """The twin of the index with these options; it knows nothing yet."""
    return TWINS[options.learner](options)
