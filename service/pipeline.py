"""The parts of the engine that need a restored state, connected."""

import asyncio
import logging

from manyclass.core.errors import OptionError
from manyclass.core.event import Event
from manyclass.core.learners.options import Options
from manyclass.core.model_set import ModelSet
from manyclass.service.cluster import RETRY_SECONDS, Cluster, Replica, StateRestorer
from manyclass.service.config.learners import as_variables, limits_of
from manyclass.service.config.settings import SettingError, Settings
from manyclass.service.engine_stats import EngineStats, HistoryStats
from manyclass.service.errors import OptionsDiffer, with_hint
from manyclass.service.history.history import History
from manyclass.service.history.memory import check_available
from manyclass.service.history.rebuild import Rebuild
from manyclass.service.log.apply_loop import ApplyLoop
from manyclass.service.log.group_commit import GroupCommit, QueueLimits
from manyclass.service.log.hooks import Hooks
from manyclass.service.log.pause import Pause
from manyclass.service.log.snapshot_loader import SnapshotLoader
from manyclass.service.runtime import Runtime
from manyclass.service.snapshots.restore import Restore
from manyclass.service.snapshots.schedule import SnapshotSchedule
from manyclass.service.snapshots.state_copy import StateCopy
from manyclass.service.store.errors import StoreUnavailable

log = logging.getLogger(__name__)


