"""The counts of a process since its start: requests, rankings, labelled events, learners."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from manyclass.core.event import Event
from manyclass.core.model_set import Role
from manyclass.core.outcome import Outcome
from manyclass.service.observability import catalogue
from manyclass.service.observability.instruments import Histogram, Score, ServedScore
from manyclass.service.observability.out_of_memory import OutOfMemory

FAST_SECONDS = tuple(
    step * 10.0**power for power in range(-6, 1) for step in (1, 2, 5)
)  # 1 µs to 5 s: ranking and learning themselves
REQUEST_SECONDS = tuple(step * 10.0**power for power in range(-4, 2) for step in (1, 2.5, 5))
RANKED, LEARNED = ("/rank", 200), ("/learn", 200)  # endpoint and status of plain requests
DELAY_SECONDS = (0.1, 1.0, 10.0, 60.0, 600.0, 3600.0, 21600.0, 86400.0, 604800.0)


class PlainCounts(NamedTuple):
    """The counts of a thread that answers plain requests; observations are by bound.

    Requests to learn are counted here only if a worker answers them.
    """

    rank_durations: Sequence[int]  # by FAST_SECONDS
    rank_seconds: float
    rank_request_durations: Sequence[int]  # by REQUEST_SECONDS
    rank_request_seconds: float
    learn_request_durations: Sequence[int]  # by REQUEST_SECONDS
    learn_request_seconds: float
    abstained: int


NOTHING_PLAIN = PlainCounts([], 0.0, [], 0.0, [], 0.0, 0)


class Metrics(Collector):
    """The counts of one process since its start."""

    def __init__(self) -> None:
        self._requests: dict[tuple[str, int], Histogram] = {}
        self.rank_duration = Histogram(FAST_SECONDS)
        self.abstained = 0  # rankings
        self.without_features = {"rank": 0, "learn": 0}  # instances
        self.with_absent_values = {"rank": 0, "learn": 0}  # instances with ignored values below 0
        self.with_cut_texts = {"rank": 0, "learn": 0}  # instances that lack a part of their text
        self.learn_duration = Histogram(FAST_SECONDS)
        self.label_delay = Histogram(DELAY_SECONDS)
        self.learn_events = {"learned": 0, "duplicate": 0, "rejected": 0}
        self.plain_events = {"event loop": 0, "worker": 0}
        self.delayed_labels_expired = 0
        self.served = ServedScore()
        self.peer_lookups = {"found": 0, "too_late": 0, "unknown": 0, "no_answer": 0}
        self.out_of_memory = OutOfMemory()
        # counts of each thread that answers plain requests, the event loop's first
        self.plain: Callable[[], Sequence[PlainCounts]] = tuple[PlainCounts]
        self._scores: dict[Role, dict[str, Score]] = {"primary": {}, "shadow": {}}

    def request(self, endpoint: str, status: int, seconds: float) -> None:
        """Count an answered request. `endpoint` is the path of a route, never a client's path."""
        histogram = self._requests.get((endpoint, status))
        if histogram is None:
            histogram = self._requests[endpoint, status] = Histogram(REQUEST_SECONDS)
        histogram.observe(seconds)

    def applied(self, event: Event, outcome: Outcome, seconds: float) -> None:
        """Count an applied event if it was labelled; forget the counts of a removed learner."""
        if event.kind == "configure":
            for scores in self._scores.values():
                scores.pop(str(event.options.get("removed")), None)
        if event.kind != "learn":
            return
        self.learn_duration.observe(seconds)
        self.learn_events["learned"] += 1
        if not event.classes:
            return  # no true class was ranked
        for shadow in outcome.shadows:
            self.score("shadow", shadow.label).add(shadow.rank, shadow.seconds)
        self.score("primary", outcome.label).add(outcome.rank, outcome.seconds)

    def learned(self, label: str, ranks: Sequence[int], seconds: Sequence[float]) -> None:
        """Count labelled events that the primary learner has learned; rank 0: not retrieved."""
        self.learn_duration.observe_each(seconds)
        self.learn_events["learned"] += len(ranks)
        self.score("primary", label).add_each(ranks, seconds)

    def score(self, role: Role, label: str) -> Score:
        """Return the counts of a learner in this role."""
        scores = self._scores[role]
        score = scores.get(label)
        if score is None:
            score = scores[label] = Score()
        return score

    def seconds_an_event(self, label: str) -> float | None:
        """Return the mean time of a learner to learn an event, None before the first event."""
        scores = [score for _, each, score in self.scores() if each == label]
        examples = sum(score.examples for score in scores)
        return sum(score.seconds for score in scores) / examples if examples else None

    def scores(self) -> Iterator[tuple[Role, str, Score]]:
        """Yield the role, label and counts of each learner in each of its roles."""
        for role, scores in self._scores.items():
            for label, score in scores.items():
                yield role, label, score

    def collect(self) -> Iterator[Metric]:
        """Yield all counts."""
        threads = self.plain() or [NOTHING_PLAIN]
        ranked = self.rank_duration.copy()
        requested = dict(self._requests)
        for each in threads:
            if any(each.rank_durations):
                ranked.add(each.rank_durations, each.rank_seconds)
            for call, durations, seconds in (
                (RANKED, each.rank_request_durations, each.rank_request_seconds),
                (LEARNED, each.learn_request_durations, each.learn_request_seconds),
            ):
                if any(durations):
                    requested[call] = (requested.get(call) or Histogram(REQUEST_SECONDS)).copy()
                    requested[call].add(durations, seconds)
        requests = catalogue.histogram("request_duration_seconds", ["endpoint", "status"])
        for (endpoint, status), histogram in requested.items():
            histogram.add_to(requests, [endpoint, str(status)])
        yield requests
        for name, histogram in (
            ("rank_duration_seconds", ranked),
            ("learn_duration_seconds", self.learn_duration),
            ("label_delay_seconds", self.label_delay),
        ):
            family = catalogue.histogram(name)
            histogram.add_to(family)
            yield family
        loop, *workers = (sum(each.rank_request_durations) for each in threads)
        answered = {"event loop": loop, "worker": sum(workers)}
        yield catalogue.counters("plain_rankings_total", "thread", answered)
        yield catalogue.counters("plain_events_total", "thread", self.plain_events)
        abstained = self.abstained + sum(each.abstained for each in threads)
        yield catalogue.counter("abstained_total", abstained)
        yield catalogue.counters("instances_without_features_total", "call", self.without_features)
        yield catalogue.counters(
            "instances_with_absent_values_total", "call", self.with_absent_values
        )
        yield catalogue.counters("instances_with_cut_texts_total", "call", self.with_cut_texts)
        yield catalogue.counters("learn_events_total", "result", self.learn_events)
        yield catalogue.counter("delayed_labels_expired_total", self.delayed_labels_expired)
        yield catalogue.counters("served_labels_total", "result", self.served.by_result())
        relearned = self.served.first_before_learning
        yield catalogue.counter("served_first_before_learning_total", relearned)
        yield catalogue.counters("peer_lookups_total", "result", self.peer_lookups)
        yield catalogue.counter("out_of_memory_total", self.out_of_memory.count)
