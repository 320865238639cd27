"""Votes of a committee, counted by each rule."""

from tests.core.references.voting import count

SPORT = [("sport", 4.0), ("news", 3.0), ("art", 1.0)]
NEWS = [("news", 1.0), ("art", 0.5)]
LEARNED = {"sport": 5, "news": 90, "art": 40}


def test_first_places_decide_a_majority_and_shares_what_is_left():
    ranked = count([SPORT, NEWS, NEWS], "majority", LEARNED.__getitem__)
    assert ranked == [
        ("news", 2 + (0.75 + 1 + 1) / 3),
        ("sport", 1 + 1 / 3),
        ("art", (0.25 + 0.5 + 0.5) / 3),
    ]


def test_the_rarest_of_the_first_places_comes_first_and_the_rest_as_by_majority():
    ranked = count([NEWS, SPORT, NEWS], "rarest", LEARNED.__getitem__)
    assert [name for name, _ in ranked] == ["sport", "news", "art"]
    assert ranked[0] == ("sport", 3 + 1 / 3)
    unanimous = count([NEWS, NEWS], "rarest", LEARNED.__getitem__)
    assert unanimous == [("news", 2 + 1), ("art", 0.5)]


def test_of_equally_rare_classes_the_one_with_more_votes_comes_first():
    ranked = count([SPORT, NEWS, NEWS], "rarest", lambda _: 7)
    assert ranked[0][0] == "news"


def test_the_sum_of_shares_heeds_a_second_place():
    rankings = [[("x", 1.0), ("y", 0.9)], [("x", 1.0), ("y", 0.9)], [("y", 5.0), ("z", 1.0)]]
    assert count(rankings, "majority", len)[0][0] == "x"
    assert count(rankings, "score", len) == [
        ("y", (0.9 + 0.9 + 1) / 3),
        ("x", 2 / 3),
        ("z", 0.2 / 3),
    ]


def test_negative_scores_are_shares_of_the_way_up_from_the_lowest():
    assert count([[("x", 1.0), ("y", 0.0), ("z", -1.0)]], "score", len) == [
        ("x", 1.0),
        ("y", 0.5),
        ("z", 0.0),
    ]
    assert count([[("x", -2.0)], []], "score", len) == [("x", 0.5)]


def test_equal_scores_stand_as_the_first_member_has_them():
    equal = [[("b", 1.0), ("a", 1.0)], [("c", 1.0), ("a", 1.0), ("b", 1.0)]]
    assert [name for name, _ in count(equal, "score", len)] == ["b", "a", "c"]