class Pipeline:
    """The path of an event from its submission to the model, and the snapshots.

        group_commit ──► store.append ──► apply_loop ──► live model ──► schedule, restore
                              │               ▲
                              └── replica ────┘  (reads a shared log, mends a broken one)

    Each part knows only the parts before it in the constructor.
    """

    def __init__(
        self,
        settings: Settings,
        cluster: Cluster,
        restorer: StateRestorer,
        runtime: Runtime,
        hooks: Hooks,
        history: History | None,
    ) -> None:
        store, live = cluster.store, cluster.live
        loader = SnapshotLoader(store, runtime.hash_seed)
        self._settings = settings
        self._cluster = cluster
        self.history = history
        if history is not None:
            hooks = history.noting(hooks)
        self.apply_loop = ApplyLoop(live, loader, hooks)
        self.group_commit = GroupCommit(
            store,
            live,
            self.apply_loop,
            QueueLimits(
                settings.max_queue_events, settings.max_queue_bytes, settings.store_seconds
            ),
            None if history is None else runtime.wall_clock,
        )
        self.schedule = SnapshotSchedule(
            settings, cluster, self.apply_loop, loader, runtime.clock, history
        )
        self.rebuild = (
            None if history is None else Rebuild(history, self.apply_loop, self.schedule, runtime)
        )
        self.restore = Restore(live, self.group_commit, loader, self.schedule)
        self.state_copy = StateCopy(self.apply_loop)
        self._replica = Replica(
            cluster,
            restorer,
            self.apply_loop,
            self.group_commit,
            hooks.on_message,
            None if history is None else history.reload,
        )
        self._following = asyncio.create_task(self._replica.run())

    async def agree_on_learners(self) -> None:
        """Change the learners to those of the settings if `reconfigure` is set; otherwise raise
        OptionsDiffer if they differ.

        If the settings are as at the last start, the learners stay as calls have changed them
        since. The primary learner stays: MANYCLASS_LEARNER chooses it before the first learned
        event, and a promotion afterwards.
        """
        live = self._cluster.live
        stored, chosen = live.model.model_set, live.model.chosen
        if chosen is not None and self._agree(chosen):
            log.info(
                "the learners are %s, as calls have changed them since the settings chose %s",
                *(", ".join(each.labels) for each in (stored, chosen)),
            )
            return
        asked = self._settings.model_set(stored)
        model_set = live.model.agreed(asked)
        if model_set.primary is not asked.primary:
            log.warning(
                "the primary learner is %s, because it was promoted; the settings name %s",
                model_set.primary.specification,
                asked.primary.specification,
            )
        differences = stored.differences(model_set)
        if not differences and chosen is None:
            return
        if differences and not self._settings.reconfigure:
            raise OptionsDiffer(differences, as_variables(stored))
        agreed = False
        while not agreed:
            try:
                await self.group_commit.admit([Event.configure(model_set.to_dict())])
                agreed = True
            except StoreUnavailable as error:
                if self._cluster.shared is None or self._cluster.is_closed:
                    raise
                log.warning("the learners cannot be changed yet: %s", with_hint(error))
                await asyncio.sleep(RETRY_SECONDS)
        live.model.agreed(asked)  # check again: another process may have changed them before
        if differences:
            log.warning("the learners have changed (former, present): %s", differences)

    def _agree(self, chosen: ModelSet) -> bool:
        """Return whether the settings choose these learners."""
        try:
            return not chosen.differences(self._settings.model_set(chosen).after(chosen))
        except (OptionError, SettingError):
            return False

    async def add_shadow(self, learner: str, whole: bool = False) -> tuple[int, Options]:
        """Add a shadow that has learned nothing, unless it is there; return the seq of the event.

        With `whole`, rebuilds make it learn the whole history. Raises OptionError for the primary
        learner and for too many, MemoryShort.
        """
        model = self._cluster.live.model
        known = model.model_set.find(learner)
        if known == model.options:
            raise OptionError("learner", f"{known.specification!r} is the primary learner already")
        if known is None:
            check_available(self.bytes_to_add(learner), "another learner")
        elif not whole or known.specification in model.whole:
            return model.seq, known
        options = known or Options.parse(learner, **limits_of(model.options))
        change: dict[str, object] = {"added": options.to_dict()}
        if whole:
            change["whole"] = [options.specification]
        [result] = await self.group_commit.admit([Event.configure(change)])
        self._cluster.live.model.changed(change)  # check again: another may have come before
        return result.seq, options

    def bytes_to_add(self, learner: str) -> int:
        """Return about how much memory this learner will need; 0 if it is there already."""
        model = self._cluster.live.model
        return 0 if model.model_set.find(learner) else model.learner.resident_bytes

    async def remove_shadow(self, learner: str) -> tuple[int, str]:
        """Remove a shadow; return the seq of the event and the name. Raises UnknownName,
        OptionError.
        """
        label = self._cluster.live.model.model_set.find(learner)
        name = learner if label is None else label.specification
        [result] = await self.group_commit.admit([Event.configure({"removed": name})])
        return result.seq, name

    @property
    def pause(self) -> Pause | None:
        """The reason why learning is paused, None while events are learned."""
        return self._cluster.pause or self.group_commit.pause or self.apply_loop.pause

    def stats(self, queue_full: int) -> EngineStats:
        """Return the present counts; the engine passes its count of full queues."""
        cluster, group_commit, schedule = self._cluster, self.group_commit, self.schedule
        heartbeat = cluster.heartbeat
        last_seq = group_commit.appended if heartbeat is None else heartbeat.last_seq
        return EngineStats(
            queued_events=group_commit.events,
            queued_bytes=group_commit.bytes,
            log_lag=max(0, max(last_seq, group_commit.appended) - cluster.live.model.seq),
            commits=group_commit.commits,
            commit_seconds=group_commit.commit_seconds,
            failed_commits=group_commit.failed_commits,
            uncertain=group_commit.uncertain_commits,
            conflicts=group_commit.conflicts,
            queue_full=queue_full,
            snapshot_failures=schedule.failures,
            snapshot_seconds=schedule.seconds,
            snapshot_pause_seconds=schedule.pause_seconds,
            counts=cluster.live.counts(),
            is_leader=cluster.is_leader,
            processes=1 if heartbeat is None else len(heartbeat.processes),
            rewinds=self._replica.rewinds,
            store_full=cluster.is_full or group_commit.is_full,
            foreign_entries=0 if cluster.shared is None else cluster.shared.foreign_entries,
            store_unreachable_seconds=cluster.store_unreachable_seconds(),
            history=self._history_stats(),
        )

    def _history_stats(self) -> HistoryStats | None:
        history, rebuild = self.history, self.rebuild
        if history is None or rebuild is None:
            return None
        first_seq = history.reader.first_seq
        return HistoryStats(
            first_seq=first_seq,
            events=max(0, self._cluster.live.model.seq + 1 - first_seq),
            bytes=history.recorder.total_bytes,
            deleted_events=history.recorder.deleted_events,
            lost_events=history.recorder.lost_events,
            failures=history.failures,
            amendments=len(history.amendments),
            erasures=history.amendments.erasures,
            amendment_age_seconds=history.amendment_age,
            rebuild_failures=rebuild.failures,
            last_rebuild=rebuild.last,
        )

    async def discard(self) -> None:
        """End all threads of a pipeline that is not used."""
        await self.stop_following()
        await self._close()

    async def finish(self, take_last: bool) -> None:
        """Answer every submission and end all parts; a leader takes a last snapshot."""
        cluster, schedule = self._cluster, self.schedule
        await self._replica.finished()
        try:
            await self.group_commit.drain()
            if take_last and not cluster.is_leader and not cluster.is_unreachable:
                await cluster.poll()  # this process may lead since the leader has stopped
            if take_last and cluster.is_leader:
                try:
                    await schedule.take()
                except Exception:  # the error is logged already, and the log holds every event
                    log.warning("closing without a last snapshot: the next start replays more")
        finally:
            await self._close()

    async def _close(self) -> None:
        """End the threads that write."""
        try:
            await self.schedule.close()
        finally:
            await self.group_commit.close()

    async def stop_following(self) -> None:
        """End the thread that reads the log; it ends at once if the store is closed."""
        self._following.cancel()
        await asyncio.wait([self._following])
