"""Versions of the rules: events and states that a release applies, loads and refuses."""

import pytest

from manyclass.core import rules, snapshot
from manyclass.core.errors import EventError, RulesDiffer, SnapshotError
from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.learners.options import Options
from manyclass.core.model import Model


def learn(name="c"):
    return Event.learn(Instance({"f": 1}), [name])


def model_under(version, monkeypatch):
    """Return a model made by a release with this version of the rules."""
    monkeypatch.setattr(rules, "RULES", version)
    model = Model(Options())
    model.apply(1, learn())
    return model


def test_the_event_reads_back():
    event = Event.from_bytes(bytes(Event.use_rules(7)))
    assert (event.kind, event.rules) == ("rules", 7)
    assert event.join().rules == 7
    assert learn().rules == 0


@pytest.mark.parametrize("kind", [14, 28, 31])
def test_an_event_of_an_unknown_kind_is_refused(kind):
    with pytest.raises(EventError, match="kind"):
        Event.from_bytes(bytes([kind]) + bytes(Event.use_rules(7))[1:])


def test_a_state_of_older_rules_is_read(monkeypatch):
    model = model_under(1, monkeypatch)
    monkeypatch.setattr(rules, "RULES", 2)
    assert Model.load(model.dump()).rules == 1


@pytest.mark.parametrize("version", [0, -1, 1.0, True, "1", None])
def test_a_version_that_cannot_be_is_refused(version):
    facts, arrays = snapshot.read(Model(Options()).dump())
    with pytest.raises(SnapshotError, match="rules in the header"):
        Model.load(snapshot.write(facts | {"rules": version}, arrays))


def test_a_state_without_a_version_is_refused():
    facts, arrays = snapshot.read(Model(Options()).dump())
    del facts["rules"]
    with pytest.raises(SnapshotError, match="must have seq, restores, rules"):
        Model.load(snapshot.write(facts, arrays))


def test_the_version_is_part_of_the_state(monkeypatch):
    model = model_under(3, monkeypatch)
    loaded = Model.load(model.dump())
    assert loaded.rules == 3
    assert loaded.digest() == model.digest()


def test_a_state_of_newer_rules_is_refused(monkeypatch):
    dumped = model_under(3, monkeypatch).dump()
    monkeypatch.setattr(rules, "RULES", 2)
    with pytest.raises(RulesDiffer, match="version 3") as error:
        Model.load(dumped)
    assert error.value.is_newer


def test_events_of_older_rules_are_not_applied_before_the_version_is_raised(monkeypatch):
    model = model_under(1, monkeypatch)
    monkeypatch.setattr(rules, "RULES", 2)
    before = model.digest()
    with pytest.raises(RulesDiffer) as error:
        model.apply(2, learn())
    assert not error.value.is_newer
    assert (model.seq, model.digest()) == (1, before)
    model.apply(2, Event.use_rules(2))
    model.apply(3, learn())
    assert (model.seq, model.rules) == (3, 2)


def test_events_of_newer_rules_are_not_applied(monkeypatch):
    model = model_under(1, monkeypatch)
    before = model.digest()
    with pytest.raises(RulesDiffer) as error:
        model.apply(2, Event.use_rules(2))
    assert error.value.is_newer
    assert (model.seq, model.digest()) == (1, before)


def test_a_version_that_is_raised_twice_changes_nothing_more(monkeypatch):
    model = model_under(2, monkeypatch)
    model.apply(2, Event.use_rules(2))
    model.apply(3, Event.use_rules(1))
    assert model.rules == 2


def test_going_back_to_a_snapshot_keeps_the_rules_in_force(monkeypatch):
    old = Model.load(model_under(1, monkeypatch).dump())
    old.restored(5, 1, 2)
    assert old.rules == 2
