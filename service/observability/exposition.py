"""The metrics as text for a scrape: counts, connections, the engine and the process."""

from collections.abc import Callable, Iterator

from prometheus_client import CollectorRegistry, GCCollector, ProcessCollector
from prometheus_client.exposition import generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from manyclass.core.calibration import NEWEST_OUTCOMES
from manyclass.core.confidence_limits import least_limit
from manyclass.core.evidence import Evidence
from manyclass.core.model import Model
from manyclass.core.operating_points import TARGETS
from manyclass.core.recent_numbers import LONGEST_WINDOW
from manyclass.core.reliability import calibration_error
from manyclass.service.engine import Engine
from manyclass.service.engine_stats import EngineStats, HistoryStats
from manyclass.service.errors import NotReady
from manyclass.service.log.live_model import LearnerCounts
from manyclass.service.log.pause import REASONS
from manyclass.service.observability.catalogue import (
    LEAST_OUTCOMES,
    counter,
    counters,
    gauge,
    histogram,
    labelled,
    summary,
)
from manyclass.service.observability.connections import ConnectionLimits, ReviewFigures
from manyclass.service.observability.instruments import Histogram
from manyclass.service.observability.metrics import Metrics
from manyclass.service.token_bucket import TokenBucket

FRESH_SCRAPES = 20  # in quick succession; beyond them, one per second is computed
OUTDEGREES = (0, 1, 2, 5, 10, 15, 20, 25, 50, 100, 250, 500)


