"""The dashboards of Grafana, panel by panel; `generate.py` writes them to files.

Every process on a shared store applies every event. Metrics that follow from the events
alone are the same in each, so a panel shows the maximum over processes, never the sum. Metrics of a
process's own clients are summed. A ratio of sums is right for both.
"""

from dataclasses import dataclass

from deploy.promql import (
    RATE,
    SHARES,
    by,
    largest,
    mean,
    of_each_learner,
    of_each_process,
    of_each_target,
    of_the_examples,
    own,
    per_second,
    quantile,
    quantiles,
    requests,
    series,
    total,
)

SERVED = total("served_labels_total", result="~first|later|missed")


@dataclass(frozen=True)
class Panel:
    """A panel. `lines` is legend -> expression; a legend may name labels: {{label}}."""

    title: str
    unit: str
    lines: dict[str, str]
    description: str = ""
    width: int = 8
    kind: str = "timeseries"
    least: int | None = 0


def figure(title, unit, expression, description=""):
    return Panel(title, unit, {"": expression}, description, width=4, kind="stat")


REQUESTS = [
    figure("Processes that answer", "short", f"sum({own('up')})"),
    figure(
        "Processes with their state",
        "short",
        f"count({series('seq')})",
        "The others still restore theirs, and rank nothing yet.",
    ),
    figure("Requests", "reqps", requests()),
    figure("/rank, p99", "s", quantile(0.99, "request_duration_seconds", endpoint="/rank")),
    figure(
        "/learn, p99",
        "s",
        quantile(0.99, "request_duration_seconds", endpoint="/learn"),
        "Without streams.",
    ),
    figure(
        "Answered with an error of ours",
        "percentunit",
        f"({requests(status='~5..')} or vector(0)) / {requests()}",
        "Status 500 and above, of all requests.",
    ),
    Panel(
        "Latency of /rank",
        "s",
        quantiles("request_duration_seconds", endpoint="/rank"),
        "Includes the wait of rankings that ask for a seq.",
    ),
    Panel(
        "Latency of /learn",
        "s",
        quantiles("request_duration_seconds", endpoint="/learn"),
        "Until the events are durable and learned. Without streams.",
    ),
    Panel(
        "Latency by endpoint, p99",
        "s",
        {"{{endpoint}}": quantile(0.99, "request_duration_seconds", by="le, endpoint")},
    ),
    Panel("Requests by endpoint", "reqps", {"{{endpoint}}": requests(by="endpoint")}),
    Panel(
        "Requests by status",
        "reqps",
        {"{{status}}": requests(by="status")},
        "499: the client left before it could be answered.",
    ),
    Panel("Requests by process", "reqps", {"{{instance}}": requests(by="instance")}),
    Panel(
        "Errors by endpoint",
        "reqps",
        {"{{endpoint}} {{status}}": requests(by="endpoint, status", status="~[45]..")},
    ),
    Panel(
        "Events refused",
        "ops",
        {
            "{{reason}}": total("refused_total", by="reason"),
            "rejected": total("learn_events_total", result="rejected"),
        },
        "Well formed but refused, by reason; rejected: not well formed.",
    ),
    Panel(
        "Load shed",
        "ops",
        by("reason", "shed_total"),
        "Refused or closed to limit the load: too many rankings in work or connections, no memory"
        " left in MANYCLASS_MAX_BUFFERED_BYTES, answers that were not read.",
    ),
    Panel(
        "Rankings shed",
        "percentunit",
        {
            "shed": f"{total('shed_total', reason='concurrency')}"
            f" / ({total('shed_total', reason='concurrency')} + {requests(endpoint='/rank')})"
        },
        "Of all rankings: refused because too many were in work.",
    ),
    Panel(
        "Open connections",
        "short",
        {
            **of_each_process("connections"),
            "limit": f"min({series('connections_limit')})",
        },
        "The limit of each process is MANYCLASS_MAX_CONNECTIONS, or lower by its limit of open"
        " files.",
    ),
    Panel(
        "Memory of requests and answers",
        "bytes",
        {
            "{{instance}}": series("buffered_bytes"),
            "limit": f"min({series('buffered_limit_bytes')})",
        },
        "Bodies, unfinished lines and unsent answers. At the limit requests get 503.",
    ),
    Panel(
        "Faults of requests and memory",
        "ops",
        {
            "bad requests": total("bad_requests_total"),
            "out of memory": total("out_of_memory_total"),
        },
        "Bad requests are not HTTP or have a head that is too large.",
    ),
    Panel("Ranking itself", "s", quantiles("rank_duration_seconds"), "One instance, without HTTP."),
    Panel(
        "Rankings and events in native code, by thread",
        "reqps",
        {
            "{{thread}}": total("plain_rankings_total", "thread"),
            "events, {{thread}}": total("plain_events_total", "thread"),
        },
        "Other requests cost more than twice the CPU time: docs/operations.md says why.",
    ),
    Panel(
        "Abstentions",
        "percentunit",
        {"abstained": f"{total('abstained_total')} / {total('rank_duration_seconds_count')}"},
        "Of all rankings: less sure than their min_confidence, or of unknown confidence.",
    ),
]

