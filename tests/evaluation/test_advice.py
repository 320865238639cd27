"""Advice on learners: honest figures, compared event by event, and only sure gains advised."""

import io
import json

import msgspec
import numpy as np
import pytest

from manyclass.core.learners.options import Options
from manyclass.core.text import DEFAULT_TEXT, TextAnalysis
from manyclass.evaluation import advising
from manyclass.evaluation.advice import (
    Advice,
    Candidate,
    Events,
    Gain,
    advise,
    candidates,
    compared,
    counted_of,
)
from manyclass.evaluation.learner_estimator import LearnerEstimator
from manyclass.evaluation.measures import by_ranks
from manyclass.evaluation.run import stream_through
from manyclass.evaluation.taxonomy import Taxonomy

TEXT = str(DEFAULT_TEXT)
WORDS = ["red", "green", "blue", "round", "square", "flat", "old", "new"]


def texts(count, seed=3):
    """Return texts of some words and their class, which the first word decides."""
    chosen = np.random.default_rng(seed).integers(0, len(WORDS), (count, 3))
    named = [[WORDS[at] for at in row] for row in chosen]
    return [" ".join(words) for words in named], [[f"c{WORDS.index(each[0])}"] for each in named]


def events(count):
    given, classes = texts(count)
    return Events(given, [{}] * count, classes)


def run(some, asked, end=1e9, clock=lambda: 0.0, taxonomy=None):
    return list(advise(some, asked, Options.parse, taxonomy, end, clock, lambda *_: None))


@pytest.mark.parametrize("learner", ["svm", "svm(replay=4)", "pa", "path"])
def test_the_figures_are_those_of_evaluate(learner):
    """`manyclass evaluate --progressive --no-shuffle` has the same R1 on the same events."""
    some = events(2_500)  # three parts
    taxonomy = Taxonomy({f"c{at}": [f"above{at % 2}"] for at in range(8)})
    [advice] = run(some, [Candidate(learner, TEXT)], taxonomy=taxonomy)
    rows = some.rows(DEFAULT_TEXT)
    outcome = stream_through(Options.parse(learner), rows, taxonomy=taxonomy)
    assert advice.all_r1 == outcome.stream.overall["R1"]
    assert advice.all_r5 == outcome.stream.overall["R5"]
    assert advice.bytes == outcome.stream.bytes


def test_the_newest_events_count():
    assert [counted_of(count) for count in (300, 1_000, 100_000)] == [100, 300, 10_000]
    some = events(400)
    [advice] = run(some, [Candidate("svm", TEXT)])
    rows = some.rows(DEFAULT_TEXT)
    ranks = LearnerEstimator(rows, Options.parse("svm")).learn(rows)
    assert advice.r1 == by_ranks(ranks[-120:])["R1"]
    assert advice.r5 == by_ranks(ranks[-120:])["R5"]


def test_the_candidates_are_the_present_one_then_the_others():
    primary = Options.parse("svm(best)")
    found = candidates(primary, TEXT, has_texts=True, has_taxonomy=True, more=["ff"])
    assert found[0] == Candidate(primary.specification, TEXT)
    learners = [each.learner for each in found]
    assert learners[1:3] == ["ff", "path"]
    assert learners.count(primary.specification) == 3  # with the two other analyses too
    assert {each.text for each in found} == {"words", "words+pairs", TEXT}
    bare = candidates(primary, TEXT, has_texts=False, has_taxonomy=False)
    assert {each.text for each in bare} == {TEXT}
    assert not any(each.learner.startswith("path") for each in bare)


def of_ranks(*counts):
    """Return ranks of pairs (rank, number of events)."""
    return np.concatenate([np.full(count, rank, np.int32) for rank, count in counts])


@pytest.mark.parametrize(
    ("better", "worse", "advised"),
    [(30, 0, True), (40, 10, True), (30, 25, False), (3, 0, False), (0, 30, False)],
)
def test_only_a_sure_gain_is_advised(better, worse, advised):
    same = 1000 - better - worse
    present = of_ranks((1, same), (2, better), (1, worse))
    ranks = of_ranks((1, same), (1, better), (2, worse))
    found = compared(Advice("a", TEXT), ranks, present)
    assert found.advised is advised
    assert found.worse is (better == 0)
    assert found.r1_gain.mean == pytest.approx((better - worse) / 1000)
    assert found.r1_gain.low <= found.r1_gain.mean <= found.r1_gain.high
    assert found.r5_gain == Gain(0, 0, 0)


def test_a_sure_gain_of_the_first_five_is_advised_unless_the_first_gets_worse():
    present = of_ranks((1, 500), (0, 500))
    better = of_ranks((1, 500), (5, 60), (0, 440))
    assert compared(Advice("a", TEXT), better, present).advised
    little_worse = of_ranks((2, 4), (1, 496), (5, 60), (0, 440))  # perhaps by chance
    assert compared(Advice("a", TEXT), little_worse, present).advised
    worse = of_ranks((2, 10), (1, 490), (5, 60), (0, 440))
    assert not compared(Advice("a", TEXT), worse, present).advised
    assert compared(Advice("a", TEXT), worse, present).worse
    assert compared(Advice("a", TEXT), present, better).worse


def test_another_analysis_of_texts_is_a_candidate():
    some = events(600)
    found = run(some, [Candidate("svm", TEXT), Candidate("svm", "words")])
    rows = some.rows(TextAnalysis.parse("words"))
    assert found[1].all_r1 == stream_through(Options.parse("svm"), rows).stream.overall["R1"]
    assert found[1].r1_gain is not None


def test_candidates_after_the_end_are_named():
    times = iter([0.0, 0.0, 5.0, 5.0, 5.0])
    found = run(events(300), [Candidate("svm", TEXT)] * 2, end=1.0, clock=lambda: next(times, 5.0))
    assert [each.failed for each in found] == ["", "there was no time left for it"]


def test_a_candidate_that_cannot_be_is_named():
    [_, wrong] = run(events(300), [Candidate("svm", TEXT), Candidate("nobody", TEXT)])
    assert "must be one of" in wrong.failed


def test_the_child_reads_events_newest_first_and_writes_progress_and_figures():
    given, classes = texts(400)
    question = {
        "primary": Options.parse("pa").to_dict(),
        "text": TEXT,
        "learners": ["ff"],
        "limits": {},
        "seconds": 100.0,
        "bytes": 1 << 40,
    }
    lines = [{"text": text, "classes": names} for text, names in zip(given, classes, strict=True)]
    lines[0] = {"features": {"red": 1.0}, "classes": ["c0"], "parents": {"c0": "top", "top": ""}}
    body = b"\n".join(map(msgspec.json.encode, [question, *reversed(lines)]))
    out = io.BytesIO()
    advising.run(io.BytesIO(body), out)
    messages = [json.loads(line) for line in out.getvalue().splitlines()]
    found = [each["advice"] for each in messages if each["kind"] == "found"]
    assert [each["learner"] for each in found[:3]] == ["pa", "ff", "path"]
    progress = [each for each in messages if each["kind"] == "progress"]
    assert {each["of"] for each in progress} == {len(found)}
    assert progress[-1]["events"] == 400
    assert messages[-1]["kind"] == "verdict"
    [alone] = run(
        Events([None, *given[1:]], [{"red": 1.0}, *[{}] * 399], classes),
        [Candidate("pa", TEXT)],
    )
    assert found[0]["r1"] == alone.r1