class LimitsCollector(Collector):
    """The collector of connections, of their bytes, and of refusals that limited the load."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self._limits = limits

    def collect(self) -> Iterator[Metric]:
        """Yield the limits and counts of connections."""
        counts = self._limits.counts()
        yield gauge("connections", counts.connections)
        yield gauge("connections_limit", counts.connections_limit)
        yield gauge("buffered_bytes", counts.buffered_bytes)
        yield gauge("buffered_limit_bytes", counts.buffered_limit_bytes)
        yield counters("shed_total", "reason", counts.shed)
        yield counter("bad_requests_total", counts.bad_requests)


class ReviewCollector(Collector):
    """The collector of the queue of instances that wait for review."""

    def __init__(self, queue: ReviewFigures) -> None:
        self._queue = queue

    def collect(self) -> Iterator[Metric]:
        """Yield the size of the queue, and whether the store takes it."""
        yield gauge("review_items", self._queue.items)
        yield gauge("review_bytes", self._queue.bytes)
        yield counter("review_failures_total", self._queue.failures)
        yield gauge("review_failing", self._queue.failing is not None)


class EngineCollector(Collector):
    """The collector of the engine's state."""

    def __init__(self, engine: Engine, metrics: Metrics, wall_clock: Callable[[], float]) -> None:
        self._engine = engine
        self._metrics = metrics
        self._wall_clock = wall_clock

    def collect(self) -> Iterator[Metric]:
        """Yield the state of the model, the log and the snapshots; nothing before recovery."""
        try:
            model = self._engine.model
        except NotReady:
            return
        stats = self._engine.stats()
        yield from self._learners(model)
        yield from self._primary_learner(model, stats.counts)
        yield from _evidence(model.evidence)
        yield from self._log(model, stats)
        yield from self._store(stats)
        yield from self._snapshots(stats)
        if stats.history is not None:
            yield from self._history(stats.history)

    def _learners(self, model: Model) -> Iterator[Metric]:
        labels = ["learner", "role"]
        memory = labelled(GaugeMetricFamily, "learner_memory_bytes", labels)
        for role, each in model.roles:
            memory.add_metric([each.label, role], each.learner.bytes)
            self._metrics.score(role, each.label)  # export the counter from the start
        yield memory
        weights = labelled(GaugeMetricFamily, "mixture_weight", [*labels, "part"])
        for role, each in model.roles:
            for part, weight in model.part_weights(each.learner).items():
                weights.add_metric([each.label, role, part], weight)
        yield weights
        errors = labelled(GaugeMetricFamily, "calibration_error", labels)
        for role, each in model.roles:
            bins = each.calibration.reliability
            error = calibration_error(bins)
            if error is not None and sum(one.outcomes for one in bins) >= LEAST_OUTCOMES:
                errors.add_metric([each.label, role], error)
        yield errors
        yield from _operating_points(model)
        yield from _probability_points(model)
        losses = labelled(GaugeMetricFamily, "progressive_taxonomic_loss", labels)
        parents = labelled(GaugeMetricFamily, "progressive_parent_accuracy", labels)
        for role, each in model.roles:
            for family, numbers in (
                (losses, each.progress.taxonomic_loss),
                (parents, each.progress.parent_accuracy),
            ):
                mean = numbers.mean(LONGEST_WINDOW)
                if mean is not None:
                    family.add_metric([each.label, role], mean)
        yield from (losses, parents)
        examples, ranks, seconds = (
            labelled(CounterMetricFamily, name, labels)
            for name in (
                "progressive_examples_total",
                "progressive_reciprocal_rank_total",
                "learner_seconds_total",
            )
        )
        hits = labelled(CounterMetricFamily, "progressive_hits_total", [*labels, "k"])
        for role, label, score in self._metrics.scores():
            examples.add_metric([label, role], score.examples)
            ranks.add_metric([label, role], score.reciprocal_ranks)
            seconds.add_metric([label, role], score.seconds)
            for k, count in score.hits().items():
                hits.add_metric([label, role, str(k)], count)
        yield from (examples, hits, ranks, seconds)

    def _primary_learner(self, model: Model, counts: LearnerCounts) -> Iterator[Metric]:
        learner = model.learner
        yield gauge("features", learner.features)
        yield gauge("classes", len(model.classes))
        yield gauge("edges", learner.edges)
        yield gauge("memory_bytes", learner.bytes)
        yield gauge("memory_limit_bytes", model.options.max_bytes)
        evicted = {"feature": counts.evicted_features, "class": counts.evicted_classes}
        yield counters("evicted_total", "kind", evicted)
        yield summary("edges_touched", counts.active_features_ranked, counts.edges_touched)
        outdegrees = Histogram(OUTDEGREES)
        for outdegree, features in enumerate(learner.outdegrees().tolist()):
            outdegrees.observe(outdegree, features)
        family = histogram("outdegree")
        outdegrees.add_to(family)
        yield family

    def _log(self, model: Model, stats: EngineStats) -> Iterator[Metric]:
        yield gauge("seq", model.seq)
        yield gauge("log_lag_events", stats.log_lag)
        yield gauge("queue_events", stats.queued_events)
        yield gauge("queue_limit_events", self._engine.settings.max_queue_events)
        yield gauge("queue_bytes", stats.queued_bytes)
        refused = {"queue_full": stats.queue_full, "conflict": stats.conflicts}
        yield counters("refused_total", "reason", refused)
        commits = {"ok": stats.commits, "failed": stats.failed_commits}
        yield counters("commits_total", "result", commits)
        count = stats.commits + stats.failed_commits
        yield summary("commit_duration_seconds", count, stats.commit_seconds)

    def _store(self, stats: EngineStats) -> Iterator[Metric]:
        yield counter("append_outcome_unknown_total", stats.uncertain)
        yield counter("log_rewinds_total", stats.rewinds)
        yield counter("foreign_entries_total", stats.foreign_entries)
        yield gauge("store_unreachable_seconds", stats.store_unreachable_seconds)
        yield gauge("store_full", stats.store_full)
        yield self._pauses()
        yield gauge("leader", stats.is_leader)
        yield gauge("processes", stats.processes)

    def _pauses(self) -> Metric:
        pause = self._engine.pause
        reason = None if pause is None else pause.reason
        if reason is None and self._metrics.out_of_memory.is_recent:
            reason = "memory"
        family = labelled(GaugeMetricFamily, "learning_paused", ["reason"])
        for each in REASONS:
            family.add_metric([each], each == reason)
        return family

    def _snapshots(self, stats: EngineStats) -> Iterator[Metric]:
        yield counter("snapshot_failures_total", stats.snapshot_failures)
        newest = self._engine.newest_snapshot
        if newest is not None:
            yield gauge("snapshot_age_seconds", max(0.0, self._wall_clock() - newest.taken_at))
            yield gauge("snapshot_bytes", newest.bytes)
        if stats.snapshot_seconds is not None:
            yield gauge("snapshot_duration_seconds", stats.snapshot_seconds)
        if stats.snapshot_pause_seconds is not None:
            yield gauge("snapshot_pause_seconds", stats.snapshot_pause_seconds)

    def _history(self, stats: HistoryStats) -> Iterator[Metric]:
        yield gauge("history_bytes", stats.bytes)
        yield gauge("history_events", stats.events)
        yield counter("history_deleted_events_total", stats.deleted_events)
        yield counter("history_lost_events_total", stats.lost_events)
        yield counter("history_failures_total", stats.failures)
        yield gauge("amendments_waiting", stats.amendments)
        yield gauge("amendment_age_seconds", stats.amendment_age_seconds)
        yield counter("rebuild_failures_total", stats.rebuild_failures)
        if stats.last_rebuild is not None:
            yield gauge("rebuild_timestamp_seconds", stats.last_rebuild.finished_at)
            yield gauge("rebuild_duration_seconds", stats.last_rebuild.seconds)