LEARNING = [
    figure(
        "Events learned", "ops", f"max({per_second('progressive_examples_total', role='primary')})"
    ),
    figure("Recall at 1", "percentunit", of_the_examples("progressive_hits_total", k="1")),
    figure("Features", "short", largest("features")),
    figure("Classes", "short", largest("classes")),
    figure("Edges", "short", largest("edges")),
    figure(
        "Memory of the model",
        "percentunit",
        f"{largest('memory_bytes')} / {largest('memory_limit_bytes')}",
        "Of MANYCLASS_MAX_BYTES. At 100 % features are evicted.",
    ),
    Panel(
        "Progressive accuracy",
        "percentunit",
        {
            "recall at 1": of_the_examples("progressive_hits_total", k="1"),
            "recall at 5": of_the_examples("progressive_hits_total", k="5"),
            "recall at 10": of_the_examples("progressive_hits_total", k="10"),
            "mean reciprocal rank": of_the_examples("progressive_reciprocal_rank_total"),
        },
        "Of the events learned: where a true class stood before the event was learned.",
        width=12,
    ),
    Panel(
        "Events sent to be learned",
        "ops",
        {
            "learned": f"max({per_second('learn_events_total', result='learned')})",
            "duplicate": total("learn_events_total", result="duplicate"),
            "rejected": total("learn_events_total", result="rejected"),
        },
        "Duplicates are retries. Rejected ones did not make sense.",
        width=12,
    ),
    Panel(
        "Features and edges", "short", {"features": largest("features"), "edges": largest("edges")}
    ),
    Panel("Classes", "short", {"classes": largest("classes")}),
    Panel(
        "Growth",
        "short",
        {
            "features": f"max(deriv({series('features')}{RATE})) * 3600",
            "classes": f"max(deriv({series('classes')}{RATE})) * 3600",
            "edges": f"max(deriv({series('edges')}{RATE})) * 3600",
        },
        "By the hour.",
        least=None,
    ),
    Panel(
        "Outdegree",
        "short",
        {
            "mean": f"{largest('outdegree_sum')} / {largest('outdegree_count')}",
            **{
                f"p{share * 100:g}": f"histogram_quantile({share},"
                f" max by (le) ({series('outdegree_bucket')}))"
                for share in SHARES
            },
        },
        "Edges of a feature, over all features.",
    ),
    Panel(
        "Edges touched by a feature that is ranked",
        "short",
        {"mean": mean("edges_touched")},
        "Ranking costs as much as this is large.",
    ),
    Panel(
        "Learning itself",
        "s",
        quantiles("learn_duration_seconds"),
        "One event, once it is durable.",
    ),
    Panel(
        "Memory of the model",
        "bytes",
        {"needed": largest("memory_bytes"), "limit": largest("memory_limit_bytes")},
        "By the rule MANYCLASS_MAX_BYTES is held against.",
    ),
    Panel(
        "Evicted",
        "ops",
        {"{{kind}}": f"max by (kind) ({per_second('evicted_total')})"},
        "To stay within MANYCLASS_MAX_FEATURES, MANYCLASS_MAX_CLASSES and MANYCLASS_MAX_BYTES.",
    ),
    Panel(
        "Delay of late labels",
        "s",
        quantiles("label_delay_seconds"),
        "From ranking an instance to its label by id.",
    ),
    Panel(
        "Late labels",
        "ops",
        {
            "in time": total("label_delay_seconds_count"),
            "too late": total("delayed_labels_expired_total"),
        },
        "Too late: the instance was no longer kept.",
        width=12,
    ),
    Panel(
        "Recall at 1 as served",
        "percentunit",
        {
            "as served": f"{total('served_labels_total', result='first')} / {SERVED}",
            "just before learning": f"{total('served_first_before_learning_total')} / {SERVED}",
        },
        "Of instances with a late label: the ranking that was answered, and that of the model when"
        " the label came. Without abstentions.",
        width=12,
    ),
    Panel(
        "Late labels by their place as served",
        "ops",
        by("result", "served_labels_total"),
        "The place of the true class in the answer; later: among the first five.",
        width=12,
    ),
    Panel(
        "Ids asked of other processes",
        "ops",
        by("result", "peer_lookups_total"),
        "A label came to a process that had not ranked the instance.",
        width=12,
    ),
    Panel(
        "Recall at 1 by learner",
        "percentunit",
        of_each_learner("progressive_hits_total", k="1"),
        "Of the same events, but for a shadow that was added since.",
    ),
    Panel(
        "Recall at 5 by learner",
        "percentunit",
        of_each_learner("progressive_hits_total", k="5"),
        "Of the same events.",
    ),
    Panel(
        "Mean reciprocal rank by learner",
        "percentunit",
        of_each_learner("progressive_reciprocal_rank_total"),
        "Of the same events.",
    ),
    Panel(
        "Time to learn an event, by learner",
        "s",
        of_each_learner("learner_seconds_total"),
        "On the mean. An event takes what all learners take together.",
    ),
    Panel(
        "Memory by learner",
        "bytes",
        {"{{learner}}": f"max by (learner) ({series('learner_memory_bytes')})"},
        "By the rule MANYCLASS_MAX_BYTES is held against, for each by itself.",
    ),
    Panel(
        "Weights of words, titles and vectors",
        "short",
        {
            "{{part}}": f"max by (part) ({series('mixture_weight', role='primary')})",
        },
        "Of the parts of a score, as outcomes have moved them. 0: the part helped nobody.",
    ),
    Panel(
        "Calibration error by learner",
        "percentunit",
        {"{{learner}}": f"max by (learner) ({series('calibration_error')})"},
        "How far confidence is from what comes true, over the last 10,000 outcomes.",
    ),
    Panel(
        "Automatic answers by target accuracy",
        "percentunit",
        of_each_target("operating_point_coverage"),
        "The share of instances that the primary learner answers above the limit for the target.",
    ),
    Panel(
        "Accuracy of automatic answers by target",
        "percentunit",
        of_each_target("operating_point_accuracy"),
        "Of the answers above the limit for each target, over the last 10,000 outcomes.",
    ),
    Panel(
        "Limit of confidence by target accuracy",
        "percentunit",
        of_each_target("operating_point_limit"),
        "The limit that min_accuracy uses in /rank; none while no limit reaches the target.",
    ),
    Panel(
        "Recall of probable classes by target precision",
        "percentunit",
        of_each_target("probability_point_recall"),
        "The share of the true classes that min_precision gives in /rank, of several an event.",
    ),
    Panel(
        "Taxonomic loss by learner",
        "none",
        {"{{learner}}": f"max by (learner) ({series('progressive_taxonomic_loss')})"},
        "Half the edges from the class ranked first to the true class: 1 between siblings.",
    ),
    Panel(
        "Parent accuracy by learner",
        "percentunit",
        {"{{learner}}": f"max by (learner) ({series('progressive_parent_accuracy')})"},
        "Events whose class ranked first is a true class or has the parent of one.",
    ),
    Panel(
        "Learner that answers",
        "short",
        {"{{learner}}": f"count by (learner) ({series('learner_memory_bytes', role='primary')})"},
        "In so many processes. The others are shadows; a promotion changes it.",
    ),
]

