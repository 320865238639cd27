import numpy as np
import pytest

from manyclass.core.learners.options import Options
from manyclass.evaluation.learner_estimator import LearnerEstimator
from manyclass.evaluation.taxonomy import Taxonomy
from manyclass.training.rows import Rows
from tests.evaluation.examples import CLASSES, separable


def names(rows, ranking):
    return [[rows.classes[at] for at in row if at >= 0] for row in ranking.tolist()]


def test_learned_rows_rank_their_class_first():
    rows = separable()
    learner = LearnerEstimator(rows, Options())
    learner.fit(rows)

    ranking = learner.rank(rows, 5)

    assert ranking.dtype == np.int32
    assert ranking.shape == (80, 5)
    assert ranking[:, 0].tolist() == rows.class_indices.tolist()
    assert (ranking[:, CLASSES:] == -1).all()


def test_columns_that_were_never_learned_are_never_ranked():
    rows = Rows.of([({"a": 1.0}, ["one"]), ({"b": 1.0}, ["two"]), ({"a": 1.0}, ["three"])])
    learner = LearnerEstimator(rows, Options(rating=0))
    learner.learn(rows.take(np.array([2])))

    assert names(rows, learner.rank(rows, 3)) == [["three"], [], ["three"]]


def test_a_learner_that_knows_nothing_ranks_nothing():
    rows = separable()

    assert (LearnerEstimator(rows, Options()).rank(rows, 3) == -1).all()


def test_the_first_pass_keeps_the_order_of_the_rows():
    rows = Rows.of([({"a": 1.0}, ["one"]), ({"a": 1.0}, ["two"]), ({"a": 1.0}, ["one"])])

    ranks = LearnerEstimator(rows, Options(rating=0)).learn(rows)

    assert ranks.tolist()[:2] == [0, 0]
    assert ranks[2] > 0


def test_later_passes_do_not_count_a_feature_as_seen_again():
    rows = Rows.of([({"a": 1.0}, ["one"])])
    learner = LearnerEstimator(rows, Options(), passes=3)
    learner.fit(rows)

    assert learner.passes_done == 3
    assert learner.learner.feature("a")["times_seen"] == 1


@pytest.mark.parametrize(("shuffle", "equal"), [(True, False), (False, True)])
def test_later_passes_are_shuffled_unless_they_must_not_be(shuffle, equal):
    rows = separable(40)
    seen = []

    class Recorder:
        def learn_csr(self, *arguments, top_two):
            seen.append(arguments[2].tolist())

    learner = LearnerEstimator(rows, Options(), shuffle=shuffle)
    learner.learner = Recorder()
    for learner.passes_done in range(3):
        learner.learn(rows)

    assert (seen[0] == seen[1]) is equal
    assert (seen[1] == seen[2]) is equal
    assert seen[0] == rows.indices.tolist()


def test_bytes_are_those_of_the_state():
    rows = separable()
    learner = LearnerEstimator(rows, Options())
    empty = learner.bytes()
    learner.fit(rows)

    assert learner.bytes() > empty
    assert learner.bytes() == sum(each.nbytes for each in learner.learner.dump().values())


@pytest.mark.parametrize("specification", ["iplt(tree=complete)", "committee(members=iplt)"])
def test_a_tree_builds_offline_for_a_training_and_not_for_a_stream(specification):
    options = Options.parse(specification)
    rows = Rows.of([({f"f{n}": 1.0}, [f"c{n:02}"]) for n in range(40)])
    trained, streamed = LearnerEstimator(rows, options), LearnerEstimator(rows, options)
    trained.fit(rows)
    streamed.learn(rows)

    planted = trained.learner.rank({}, 40)
    assert trained.learner.learned == streamed.learner.learned == 40
    assert planted != streamed.learner.rank({}, 40)


def test_rankings_are_decoded_by_fitted_losses():
    taxonomy = Taxonomy({"near": ["group"], "nearer": ["group"], "far": ["other"]})
    both = [({"a": 1.0}, ["near"]), ({"a": 1.0}, ["nearer"]), ({"a": 1.0}, ["far"])]
    rows = Rows.of(both * 30)
    learner, other = LearnerEstimator(rows, Options()), LearnerEstimator(rows, Options())
    for each in (learner, other):
        each.use(taxonomy)
    losses = other.fit_losses(rows)
    learner.learn(rows)
    assert other.learner.dump().keys() == learner.learner.dump().keys()
    assert (other.rank(rows, 3) == learner.rank(rows, 3)).all()
    decoded = learner.decode(rows, losses)
    assert names(rows, decoded)[0][2] == "far"
    assert losses.dump()
