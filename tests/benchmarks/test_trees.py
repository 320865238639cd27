import numpy as np
import pytest

from benchmarks import trees
from benchmarks.trees import (
    LEARNERS,
    TREES,
    efficiency,
    on_final_tree,
    ranks_alike,
    speeds,
    synthetic,
    taught,
    untrained,
)
from manyclass.core.learners.options import Options


@pytest.fixture(scope="module")
def rows():
    return synthetic(60)


def test_synthetic_instances_have_features_of_their_class_and_others(rows):
    assert len(rows) == 600
    assert len(np.unique(rows.class_indices)) == 60
    features = rows.indices.reshape(-1, 5)
    assert (features[:, :2] // 3 == rows.class_indices[:, None]).all()
    assert (features[:, 2:] >= 180).all()


@pytest.mark.parametrize("specification", TREES)
def test_a_grown_tree_and_one_of_its_final_shape_rank_alike(rows, specification):
    grown, _ = taught(rows, Options.parse(specification))

    fixed, _ = on_final_tree(rows, grown)

    assert ranks_alike(grown, fixed, rows)
    kinds = fixed.learner.dump()["node_kinds"]
    assert {*kinds.tolist()} == {0, 3}
    assert len(kinds) == len(grown.learner.dump()["node_kinds"]) > 4
    assert fixed.learner.bytes <= grown.learner.bytes


def test_trees_that_learned_other_rows_do_not_rank_alike(rows):
    grown, _ = taught(rows, Options.parse("oplt"))
    other, _ = on_final_tree(rows.shuffled(1), grown)

    assert not ranks_alike(grown, other, rows)


def test_an_untrained_state_has_the_shape_and_no_weights(rows):
    grown, _ = taught(rows, Options.parse("oplt"))
    state = grown.learner.dump()

    emptied = untrained(state)

    assert emptied["children_ids"].tolist() == state["children_ids"].tolist()
    assert len(emptied["tree_weights"]) == 0
    assert len(state["tree_weights"]) > 0
    assert emptied["counts"][0] == 0


def test_a_row_has_ratios_of_time_and_memory(rows):
    row = efficiency("made", rows, Options.parse("oplt(retrieval_window=1,arity=100)"))

    assert (row["stream"], row["policy"], row["instances"], row["classes"]) == (
        "made",
        "greedy",
        600,
        60,
    )
    assert row["memory ratio"] == pytest.approx(row["grown MB"] / row["fixed MB"])
    assert row["memory ratio"] > 1
    assert row["rank alike"] == "yes"


def test_learners_are_timed_and_missing_peers_are_named(rows, monkeypatch):
    def missing(seed):
        raise trees.PeerMissing("napkinxc", "no module")

    monkeypatch.setattr(trees, "PEERS", {"napkinxc-oplt": missing})

    found, said = speeds(rows, rows, LEARNERS[:2], ["napkinxc-oplt"])

    assert [row["learner"] for row in found] == ["oplt", "oplt(policy=random)"]
    assert all({"learn µs", "rank µs", "MB"} <= row.keys() for row in found)
    assert said[0].startswith("napkinxc-oplt needs the package napkinxc")
