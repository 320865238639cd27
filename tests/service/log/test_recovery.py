"""Recovery: the newest usable snapshot and every event after it, or a clear refusal."""

import itertools
import logging

import pytest

from manyclass.core import rules
from manyclass.core.event import Event
from manyclass.core.learners.options import Options
from manyclass.core.model_set import ModelSet
from manyclass.service.errors import OptionsDiffer, RecoveryError
from manyclass.service.log import recovery as recovery_module
from manyclass.service.log.recovery import Recovery, recover
from manyclass.service.log.snapshot_loader import load_snapshot
from manyclass.service.store.errors import SnapshotDamaged, SnapshotMissing
from tests.service.faulty import Clock, FaultyStore, learn

OPTIONS = Options()
LESSONS = [learn(f"f{n % 5} g{n % 7}", f"c{n % 3}", f"id {n}") for n in range(30)]


class Life:
    """A store together with the final model of its writing processes."""

    def __init__(self, options=OPTIONS):
        self.store = FaultyStore()
        self.model = recover(self.store, options, Clock(), Recovery())

    def learn(self, *events):
        self.store.append([bytes(event) for event in events])
        for event in events:
            self.model.apply(self.model.seq + 1, event)

    def learn_to(self, *numbers):
        """Learn the events up to each number, and take a snapshot there."""
        learned = self.model.learner.learned
        for number in numbers:
            self.learn(*LESSONS[learned:number])
            self.snapshot()
            learned = number

    def snapshot(self):
        self.store.save_snapshot(self.model.seq, self.model.dump())

    def restore(self, seq):
        mark = self.store.append([bytes(Event.restore(seq))])
        self.model = load_snapshot(self.store, seq, 0)
        self.model.restored(mark, seq)

    def recovered(self, options=OPTIONS):
        """Return the recovered model, which equals the final one, and the Recovery."""
        recovery = Recovery()
        model = recover(self.store, options, Clock(), recovery)
        assert model.digest() == self.model.digest()
        return model, recovery

    def refused(self):
        with pytest.raises(RecoveryError) as caught:
            self.recovered()
        assert caught.value.hint
        return str(caught.value)


@pytest.fixture
def life():
    return Life()


def test_a_new_store_gets_a_snapshot_of_the_options():
    store = FaultyStore()
    recovery = Recovery()
    model = recover(store, Options(rating=3), Clock(), recovery)
    assert (model.seq, recovery.snapshot.seq, recovery.replayed) == (0, 0, 0)
    assert load_snapshot(store, 0, 0).options == Options(rating=3)


def test_an_empty_store_is_recovered_with_the_options_it_began_with():
    life = Life(Options(rating=3))
    assert life.recovered()[0].options == Options(rating=3)


def test_replays_every_event_after_the_snapshot(life):
    life.learn_to(10)
    life.learn(*LESSONS[10:])
    _, recovery = life.recovered()
    assert (recovery.snapshot.seq, recovery.replayed, recovery.last_seq) == (10, 20, 30)
    assert recovery.refused == {}


def test_a_snapshot_at_the_end_needs_no_event(life):
    life.learn_to(30)
    life.store.trim(30)
    model, recovery = life.recovered()
    assert (model.seq, recovery.replayed) == (30, 0)


def test_a_damaged_snapshot_is_refused_and_the_one_before_it_used(life, caplog):
    life.learn_to(10, 20)
    life.learn(*LESSONS[20:])
    life.store.damage_snapshot(20)
    _, recovery = life.recovered()
    assert (recovery.snapshot.seq, recovery.replayed) == (10, 20)
    assert "damaged" in recovery.refused[20]
    assert any("snapshot 20 is refused" in record.message for record in caplog.records)


def test_a_snapshot_of_another_state_is_refused(life):
    life.learn_to(2)
    life.learn(LESSONS[2])
    life.store.save_snapshot(3, life.store.open_snapshot(2))
    with pytest.raises(SnapshotDamaged, match="has the state at event 2"):
        load_snapshot(life.store, 3, 0)
    _, recovery = life.recovered()
    assert list(recovery.refused) == [3]


def test_a_missing_snapshot_is_said_to_be_missing(life):
    with pytest.raises(SnapshotMissing):
        load_snapshot(life.store, 7, 0)


def test_without_a_usable_snapshot_the_whole_log_is_replayed(life, caplog):
    life.learn_to(10)
    life.learn(*LESSONS[10:])
    life.store.damage_snapshot(0)
    life.store.damage_snapshot(10)
    _, recovery = life.recovered()
    assert recovery.snapshot is None
    assert list(recovery.refused) == [10, 0]
    assert any("whole log" in record.message for record in caplog.records)


def test_a_log_that_raised_the_rules_is_not_replayed_from_its_begin(life, monkeypatch):
    life.learn(*LESSONS[:5])
    newer = rules.RULES + 1
    monkeypatch.setattr(rules, "RULES", newer)
    life.learn(Event.use_rules(newer), *LESSONS[5:7])
    life.store.delete_snapshot(0)
    refusal = life.refused()
    assert "version 1 of the rules" in refusal
    assert "start one process of the older release" in refusal


def test_a_log_is_not_replayed_with_unnamed_learners(life):
    life.learn(*LESSONS[:5])
    life.store.delete_snapshot(0)
    with pytest.raises(
        RecoveryError, match="set MANYCLASS_LEARNER, MANYCLASS_SHADOWS and MANYCLASS_TEXT"
    ):
        recover(life.store, OPTIONS, Clock(), Recovery(), named=False)


