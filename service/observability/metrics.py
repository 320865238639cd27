"""Every metric of the service: its name, what it counts, and how Prometheus reads it.

Observed on the event loop's thread only. The instruments are our own because those of
prometheus_client lock and check at every call: 2 µs each, a tenth of what a rank may cost.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import TypeVar

from prometheus_client import CollectorRegistry, GCCollector, ProcessCollector
from prometheus_client.exposition import generate_latest
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
    SummaryMetricFamily,
)
from prometheus_client.registry import Collector

from manyclass.core.event import Event
from manyclass.core.model import Model, Outcome
from manyclass.core.model_set import Role
from manyclass.core.reliability import calibration_error
from manyclass.service.engine import Engine
from manyclass.service.engine_stats import EngineStats
from manyclass.service.errors import NotReady
from manyclass.service.http.edge import Edge
from manyclass.service.log.live_model import LearnerCounts
from manyclass.service.observability.out_of_memory import OutOfMemory

PREFIX = "manyclass_"
HITS_AT = (1, 5, 10)
LEAST_JUDGED = 1_000  # outcomes; of fewer, chance alone makes a calibration error

FAST_SECONDS = tuple(
    step * 10.0**power for power in range(-6, 1) for step in (1, 2, 5)
)  # 1 µs to 5 s: ranking and learning themselves
REQUEST_SECONDS = tuple(step * 10.0**power for power in range(-4, 2) for step in (1, 2.5, 5))
DELAY_SECONDS = (0.1, 1.0, 10.0, 60.0, 600.0, 3600.0, 21600.0, 86400.0, 604800.0)
OUTDEGREES = (0, 1, 2, 5, 10, 15, 20, 25, 50, 100, 250, 500)

HELP = {  # name without the prefix -> what it says
    "request_duration_seconds": "time to answer a request, by endpoint and status",
    "rank_duration_seconds": "time to rank one instance",
    "withheld_total": "rankings withheld, less sure than asked for or of unknown confidence",
    "instances_without_features_total": "instances without a word or a value above 0, by call",
    "learn_duration_seconds": "time to learn one event, once it is durable",
    "learn_events_total": "events sent to be learned, by result",
    "progressive_examples_total": "events learned since the process began, by learner",
    "progressive_hits_total": "of those, events with a true class in the first k before learning",
    "progressive_reciprocal_rank_total": "sum of 1 / rank of the best true class before learning",
    "learner_seconds_total": "time spent on learning events, by learner",
    "learner_memory_bytes": "what each learner needs, by the rule MANYCLASS_MAX_BYTES is held"
    " against",
    "calibration_error": "mean distance of confidence from what came true, of the last 10,000,"
    f" once there are {LEAST_JUDGED:,}",
    "outdegree": "edges of a feature, over all features of the learner that answers",
    "edges_touched": "edges scored, over the features of instances ranked, also when learned",
    "features": "features the learner that answers knows",
    "classes": "classes it knows",
    "edges": "edges it has",
    "memory_bytes": "what it needs, by the rule MANYCLASS_MAX_BYTES is held against",
    "memory_limit_bytes": "MANYCLASS_MAX_BYTES",
    "evicted_total": "rows evicted to stay within the limits, by kind",
    "seq": "number of the last event learned",
    "log_lag_events": "events in the log that are not learned yet",
    "queue_events": "events admitted and not answered yet; MANYCLASS_MAX_QUEUE_EVENTS bounds them",
    "queue_limit_events": "MANYCLASS_MAX_QUEUE_EVENTS",
    "queue_bytes": "what these need; MANYCLASS_MAX_QUEUE_BYTES bounds it",
    "refused_total": "times events were refused although they were well formed, by reason",
    "commits_total": "appends to the log, by result; requests that come together share one",
    "commit_duration_seconds": "time an append to the log took, whatever its result",
    "uncertain_appends_total": "of the failed appends, those that may be in the log all the same",
    "store_away_seconds": "how long the store has not answered; 0 while it does",
    "log_rewinds_total": "times the state was restored anew because the log had lost events",
    "foreign_entries_total": "entries of the log that were skipped because others wrote them",
    "store_full": "1 while Redis has no memory for an event, 0 otherwise",
    "leader": "1 in the process that takes the snapshots and trims the log, 0 in the others",
    "processes": "processes that use the store, this one among them",
    "snapshot_age_seconds": "time since the newest snapshot was taken",
    "snapshot_duration_seconds": "time the newest snapshot took",
    "snapshot_pause_seconds": "time learning waited for the newest snapshot, part of the duration",
    "snapshot_bytes": "size of the newest snapshot",
    "snapshot_failures_total": "snapshots that could not be taken, or cleaned up behind",
    "label_delay_seconds": "time from ranking an instance to its label by id",
    "late_labels_total": "labels by id that came when the instance was no longer kept",
    "late_questions_total": "ids the other processes were asked for, by what they said",
    "connections": "open connections; MANYCLASS_MAX_CONNECTIONS bounds them",
    "buffered_bytes": "bytes of bodies, unfinished lines and unsent answers",
    "buffered_limit_bytes": "MANYCLASS_MAX_BUFFERED_BYTES, which bounds them",
    "shed_total": "requests and connections refused or closed to limit the load, by reason",
    "bad_requests_total": "requests that were not HTTP, or whose head was too large",
    "out_of_memory_total": "requests that failed because memory ran out",
}


class Histogram:
    """How many observations fell below each bound, and their sum."""

    __slots__ = ("_bounds", "_counts", "_sum")

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = list(bounds)
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def observe(self, value: float) -> None:
        """Count one more."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self._sum += value

    def observe_often(self, value: float, times: int) -> None:
        """Count `times` observations of the same value."""
        self._counts[bisect_left(self._bounds, value)] += times
        self._sum += value * times

    def add_to(self, family: HistogramMetricFamily, labels: Sequence[str]) -> None:
        """Report everything observed so far."""
        bounds = [*(f"{bound:g}" for bound in self._bounds), "+Inf"]
        counts = accumulate(self._counts)
        family.add_metric(labels, list(zip(bounds, counts, strict=True)), self._sum)


