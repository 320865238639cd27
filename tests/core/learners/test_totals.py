"""The work of a committee is that of its members together."""

from manyclass.core.learners.learner import make
from manyclass.core.learners.options import Options


def test_each_member_counts_the_known_features_that_it_ranks_by():
    committee = make(Options.parse("committee(members=pa+svm)"))
    for name, true in [("b", "x"), ("c", "y")] * 5:
        committee.learn(["a", name], [true])
    before = committee.active_features_ranked
    committee.rank(["a", "b", "unknown"], 5)
    assert committee.active_features_ranked == before + 2 * 2
