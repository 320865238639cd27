"""The verdict of the advice: one sentence that names the best candidate, or says that none is."""

from msgspec.structs import replace

from manyclass.evaluation.advice import Advice, Gain
from manyclass.evaluation.verdict import verdict

PRESENT = Advice("svm", "words", r1=0.5, r5=0.7, learn_seconds=1e-5, rank_seconds=1e-6, bytes=1_000)


def candidate(learner, r1, r5, advised=False, text="words"):
    gains = [Gain(mean, mean - 0.01, mean + 0.01) for mean in (r1, r5)]
    return Advice(
        *(learner, text, 0.5 + r1, 0.7 + r5, 0.5, 0.7, *gains),
        **{"learn_seconds": 2e-5, "rank_seconds": 1e-6, "bytes": 1_500, "advised": advised},
    )


def test_the_best_is_named_with_its_gains_and_its_cost():
    advice = [PRESENT, candidate("ff", -0.1, 0), candidate("path", 0.06, 0.18, advised=True)]
    found = verdict(advice)
    assert found.best == 2
    assert found.sentence == (
        "`path` is better than `svm`, in use: +6.0 points [+5.0, +7.0] R1,"
        " +18.0 points [+17.0, +19.0] R5; it learns in 2.0 times the time, ranks in 1.0,"
        " and needs 1.5 times the bytes."
    )


def test_the_best_has_most_of_both_gains_and_the_one_with_more_of_the_first_is_named():
    advice = [
        *(PRESENT, candidate("wide", 0.005, 0.024, advised=True)),
        *(candidate("first", 0.009, 0.013, advised=True), candidate("none", 0.5, 0.5)),
    ]
    found = verdict(advice)
    assert found.best == 1
    assert "`first` has more R1: +0.9 points" in found.sentence
    assert "Also better" not in found.sentence
    others = [candidate(f"c{at}", 0.004, 0.004, advised=True) for at in range(5)]
    assert verdict([*advice, *others]).sentence.endswith(
        "Also better than what is in use: `c0`, `c1`, `c2`, and 2 more."
    )
    assert "more R1" not in verdict(advice[:2]).sentence


def test_of_equal_gains_the_cheaper_is_the_best():
    slow, fast = candidate("slow", 0.0101, 0.01, advised=True), candidate("fast", 0.01, 0.01)
    fast = replace(fast, advised=True, learn_seconds=1e-5)
    assert verdict([PRESENT, slow, fast]).best == 2


def test_if_none_is_better_the_nearest_is_named():
    advice = [PRESENT, candidate("ff", -0.1, 0), candidate("svm", 0.001, 0, text="words+pairs")]
    found = verdict([*advice, Advice("path", "words", failed="it needs more memory")])
    assert found.best is None
    assert found.sentence.startswith("Nothing tried is better than `svm`, in use, by more than its")
    assert "the nearest is `svm` with words+pairs: +0.1 points [-0.9, +1.1] R1" in found.sentence
    assert found.sentence.endswith("1 candidate has no figures.")


def test_without_figures_nothing_is_claimed():
    failed = Advice("svm", "words", failed="there was no time left for it")
    found = verdict([failed, failed])
    assert found.best is None
    assert found.sentence == "`svm`, in use, has no figures: there was no time left for it."
    assert "nothing else was compared" in verdict([PRESENT, failed]).sentence