class Score:
    """How well a learner ranked events before it learned them, and how long that took it."""

    __slots__ = ("_at_rank", "examples", "reciprocal_ranks", "seconds")

    def __init__(self) -> None:
        self.examples = 0
        self.reciprocal_ranks = 0.0
        self.seconds = 0.0
        self._at_rank = [0] * (HITS_AT[-1] + 1)

    def add(self, rank: int | None, seconds: float) -> None:
        """Count an event whose best true class stood at `rank`; None: it was not retrieved."""
        self.examples += 1
        self.seconds += seconds
        if rank is not None:
            self.reciprocal_ranks += 1 / rank
            if rank <= HITS_AT[-1]:
                self._at_rank[rank] += 1

    def hits(self) -> dict[int, int]:
        """By k: the events with a true class among the first k."""
        return {k: sum(self._at_rank[: k + 1]) for k in HITS_AT}


class Metrics(Collector):
    """What the service has counted since it began."""

    def __init__(self) -> None:
        self._requests: dict[tuple[str, int], Histogram] = {}
        self.rank_duration = Histogram(FAST_SECONDS)
        self.withheld = 0  # rankings
        self.without_features = {"rank": 0, "learn": 0}  # instances
        self.learn_duration = Histogram(FAST_SECONDS)
        self.label_delay = Histogram(DELAY_SECONDS)
        self.learn_events = {"learned": 0, "duplicate": 0, "rejected": 0}
        self.late_labels = 0  # that came when their instance was no longer kept
        self.late_questions = {"found": 0, "too_late": 0, "unknown": 0, "no_answer": 0}
        self.out_of_memory = OutOfMemory()
        self._scores: dict[Role, dict[str, Score]] = {"answers": {}, "shadow": {}}

    def request(self, endpoint: str, status: int, seconds: float) -> None:
        """Count an answered request. `endpoint` is a route's path, never what a client sent."""
        histogram = self._requests.get((endpoint, status))
        if histogram is None:
            histogram = self._requests[endpoint, status] = Histogram(REQUEST_SECONDS)
        histogram.observe(seconds)

    def applied(self, event: Event, outcome: Outcome, seconds: float) -> None:
        """Count an event that changed the model, if it was one to learn."""
        if event.kind != "learn":
            return
        self.learn_duration.observe(seconds)
        self.learn_events["learned"] += 1
        for shadow in outcome.shadows:
            self.score("shadow", shadow.label).add(shadow.rank, shadow.seconds)
        self.score("answers", outcome.label).add(outcome.rank, outcome.seconds)

    def score(self, role: Role, label: str) -> Score:
        """What has been counted for a learner, while it had this role."""
        scores = self._scores[role]
        score = scores.get(label)
        if score is None:
            score = scores[label] = Score()
        return score

    def seconds_an_event(self, label: str) -> float | None:
        """The mean time a learner took to learn, in whatever role; None when it has not learned."""
        scores = [score for _, each, score in self.scores() if each == label]
        examples = sum(score.examples for score in scores)
        return sum(score.seconds for score in scores) / examples if examples else None

    def scores(self) -> Iterator[tuple[Role, str, Score]]:
        """Every learner that has been counted, in each of its roles."""
        for role, scores in self._scores.items():
            for label, score in scores.items():
                yield role, label, score

    def collect(self) -> Iterator[Metric]:
        """Everything counted so far."""
        requests = _histogram("request_duration_seconds", ["endpoint", "status"])
        for (endpoint, status), histogram in self._requests.items():
            histogram.add_to(requests, [endpoint, str(status)])
        yield requests
        for name, histogram in (
            ("rank_duration_seconds", self.rank_duration),
            ("learn_duration_seconds", self.learn_duration),
            ("label_delay_seconds", self.label_delay),
        ):
            family = _histogram(name)
            histogram.add_to(family, [])
            yield family
        yield _counter("withheld_total", value=self.withheld)
        yield _counter("instances_without_features_total", "call", self.without_features)
        yield _counter("learn_events_total", "result", self.learn_events)
        yield _counter("late_labels_total", value=self.late_labels)
        yield _counter("late_questions_total", "result", self.late_questions)
        yield _counter("out_of_memory_total", value=self.out_of_memory.count)