LOG = [
    figure("Processes on this store", "short", largest("processes")),
    figure(
        "Leaders", "short", f"sum({series('leader')})", "One takes snapshots and trims the log."
    ),
    figure("Last event learned", "none", largest("seq")),
    figure("Furthest behind", "short", largest("log_lag_events"), "Events."),
    figure("Store unreachable", "s", largest("store_unreachable_seconds")),
    figure("Age of the newest snapshot", "s", f"min({series('snapshot_age_seconds')})"),
    Panel(
        "Events behind the log",
        "short",
        of_each_process("log_lag_events"),
        "In the log, and not learned yet by this process.",
    ),
    Panel("Last event learned", "none", of_each_process("seq")),
    Panel(
        "Leader", "bool_yes_no", of_each_process("leader"), "Who takes snapshots and trims the log."
    ),
    Panel(
        "Events in the queue",
        "short",
        {"{{instance}}": series("queue_events"), "limit": f"min({series('queue_limit_events')})"},
        "Admitted and not answered yet.",
    ),
    Panel("Queue", "bytes", of_each_process("queue_bytes")),
    Panel(
        "Appends to the log",
        "ops",
        {
            "{{result}}": total("commits_total", by="result"),
            "uncertain": total("append_outcome_unknown_total"),
        },
        "Requests that come together share one. Uncertain: the events may be in the log or not.",
    ),
    Panel("Time of an append", "s", {"mean": mean("commit_duration_seconds")}),
    Panel(
        "Events by append",
        "short",
        {
            "mean": f"max({per_second('learn_events_total', result='learned')})"
            f" / {total('commits_total', result='ok')}"
        },
        "How many share one.",
    ),
    Panel(
        "Store unreachable",
        "s",
        of_each_process("store_unreachable_seconds"),
        "How long it has not answered. Ranking goes on; learning does not.",
    ),
    Panel(
        "Store full",
        "bool_yes_no",
        {"store": largest("store_full")},
        "It has no room for an event. Ranking goes on; learning does not.",
    ),
    Panel(
        "Learning paused",
        "bool_yes_no",
        {"{{instance}} {{reason}}": series("learning_paused")},
        "Why a process learns nothing now: yes at the reason, no at all while it learns.",
    ),
    Panel(
        "Foreign entries in the log",
        "short",
        of_each_process("foreign_entries_total"),
        "Written by another program and skipped, since the process began.",
    ),
    Panel(
        "Log rewound",
        "short",
        of_each_process("log_rewinds_total"),
        "Times the log had lost events that were answered for. Each is a loss of data.",
    ),
    Panel(
        "Processes on this store",
        "short",
        {"alive": largest("processes"), "scraped": f"sum({own('up')})"},
    ),
    Panel("Age of the newest snapshot", "s", {"age": f"min({series('snapshot_age_seconds')})"}),
    Panel(
        "Time for a snapshot",
        "s",
        {
            "in all": largest("snapshot_duration_seconds"),
            "learning waits": largest("snapshot_pause_seconds"),
        },
        "The newest one.",
    ),
    Panel("Size of the newest snapshot", "bytes", {"": largest("snapshot_bytes")}),
    Panel("Snapshots that failed", "short", of_each_process("snapshot_failures_total")),
    Panel(
        "History of events",
        "bytes",
        of_each_process("history_bytes"),
        "Packed. At MANYCLASS_HISTORY_BYTES the oldest events leave it.",
    ),
    Panel(
        "Amended events that wait",
        "short",
        of_each_process("amendments_waiting"),
        "Corrected or deleted, and still in the weights until a rebuild.",
    ),
    Panel("Age of the oldest amendment", "s", of_each_process("amendment_age_seconds")),
    Panel(
        "Time of a rebuild",
        "s",
        of_each_process("rebuild_duration_seconds"),
        "The last one. Ranking and learning go on meanwhile.",
    ),
    Panel(
        "Failures of history and rebuilds",
        "short",
        {
            "history, {{instance}}": series("history_failures_total"),
            "rebuild, {{instance}}": series("rebuild_failures_total"),
        },
        "Since the process began.",
    ),
    Panel(
        "Messages that wait for review",
        "short",
        {
            "waiting": largest("review_items"),
            "failed writes, {{instance}}": series("review_failures_total"),
        },
    ),
    Panel(
        "Resident memory",
        "bytes",
        {"{{instance}}": own("process_resident_memory_bytes")},
        "Of the whole process: model, late labels, queue, and a copy while a snapshot is taken.",
    ),
    Panel(
        "Processor time",
        "percentunit",
        {"{{instance}}": f"rate({own('process_cpu_seconds_total')}{RATE})"},
        "100 % is one core.",
    ),
    Panel("Open files and connections", "short", {"{{instance}}": own("process_open_fds")}),
]

DASHBOARDS = {  # name of the file -> title, panels
    "requests": ("Manyclass: requests", REQUESTS),
    "learning": ("Manyclass: learning", LEARNING),
    "log": ("Manyclass: log and processes", LOG),
}
