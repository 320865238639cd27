"""Figures of quality: by class, source and week, and the accuracy along the history."""

import pytest

from manyclass.core.calibration import Calibration
from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.service.history import learning_curve, quality
from manyclass.service.history.learning_curve import LearningCurve
from manyclass.service.history.quality import WEEK, Mixed, Quality
from manyclass.service.history.reader import Record
from manyclass.service.log.outcomes import NOT_RETRIEVED, UNKNOWN
from tests.service.engines import running, teach

NOW = 100 * WEEK


def record(outcome, name="x", features="a", weeks_ago=0, source=None, seq=1):
    """Return a record of an event with these classes, divided by blanks."""
    instance = Instance(dict.fromkeys(features.split(), 1.0))
    classes = name.split()
    event = Event.learn(instance, classes, source=source)
    time = NOW - weeks_ago * WEEK if weeks_ago is not None else 0
    return Record(seq, event, outcome, classes, [], None, False, time, False)


def counted(*records):
    found = Quality()
    for each in records:
        found.add(each)
    return found


def shares(ranks):
    return ranks.events, ranks.first, ranks.five


def test_ranks_are_counted_by_class_source_and_week():
    found = counted(
        record(1),
        record(5, source="ann"),
        record(6, name="y", weeks_ago=1),
        record(NOT_RETRIEVED, name="y", weeks_ago=2),
        record(1, weeks_ago=50),  # before all weeks
        record(1, weeks_ago=None),  # its time is not known
        record(UNKNOWN),
    )
    assert shares(found.all) == (6, 3, 4)
    assert {name: shares(each) for name, each in found.sources.items()} == {
        None: (5, 3, 3),
        "ann": (1, 0, 1),
    }
    assert [shares(week.ranks) for week in found.weeks] == [(2, 1, 2), (1, 0, 0), (1, 0, 0)]
    assert shares(found.by_class["x"][0]) == (4, 3, 4)
    assert shares(found.by_class["x"][1]) == (2, 1, 2)
    assert (found.newest, found.oldest) == (NOW, NOW - 50 * WEEK)


def test_an_event_counts_for_each_of_its_classes_in_all_and_once_for_both():
    found = counted(
        record(1, "x y"), record(3, "y x"), record(1, "y"), record(6, "y x", weeks_ago=1)
    )
    assert {name: shares(each) for name, (each, _) in found.by_class.items()} == {
        "x": (3, 1, 2),
        "y": (4, 2, 3),
    }
    assert [shares(found.by_class[name][1]) for name in "xy"] == [(2, 1, 2), (3, 2, 3)]
    assert shares(found.all) == (4, 2, 3)
    assert [week.classes for week in found.weeks] == [{"x": 2, "y": 3}, {"x": 1, "y": 1}]


def test_weeks_have_the_mean_confidence_of_their_events():
    calibration = Calibration()
    for _ in range(103):
        calibration.add(2.0, 1.0, True)
    found = counted(record(1), record(1), record(1, weeks_ago=2), record(1, weeks_ago=3))
    found.find_confidences(calibration)
    newest, nothing, older, not_kept = found.confidences
    assert 0.5 < newest <= 1
    assert 0.5 < older <= 1
    assert (nothing, not_kept) == (None, None)


def test_the_trend_of_a_class_needs_events_in_the_newest_week_and_before():
    found = counted(
        *[record(1)] * 3, record(2), *[record(2, weeks_ago=2)] * 3, record(1, weeks_ago=2)
    )
    assert found.trend("x", 4) == 0.5
    assert found.trend("x", 5) is None
    assert found.trend("y", 1) is None


def test_classes_are_compared_with_the_weeks_before():
    assert counted(record(1)).mix(5) is None
    found = counted(
        record(1, "x"), record(1, "y"), record(1, "x", weeks_ago=1), record(1, "z", weeks_ago=3)
    )
    assert found.mix(2) == (0.5, [Mixed("y", 0.5, 0.0), Mixed("z", 0.0, 0.5)])


@pytest.mark.parametrize("learner", ["svm", "ff", "oplt"])
def test_a_feature_is_unknown_if_it_was_seen_since_only(monkeypatch, learner):
    monkeypatch.setattr(quality, "ONE_FEATURE_OF", 1)
    words = ["old", "old young", "young", "young newest", "newest old"]  # a week each
    records = [record(1, features=each, weeks_ago=4 - at) for at, each in enumerate(words)]
    model = Model(Options.parse(learner))
    for seq, each in enumerate(records, start=1):
        model.apply(seq, each.event)
    found = counted(*reversed(records))
    assert found.look_up(model.learner, lambda: True)
    # the newest week first
    assert found.unknown == [0.0, 0.5, 0.0, 0.5, 1.0]
    fewer = counted(*reversed(records[2:]))  # earlier events count too
    assert fewer.look_up(model.learner, lambda: True)
    assert fewer.unknown == [0.0, 0.5, 0.0]


async def test_the_curve_has_the_ranks_of_the_whole_history(monkeypatch):
    monkeypatch.setattr(learning_curve, "BLOCK_EVENTS", 4)
    async with running() as (engine, _):
        history, curve = engine.history, LearningCurve()

        def read():
            found = curve.read(history, engine.model.seq, lambda: True)
            return [(each.last_seq, each.events, each.first) for each in found]

        assert read() == []
        await teach(engine, *["a -> x"] * 6)  # the first one is not retrieved
        await engine.submit([Event.promote("svm")])
        wrong = Event.learn(Instance({"a": 1.0}), [], rejected=["y"])
        await engine.submit([wrong])  # it has no true class
        assert read() == [(4, 4, 3), (6, 2, 2)]
        taken = await engine.take_snapshot()
        await teach(engine, "b -> y", "a -> x")
        assert read() == [(4, 4, 3), (6, 2, 2), (10, 2, 1)]
        monkeypatch.setattr(learning_curve, "MOST_POINTS", 2)
        assert read() == [(6, 6, 5), (10, 2, 1)]
        await engine.restore(taken.seq)
        assert read() == [(4, 4, 3), (6, 2, 2)]  # the undone events count no longer