class EdgeState(Collector):
    """The bytes that connections hold at a scrape, and the refusals that limited the load."""

    def __init__(self, edge: Edge) -> None:
        self._edge = edge

    def collect(self) -> Iterator[Metric]:
        """The edge as it is now."""
        edge = self._edge
        yield _gauge("connections", edge.connections)
        yield _gauge("buffered_bytes", edge.budget.used)
        yield _gauge("buffered_limit_bytes", edge.budget.limit)
        shed = {
            "concurrency": edge.admission.shed,
            "connections": edge.rejected_connections,
            "idle_connection": edge.closed_idle,
            "memory": edge.budget.refused,
            "slow_reader": edge.slow_readers,
        }
        yield _counter("shed_total", "reason", shed)
        yield _counter("bad_requests_total", value=edge.bad_requests)


class State(Collector):
    """What the engine is like when Prometheus asks."""

    def __init__(self, engine: Engine, metrics: Metrics, wall_clock: Callable[[], float]) -> None:
        self._engine = engine
        self._metrics = metrics
        self._wall_clock = wall_clock

    def collect(self) -> Iterator[Metric]:
        """The state as it is now; that of the model once there is one."""
        try:
            model = self._engine.model
        except NotReady:
            return
        figures = self._engine.stats()
        yield from self._of_the_learners(model)
        yield from self._of_the_one_that_answers(model, figures.counts)
        yield from self._of_the_log(model, figures)
        yield from self._of_the_store(figures)
        yield from self._of_snapshots(figures)

    def _of_the_learners(self, model: Model) -> Iterator[Metric]:
        labels = ["learner", "role"]
        memory = _labelled(GaugeMetricFamily, "learner_memory_bytes", labels)
        for role, each in model.roles:
            memory.add_metric([each.label, role], each.learner.bytes)
            self._metrics.score(role, each.label)  # a counter is there before it first counts
        yield memory
        errors = _labelled(GaugeMetricFamily, "calibration_error", labels)
        for role, each in model.roles:
            bins = each.calibration.reliability
            error = calibration_error(bins)
            if error is not None and sum(one.outcomes for one in bins) >= LEAST_JUDGED:
                errors.add_metric([each.label, role], error)
        yield errors
        examples, ranks, seconds = (
            _labelled(CounterMetricFamily, name, labels)
            for name in (
                "progressive_examples_total",
                "progressive_reciprocal_rank_total",
                "learner_seconds_total",
            )
        )
        hits = _labelled(CounterMetricFamily, "progressive_hits_total", [*labels, "k"])
        for role, label, score in self._metrics.scores():
            examples.add_metric([label, role], score.examples)
            ranks.add_metric([label, role], score.reciprocal_ranks)
            seconds.add_metric([label, role], score.seconds)
            for k, count in score.hits().items():
                hits.add_metric([label, role, str(k)], count)
        yield from (examples, hits, ranks, seconds)

    def _of_the_one_that_answers(self, model: Model, counts: LearnerCounts) -> Iterator[Metric]:
        learner = model.learner
        yield _gauge("features", learner.features)
        yield _gauge("classes", learner.classes)
        yield _gauge("edges", learner.edges)
        yield _gauge("memory_bytes", learner.bytes)
        yield _gauge("memory_limit_bytes", model.options.max_bytes)
        evicted = {"feature": counts.evicted_features, "class": counts.evicted_classes}
        yield _counter("evicted_total", "kind", evicted)
        yield _summary("edges_touched", counts.active_features_ranked, counts.edges_touched)
        outdegrees = Histogram(OUTDEGREES)
        for outdegree, features in enumerate(learner.outdegrees().tolist()):
            outdegrees.observe_often(outdegree, features)
        family = _histogram("outdegree")
        outdegrees.add_to(family, [])
        yield family

    def _of_the_log(self, model: Model, figures: EngineStats) -> Iterator[Metric]:
        yield _gauge("seq", model.seq)
        yield _gauge("log_lag_events", figures.log_lag)
        yield _gauge("queue_events", figures.queued_events)
        yield _gauge("queue_limit_events", self._engine.settings.max_queue_events)
        yield _gauge("queue_bytes", figures.queued_bytes)
        refused = {"queue_full": figures.queue_full, "conflict": figures.conflicts}
        yield _counter("refused_total", "reason", refused)
        commits = {"ok": figures.commits, "failed": figures.failed_commits}
        yield _counter("commits_total", "result", commits)
        count = figures.commits + figures.failed_commits
        yield _summary("commit_duration_seconds", count, figures.commit_seconds)

    def _of_the_store(self, figures: EngineStats) -> Iterator[Metric]:
        yield _counter("uncertain_appends_total", value=figures.uncertain)
        yield _counter("log_rewinds_total", value=figures.rewinds)
        yield _counter("foreign_entries_total", value=figures.foreign_entries)
        yield _gauge("store_away_seconds", figures.store_away_seconds)
        yield _gauge("store_full", figures.store_full)
        yield _gauge("leader", figures.is_leader)
        yield _gauge("processes", figures.processes)

    def _of_snapshots(self, figures: EngineStats) -> Iterator[Metric]:
        yield _counter("snapshot_failures_total", value=figures.snapshot_failures)
        newest = self._engine.newest_snapshot
        if newest is not None:
            yield _gauge("snapshot_age_seconds", max(0.0, self._wall_clock() - newest.taken_at))
            yield _gauge("snapshot_bytes", newest.bytes)
        if figures.snapshot_seconds is not None:
            yield _gauge("snapshot_duration_seconds", figures.snapshot_seconds)
        if figures.snapshot_pause_seconds is not None:
            yield _gauge("snapshot_pause_seconds", figures.snapshot_pause_seconds)


