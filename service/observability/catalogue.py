"""The names and help texts of all metrics, and their Prometheus families."""

from collections.abc import Sequence
from typing import Final, TypeVar

from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    SummaryMetricFamily,
)

PREFIX: Final = "manyclass_"
LEAST_OUTCOMES: Final = 1_000  # with fewer, chance alone makes a calibration error

HELP: Final = {  # by name without the prefix
    "request_duration_seconds": "time to answer a request, by endpoint and status",
    "rank_duration_seconds": "time to rank one instance",
    "plain_rankings_total": "ranking requests answered in native code, by thread",
    "plain_events_total": "learned events that native code has read, by thread",
    "abstained_total": "rankings that abstained by a limit of confidence, accuracy, probability or"
    " precision",
    "instances_without_features_total": "instances without a word, a value other than 0 and a"
    " vector, by call",
    "instances_with_absent_values_total": "instances with values below 0 that a learner ignores,"
    " by call",
    "instances_with_cut_texts_total": "instances whose text lost words that are too long for a name"
    " or features beyond the largest number, by call",
    "learn_duration_seconds": "time to learn one durable event",
    "learn_events_total": "events sent to be learned, by result",
    "progressive_examples_total": "events learned since the process started, by learner",
    "progressive_hits_total": "learned events with a true class in the first k before learning",
    "progressive_reciprocal_rank_total": "sum of 1 / rank of the best true class before learning",
    "progressive_taxonomic_loss": "half the number of edges from the class ranked first to the true"
    " class, averaged over the last 10,000 events learned with a taxonomy",
    "progressive_parent_accuracy": "share of the last 10,000 events learned with a taxonomy whose"
    " class ranked first is a true class or a sibling of one",
    "learner_seconds_total": "time spent on learning events, by learner",
    "learner_memory_bytes": "size of each learner's state; MANYCLASS_MAX_BYTES bounds it",
    "mixture_weight": "weight of a part of the scores, as outcomes have moved it: words, neighbors,"
    " and descriptions and vectors while there are any",
    "calibration_error": "mean difference of confidence and share of right outcomes, over the last"
    f" 10,000 outcomes, once there are {LEAST_OUTCOMES:,}",
    "operating_point_limit": "least limit of confidence whose answers were right as often as the"
    " target, over the last 10,000 outcomes, by learner; absent if no limit reaches it",
    "operating_point_coverage": "share of the last 10,000 outcomes that this limit answers, by"
    " learner and target; 0 if no limit reaches the target",
    "operating_point_accuracy": "share of right answers at this limit, by learner and target",
    "probability_point_limit": "least limit of probability whose classes were right as often as the"
    " target, over the last 4,000 kept rankings, by learner; absent if no limit reaches it",
    "probability_point_precision": "share of right classes at this limit, by learner and target",
    "probability_point_recall": "share of the true classes that this limit gives, by learner and"
    " target; 0 if no limit reaches the target",
    "outdegree": "edges per feature of the primary learner",
    "edges_touched": "edges scored to rank an instance, also before learning",
    "features": "features of the primary learner",
    "classes": "classes that a ranking can have: the classes of the primary learner, and those with"
    " a description or with vectors",
    "edges": "edges of the primary learner",
    "memory_bytes": "size of the primary learner's state; MANYCLASS_MAX_BYTES bounds it",
    "memory_limit_bytes": "MANYCLASS_MAX_BYTES",
    "vector_dimension": "numbers of each vector; 0 before the first",
    "vector_events": "learned events with a vector, by their weights; one of several classes counts"
    " for each",
    "vector_classes": "classes with vectors of events or of their description",
    "described_classes": "classes with a title, a description, other names or a vector",
    "evidence_bytes": "size of the sums of vectors and of the descriptions, which the learners"
    " share",
    "evicted_total": "features and classes evicted to stay within the limits, by kind",
    "seq": "number of the last learned event",
    "log_lag_events": "events in the log that are not yet learned",
    "queue_events": "events admitted but not yet answered; MANYCLASS_MAX_QUEUE_EVENTS bounds them",
    "queue_limit_events": "MANYCLASS_MAX_QUEUE_EVENTS",
    "queue_bytes": "memory of the queued events; MANYCLASS_MAX_QUEUE_BYTES bounds it",
    "refused_total": "well-formed events that were refused, by reason",
    "commits_total": "appends to the log, by result; concurrent requests share one",
    "commit_duration_seconds": "time of an append to the log, successful or failed",
    "append_outcome_unknown_total": "failed appends whose events may still be in the log",
    "store_unreachable_seconds": "time since the store last answered; 0 while it answers",
    "log_rewinds_total": "restores of the state because the log had lost events",
    "foreign_entries_total": "skipped entries of the log that other programs wrote",
    "store_full": "1 while the store has no room for an event, 0 otherwise",
    "learning_paused": "1 for the reason why learning is paused, 0 for all other reasons",
    "leader": "1 in the process that takes the snapshots and trims the log, 0 in other processes",
    "processes": "processes on the store, including this one",
    "snapshot_age_seconds": "time since the newest snapshot was taken",
    "snapshot_duration_seconds": "time to take the newest snapshot",
    "snapshot_pause_seconds": "pause of learning for the newest snapshot",
    "snapshot_bytes": "size of the newest snapshot",
    "snapshot_failures_total": "failures of snapshots and of the clean-up after them",
    "history_bytes": "size of the history of events; MANYCLASS_HISTORY_BYTES bounds it",
    "history_events": "events from the oldest one of the history on, packed or in the log",
    "history_deleted_events_total": "events that have left the history because of its limits",
    "history_lost_events_total": "events trimmed from the log and lost while the archive failed",
    "history_failures_total": "failed writes to the history",
    "amendments_waiting": "corrected and deleted events that wait for a rebuild",
    "amendment_age_seconds": "time for which the oldest amendment has waited for a rebuild",
    "rebuild_failures_total": "rebuilds that failed",
    "rebuild_timestamp_seconds": "unix time of the end of the last rebuild",
    "rebuild_duration_seconds": "duration of the last rebuild",
    "label_delay_seconds": "time from ranking an instance to its label by id",
    "delayed_labels_expired_total": "labels by id that came after the instance had expired",
    "served_labels_total": "labels by id, by the position of the true class in the served ranking",
    "served_first_before_learning_total": "labels by id, except for abstentions, whose class the"
    " model ranked first just before it learned them",
    "review_items": "instances that wait for review",
    "review_bytes": "bytes of the instances that wait for review",
    "review_failures_total": "failed writes of instances that wait for review",
    "review_failing": "1 while new instances that wait for review are in memory only, because the"
    " store refuses them",
    "peer_lookups_total": "ids looked up at other processes, by result",
    "connections": "open connections",
    "connections_limit": "largest number of connections, from MANYCLASS_MAX_CONNECTIONS or from the"
    " limit of open files (ulimit -n)",
    "buffered_bytes": "bytes of bodies, unfinished lines and unsent answers",
    "buffered_limit_bytes": "MANYCLASS_MAX_BUFFERED_BYTES",
    "shed_total": "requests and connections refused or closed to limit the load, by reason",
    "bad_requests_total": "requests that were not HTTP, or whose head was too large",
    "out_of_memory_total": "requests that failed because memory ran out",
}

