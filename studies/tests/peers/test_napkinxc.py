import pytest

from studies.peers.napkinxc import growing


@pytest.mark.parametrize(
    ("policy", "tree"), [("greedy", "onlineBestScore"), ("random", "onlineRandom")]
)
def test_a_growing_tree_sees_each_instance_once_and_goes_by_its_policy(policy, tree):
    options = growing(policy, 16, 8)

    assert (options["model"], options["tree_type"]) == ("oplt", tree)
    assert (options["arity"], options["max_leaves"], options["epochs"]) == (16, 8, 1)


def test_a_growing_tree_has_the_shape_of_the_paper_unless_another_is_said():
    options = growing("greedy")

    assert (options["arity"], options["max_leaves"]) == (2, 100)


def test_there_are_two_policies():
    with pytest.raises(KeyError, match="best"):
        growing("best")