class Exposition:
    """Everything Prometheus reads, in its text format."""

    def __init__(self, *collectors: Collector) -> None:
        self._registry = CollectorRegistry(auto_describe=False)
        for collector in collectors:
            self._registry.register(collector)
        ProcessCollector(registry=self._registry)
        GCCollector(registry=self._registry)

    def text(self) -> bytes:
        """The metrics as they are now."""
        return generate_latest(self._registry)


Family = TypeVar("Family", CounterMetricFamily, GaugeMetricFamily)


def _labelled(kind: type[Family], name: str, labels: Sequence[str]) -> Family:
    return kind(PREFIX + name, HELP[name], labels=labels)


def _histogram(name: str, labels: Sequence[str] = ()) -> HistogramMetricFamily:
    return HistogramMetricFamily(PREFIX + name, HELP[name], labels=list(labels))


def _summary(name: str, count: int, total: float) -> SummaryMetricFamily:
    return SummaryMetricFamily(PREFIX + name, HELP[name], count_value=count, sum_value=total)


def _gauge(name: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(PREFIX + name, HELP[name], value=value)


def _counter(
    name: str,
    label: str | None = None,
    values: dict[str, int] | None = None,
    value: float | None = None,
) -> CounterMetricFamily:
    labels = None if label is None else [label]
    family = CounterMetricFamily(PREFIX + name, HELP[name], value=value, labels=labels)
    for label_value, count in (values or {}).items():
        family.add_metric([label_value], count)
    return family