def test_the_learners_of_a_new_store_need_no_name():
    store = FaultyStore()
    assert recover(store, OPTIONS, Clock(), Recovery(), named=False).options == OPTIONS
    assert recover(store, OPTIONS, Clock(), Recovery(), named=False).options == OPTIONS


@pytest.mark.parametrize(
    "change",
    [Event.promote("pa"), Event.configure(ModelSet(Options.of("pa"), (OPTIONS,)).to_dict())],
)
def test_a_log_of_other_learners_is_not_replayed_with_these(change):
    life = Life(ModelSet(OPTIONS, (Options.of("pa"),)))
    life.learn(*LESSONS[:5], Event.promote("pa"), change)
    assert life.recovered()[0].model_set.labels == ["pa", "ff"]
    life.store.delete_snapshot(0)
    assert "event 6 contradicts the learners of the settings" in life.refused()
    life.recovered(ModelSet(OPTIONS, (Options.of("pa"),)))


def test_a_log_is_replayed_behind_a_mark_with_the_learners_of_its_snapshot():
    life = Life(ModelSet(OPTIONS, (Options.of("pa"),)))
    life.learn_to(5)
    life.restore(5)
    life.learn(Event.promote("pa"))
    life.store.delete_snapshot(0)
    assert life.recovered()[0].model_set.labels == ["pa", "ff"]


def test_a_damaged_snapshot_of_nothing_is_made_again(life):
    life.store.damage_snapshot(0)
    _, recovery = life.recovered()
    assert list(recovery.refused) == [0]
    assert recovery.snapshot.seq == 0
    _, recovery = life.recovered()
    assert recovery.refused == {}


def test_refuses_when_the_log_does_not_reach_back_to_a_usable_snapshot(life):
    life.learn_to(10)
    life.store.trim(10)
    life.learn(*LESSONS[10:])
    life.store.damage_snapshot(10)
    life.store.delete_snapshot(0)
    assert "10 refused" in life.refused()


def test_refuses_a_log_with_a_hole(life):
    life.learn(*LESSONS)
    life.store.lose_event(17)
    assert "event 17" in life.refused()


def test_refuses_a_log_with_a_damaged_event(life):
    life.learn(*LESSONS)
    life.store.damage_event(17)
    assert "the log cannot be replayed" in life.refused()


def test_refuses_a_log_that_ends_too_early(life):
    class Forgetful(FaultyStore):
        last_seq = 31

    life.learn(*LESSONS)
    life.store.__class__ = Forgetful
    assert "ends at event 30, but event 31 was acknowledged" in life.refused()


def test_damage_before_the_snapshot_does_not_matter(life):
    life.learn_to(20)
    life.learn(*LESSONS[20:])
    life.store.damage_event(3)
    life.recovered()


# --- restore marks --------------------------------------------------------------------------------


def test_a_mark_brings_the_state_of_its_snapshot_back(life):
    life.learn_to(10)
    life.learn(*LESSONS[10:20])
    life.restore(10)
    life.learn(*LESSONS[20:])
    model, recovery = life.recovered()
    assert model.restores == [(21, 10)]
    assert recovery.replayed == 21


def test_marks_are_found_from_an_older_snapshot_too(life):
    life.learn_to(5, 10)
    life.restore(5)
    life.learn(*LESSONS[10:20])
    life.snapshot()
    life.learn(*LESSONS[20:])
    life.store.damage_snapshot(21)
    _, recovery = life.recovered()
    assert recovery.snapshot.seq == 10


def test_refuses_a_mark_whose_snapshot_is_gone(life):
    life.learn_to(10)
    life.learn(*LESSONS[10:20])
    life.restore(10)
    life.learn(*LESSONS[20:])
    life.store.delete_snapshot(10)
    assert "event 21 restored snapshot 10" in life.refused()


def test_only_the_last_mark_needs_its_snapshot(life):
    life.learn_to(5, 10)
    life.restore(5)
    life.learn(*LESSONS[10:15])
    life.restore(10)
    life.learn(*LESSONS[15:])
    life.store.delete_snapshot(5)
    _, recovery = life.recovered()
    assert recovery.snapshot.seq == 10


# --- progress -------------------------------------------------------------------------------------


def test_says_how_far_it_is(life, caplog, monkeypatch):
    monkeypatch.setattr(recovery_module, "CHECK_EVENTS", 10)
    life.learn(*LESSONS)
    clock = itertools.count(0, recovery_module.LOG_SECONDS / 2)  # each second check logs
    caplog.set_level(logging.INFO)
    recover(life.store, OPTIONS, lambda: next(clock), Recovery())
    assert [
        record.message for record in caplog.records if record.message.startswith("replaying")
    ] == ["replaying event 20 of 30"]


def test_can_be_given_up(life, monkeypatch):
    monkeypatch.setattr(recovery_module, "CHECK_EVENTS", 10)
    life.learn(*LESSONS)
    recovery = Recovery(given_up=True)
    with pytest.raises(RecoveryError, match="stopped"):
        recover(life.store, OPTIONS, Clock(), recovery)
    assert recovery.replayed == 10


def test_the_time_it_took_is_kept(life):
    times = iter([5.0, 5.0, 12.5])
    recovery = Recovery()
    recover(life.store, OPTIONS, lambda: next(times), recovery)
    assert recovery.seconds == 7.5


def test_differing_options_are_listed():
    error = OptionsDiffer(Options().differences(Options(rating=3, leak=False)), "LEARNER=ff")
    assert error.differences == {"rating": (10, 3), "leak": (True, False)}
    assert "rating is 10 in the store and 3 in the settings" in str(error)
    assert "start with LEARNER=ff and no other limits, or with --reconfigure" in str(error)