Family = TypeVar("Family", CounterMetricFamily, GaugeMetricFamily)


def labelled(kind: type[Family], name: str, labels: Sequence[str]) -> Family:
    """Return an empty family of metrics with these labels."""
    return kind(PREFIX + name, HELP[name], labels=labels)


def histogram(name: str, labels: Sequence[str] = ()) -> HistogramMetricFamily:
    """Return an empty family of histograms."""
    return HistogramMetricFamily(PREFIX + name, HELP[name], labels=list(labels))


def summary(name: str, count: int, total: float) -> SummaryMetricFamily:
    """Return a summary of `count` observations."""
    return SummaryMetricFamily(PREFIX + name, HELP[name], count_value=count, sum_value=total)


def gauge(name: str, value: float) -> GaugeMetricFamily:
    """Return a gauge without labels."""
    return GaugeMetricFamily(PREFIX + name, HELP[name], value=value)


def counter(name: str, value: float) -> CounterMetricFamily:
    """Return a counter without labels."""
    return CounterMetricFamily(PREFIX + name, HELP[name], value=value)


def counters(name: str, label: str, values: dict[str, int]) -> CounterMetricFamily:
    """Return a counter for each value of one label."""
    family = labelled(CounterMetricFamily, name, [label])
    for label_value, count in values.items():
        family.add_metric([label_value], count)
    return family
