"""The restore of a snapshot while the service runs."""

import logging

from manyclass.core.errors import OptionError
from manyclass.core.event import Event
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.core.model_set import ModelSet, continues
from manyclass.service.log.group_commit import GroupCommit
from manyclass.service.log.live_model import LiveModel
from manyclass.service.log.snapshot_loader import SnapshotLoader
from manyclass.service.snapshots.schedule import SnapshotSchedule

log = logging.getLogger(__name__)


class Restore:
    """The part that restores snapshots, by a mark in the log.

        load the snapshot ──► append the mark ──► the apply loop replaces the model ──► snapshot

    The model in use ranks and learns during the load, until the mark is durable. A process that
    stops before has changed nothing; one that stops after finds the mark in recovery and finishes
    the restore, as every other process does.
    """

    def __init__(
        self,
        live: LiveModel,
        group_commit: GroupCommit,
        loader: SnapshotLoader,
        schedule: SnapshotSchedule,
    ) -> None:
        self._live = live
        self._group_commit = group_commit
        self._loader = loader
        self._schedule = schedule

    async def to(self, seq: int) -> int:
        """Restore snapshot `seq`; return the number of the last event that does so.

        The present learners stay. The primary learner stays primary if the snapshot has a state of
        it; otherwise a learner in the snapshot becomes primary. If the snapshot has none of the
        present learners, its own primary learner is added and becomes primary.

        Raises OptionError for too many learners, SnapshotMissing, SnapshotDamaged or
        StoreUnavailable without any change (except CommitOutcomeUnknown). Raises NotReady if
        applying the mark failed.
        """
        async with self._schedule.exclusive() as take:
            model = await self._loader.load(seq)
            events = [Event.restore(seq), *learner_changes(self._live.model, model)]
            with self._loader.keep_ready(seq, model):
                results = await self._group_commit.admit(events)
            last = results[-1].seq
            try:
                await take()
            except Exception:  # the error is logged already, and the log holds the mark
                log.warning("event %d has no snapshot until the next one is taken", last)
            return last


def learner_changes(present: Model, restored: Model) -> list[Event]:
    """Return the events that change the learners of a restored state to the present ones.

    They form one request with the mark before them.
    """
    in_force = present.model_set
    model_sets = [restored.model_set]
    changes: list[Event] = []

    answered = restored.model_set.primary
    heir = _heir(in_force, restored.model_set)
    chosen = present.chosen or (in_force if heir is None else None)
    of_settings = {} if chosen is None else {"chosen": chosen.to_dict()}

    def configure(model_set: ModelSet) -> None:
        differs = bool(model_sets[-1].differences(model_set))
        if differs or (len(model_sets) == 1 and restored.chosen != chosen):
            changes.append(Event.configure({**model_set.to_dict(), **of_settings}))
        model_sets.append(model_set)

    if heir is not None:
        configure(in_force.promoted(heir.specification))
    else:
        configure(_beside(answered, in_force))
    known = _known(in_force, model_sets[1], restored)
    answering = known[0] if known and (heir is None or known[0] == in_force.primary) else heir
    if answering is None:
        log.warning(
            "the restored state has none of the present learners, so %s is added as the primary"
            " learner; the others begin empty",
            answered.specification,
        )
    elif answering != model_sets[1].primary:
        changes.append(Event.promote(answering.specification))
        model_sets.append(model_sets[1].promoted(answering.specification))
        if heir is None:
            configure(in_force.promoted(answering.specification))
    return [event.join() for event in changes]


def _heir(in_force: ModelSet, restored: ModelSet) -> Options | None:
    """Return the present learner that continues the primary learner of the restored state."""
    answered = restored.primary
    found = in_force.find(answered.specification)
    if found is not None:
        return found
    others = (each for each in in_force.learners if restored.find(each.specification) is None)
    return next((each for each in others if continues(each, answered)), None)


def _beside(answered: Options, in_force: ModelSet) -> ModelSet:
    """Return the present learners and the restored primary one. Raises OptionError for too many."""
    try:
        return ModelSet(answered, in_force.learners)
    except OptionError as error:
        raise OptionError(
            error.option,
            f"the primary learner of the snapshot, {answered.specification!r}, is not among the"
            f" present learners and cannot be added: {error}",
        ) from error


def _known(in_force: ModelSet, model_set: ModelSet, restored: Model) -> list[Options]:
    """Return the present learners that continue a learner of the restored state, primary first.

    All learners continue a state in which nothing was learned.
    """
    origins = dict(zip(model_set.labels, model_set.origins(restored.model_set), strict=True))
    return [
        each
        for each in in_force.learners
        if not restored.has_learned or origins[each.specification] is not None
    ]