class Exposition:
    """All metrics of a process in the text format of Prometheus.

    Computing them takes milliseconds of the event loop, and needs no key, so it is limited.
    """

    def __init__(self, *collectors: Collector) -> None:
        self._registry = CollectorRegistry(auto_describe=False)
        for collector in collectors:
            self._registry.register(collector)
        ProcessCollector(registry=self._registry)
        GCCollector(registry=self._registry)
        self._fresh = TokenBucket(FRESH_SCRAPES, a_second=1)
        self._last = b""

    def text(self) -> bytes:
        """Return the present metrics. Beyond FRESH_SCRAPES calls in quick succession, they are
        computed once a second.
        """
        if not self._fresh.is_empty:
            self._fresh.take()
            self._last = generate_latest(self._registry)
        return self._last


def _evidence(evidence: Evidence) -> Iterator[Metric]:
    sizes = evidence.sizes()
    yield gauge("vector_dimension", sizes["dimension"])
    yield gauge("vector_events", sizes["events"])
    yield gauge("vector_classes", sizes["classes"])
    yield gauge("described_classes", sizes["described"])
    yield gauge("evidence_bytes", sizes["bytes"])


def _operating_points(model: Model) -> Iterator[Metric]:
    """Yield limit, coverage and accuracy for each target, of each learner with outcomes."""
    labels = ["learner", "role", "target"]
    limits, shares, accuracies = (
        labelled(GaugeMetricFamily, f"operating_point_{measure}", labels)
        for measure in ("limit", "coverage", "accuracy")
    )
    for role, each in model.roles:
        curve = each.calibration.curve(NEWEST_OUTCOMES, {})
        for target in TARGETS if curve.outcomes else ():
            of, at = [each.label, role, f"{target:g}"], least_limit(curve.points, target)
            if at is None:
                shares.add_metric(of, 0)
                continue
            point = curve.points[at]
            limits.add_metric(of, point.limit)
            shares.add_metric(of, point.answers / curve.outcomes)
            accuracies.add_metric(of, point.accuracy)
    yield from (limits, shares, accuracies)


def _probability_points(model: Model) -> Iterator[Metric]:
    """Yield limit, precision and recall for each target, of each learner with rankings."""
    labels = ["learner", "role", "target"]
    limits, precisions, recalls = (
        labelled(GaugeMetricFamily, f"probability_point_{measure}", labels)
        for measure in ("limit", "precision", "recall")
    )
    for role, each in model.roles:
        curve = each.calibration.probability_curve()
        for target in TARGETS if curve.true_classes else ():
            of, at = [each.label, role, f"{target:g}"], least_limit(curve.points, target)
            if at is None:
                recalls.add_metric(of, 0)
                continue
            point = curve.points[at]
            limits.add_metric(of, point.limit)
            precisions.add_metric(of, point.precision)
            recalls.add_metric(of, point.right / curve.true_classes)
    yield from (limits, precisions, recalls)
