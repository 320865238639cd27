"""Cohen's κ against values computed by hand, and the share of instances that is chosen."""

import pytest

from manyclass.service.ingest.second_labels import LabelPair, agreement, is_chosen


def pairs(*labels):
    return [LabelPair("anna", tuple(a.split()), "ben", tuple(b.split()), 0.0) for a, b in labels]


@pytest.mark.parametrize(
    ("labels", "equal", "kappa"),
    [
        # 35 of 50 equal; by chance .5 · .6 + .5 · .4 = .5; κ = (.7 - .5) / (1 - .5)
        ([("y", "y")] * 20 + [("y", "n")] * 5 + [("n", "y")] * 10 + [("n", "n")] * 15, 35, 0.4),
        # 2 of 6 equal, just as by chance: (2 · 3 + 2 · 1 + 2 · 2) / 36 = 1/3
        (
            [("a", "a"), ("a", "b"), ("b", "a"), ("b", "c"), ("c", "c"), ("c", "a")],
            2,
            0.0,
        ),
        ([("a", "a"), ("b", "b")], 2, 1.0),
        ([("a", "b"), ("b", "a")], 0, -1.0),
        ([("a b", "b a"), ("a", "a")], 2, 1.0),  # classes in any order
        ([("a b", "a"), ("a", "a b")], 0, -1.0),  # all classes of a label are one category
        ([("a", "a"), ("a", "a")], 2, None),  # nothing but a: chance is 1
        ([], 0, None),
    ],
)
def test_the_agreement_of_two_reviewers(labels, equal, kappa):
    found = agreement(pairs(*labels))
    assert (found.pairs, found.equal) == (len(labels), equal)
    assert found.kappa == (None if kappa is None else pytest.approx(kappa))


@pytest.mark.parametrize("percent", [0, 5, 10, 100])
def test_a_share_is_chosen_by_the_id(percent):
    ids = [f"q-{number}" for number in range(10_000)]
    chosen = [each for each in ids if is_chosen(each, percent)]
    assert len(chosen) == pytest.approx(100 * percent, abs=150 if 0 < percent < 100 else 0)
    assert all(is_chosen(each, 100) for each in chosen)
    assert set(chosen) <= {each for each in ids if is_chosen(each, min(100, percent + 5))}
