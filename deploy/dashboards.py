"""The dashboards of Grafana, panel by panel; `generate.py` writes them to files.

Every process on a shared store applies every event. Metrics that follow from the events
alone are the same in each, so a panel shows the maximum over processes, never the sum. Metrics of a
process's own clients are summed. A ratio of sums is right for both.
"""

RATE = "[$__rate_interval]"
SELECTED = 'job="$job", instance=~"$instance"'
ROW_WIDTH = 24  # of Grafana's grid
HEIGHT = 8


def series(name, **labels):
    """Return the series of a metric of the service, for the selected processes.

    A label's value is compared as it is, or as a regular expression when it begins with "~".
    """
    chosen = [
        f'{label}=~"{value[1:]}"' if value[0] == "~" else f'{label}="{value}"'
        for label, value in labels.items()
    ]
    return f"manyclass_{name}{{{', '.join([*chosen, SELECTED])}}}"


def own(name):
    """Return the series of a metric of the process or target, not named by the service."""
    return f"{name}{{{SELECTED}}}"


def per_second(name, **labels):
    return f"rate({series(name, **labels)}{RATE})"


def mean(name, **labels):
    total, number = (per_second(f"{name}_{part}", **labels) for part in ("sum", "count"))
    return f"sum({total}) / sum({number})"


def quantile(share, name, by="le", **labels):
    return f"histogram_quantile({share}, sum by ({by}) ({per_second(name + '_bucket', **labels)}))"


def quantiles(name, **labels):
    return {f"p{share * 100:g}": quantile(share, name, **labels) for share in (0.5, 0.9, 0.99)}


def of_the_examples(name, **labels):
    """Return the rate of `name` per learned event, for the primary learner."""
    examples = per_second("progressive_examples_total", role="primary")
    return f"sum({per_second(name, **labels, role='primary')}) / sum({examples})"


def of_each_learner(name, **labels):
    """Return the rate of `name` per learned event, as legend -> expression for each learner."""
    parts = (per_second(name, **labels), per_second("progressive_examples_total"))
    counted, examples = (f"sum by (learner) ({part})" for part in parts)
    return {"{{learner}}": f"{counted} / {examples}"}


def panel(title, unit, lines, description="", width=8, kind="timeseries", least=0):
    """Describe a panel. `lines` is legend -> expression; a legend may name labels: {{label}}."""
    return {
        "title": title,
        "unit": unit,
        "lines": lines,
        "description": description,
        "width": width,
        "kind": kind,
        "least": least,
    }


def figure(title, unit, expression, description=""):
    return panel(title, unit, {"": expression}, description, width=4, kind="stat")


REQUESTS = [
    figure("Processes that answer", "short", f"sum({own('up')})"),
    figure(
        "Processes with their state",
        "short",
        f"count({series('seq')})",
        "The others still restore theirs, and rank nothing yet.",
    ),
    figure("Requests", "reqps", f"sum({per_second('request_duration_seconds_count')})"),
    figure(
        "/rank, p99",
        "s",
        quantile(0.99, "request_duration_seconds", endpoint="/rank"),
    ),
    figure(
        "/learn, p99",
        "s",
        quantile(0.99, "request_duration_seconds", endpoint="/learn"),
        "Without streams.",
    ),
    figure(
        "Answered with an error of ours",
        "percentunit",
        f"(sum({per_second('request_duration_seconds_count', status='~5..')}) or vector(0))"
        f" / sum({per_second('request_duration_seconds_count')})",
        "Status 500 and above, of all requests.",
    ),
    panel(
        "Latency of /rank",
        "s",
        quantiles("request_duration_seconds", endpoint="/rank"),
        "Includes the wait of rankings that ask for a seq.",
    ),
    panel(
        "Latency of /learn",
        "s",
        quantiles("request_duration_seconds", endpoint="/learn"),
        "Until the events are durable and learned. Without streams.",
    ),
    panel(
        "Latency by endpoint, p99",
        "s",
        {"{{endpoint}}": quantile(0.99, "request_duration_seconds", by="le, endpoint")},
    ),
    panel(
        "Requests by endpoint",
        "reqps",
        {"{{endpoint}}": f"sum by (endpoint) ({per_second('request_duration_seconds_count')})"},
    ),
    panel(
        "Requests by status",
        "reqps",
        {"{{status}}": f"sum by (status) ({per_second('request_duration_seconds_count')})"},
        "499: the client left before it could be answered.",
    ),
    panel(
        "Requests by process",
        "reqps",
        {"{{instance}}": f"sum by (instance) ({per_second('request_duration_seconds_count')})"},
    ),
    panel(
        "Errors by endpoint",
        "reqps",
        {
            "{{endpoint}} {{status}}": "sum by (endpoint, status)"
            f" ({per_second('request_duration_seconds_count', status='~[45]..')})"
        },
    ),
    panel(
        "Events refused",
        "ops",
        {
            "{{reason}}": f"sum by (reason) ({per_second('refused_total')})",
            "rejected": f"sum({per_second('learn_events_total', result='rejected')})",
        },
        "Well formed but refused, by reason; rejected: not well formed.",
    ),
    panel(
        "Load shed",
        "ops",
        {"{{reason}}": f"sum by (reason) ({per_second('shed_total')})"},
        "Refused or closed to limit the load: too many rankings in work or connections, no memory"
        " left in MANYCLASS_MAX_BUFFERED_BYTES, answers that were not read.",
    ),
    panel(
        "Rankings shed",
        "percentunit",
        {
            "shed": f"sum({per_second('shed_total', reason='concurrency')})"
            f" / (sum({per_second('shed_total', reason='concurrency')})"
            f" + sum({per_second('request_duration_seconds_count', endpoint='/rank')}))"
        },
        "Of all rankings: refused because too many were in work.",
    ),
    panel(
        "Open connections",
        "short",
        {"{{instance}}": series("connections")},
        "MANYCLASS_MAX_CONNECTIONS bounds those of each process.",
    ),
    panel(
        "Memory of requests and answers",
        "bytes",
        {
            "{{instance}}": series("buffered_bytes"),
            "limit": f"min({series('buffered_limit_bytes')})",
        },
        "Bodies, unfinished lines and unsent answers. At the limit requests get 503.",
    ),
    panel(
        "Faults of requests and memory",
        "ops",
        {
            "bad requests": f"sum({per_second('bad_requests_total')})",
            "out of memory": f"sum({per_second('out_of_memory_total')})",
        },
        "Bad requests are not HTTP or have a head that is too large.",
    ),
    panel(
        "Ranking itself",
        "s",
        quantiles("rank_duration_seconds"),
        "One instance, without HTTP.",
    ),
    panel(
        "Abstentions",
        "percentunit",
        {
            "abstained": f"sum({per_second('abstained_total')})"
            f" / sum({per_second('rank_duration_seconds_count')})"
        },
        "Of all rankings: less sure than their min_confidence, or of unknown confidence.",
    ),
]

LEARNING = [
    figure(
        "Events learned", "ops", f"max({per_second('progressive_examples_total', role='primary')})"
    ),
    figure("Recall at 1", "percentunit", of_the_examples("progressive_hits_total", k="1")),
    figure("Features", "short", f"max({series('features')})"),
    figure("Classes", "short", f"max({series('classes')})"),
    figure("Edges", "short", f"max({series('edges')})"),
    figure(
        "Memory of the model",
        "percentunit",
        f"max({series('memory_bytes')}) / max({series('memory_limit_bytes')})",
        "Of MANYCLASS_MAX_BYTES. At 100 % features are evicted.",
    ),
    panel(
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
    panel(
        "Events sent to be learned",
        "ops",
        {
            "learned": f"max({per_second('learn_events_total', result='learned')})",
            "duplicate": f"sum({per_second('learn_events_total', result='duplicate')})",
            "rejected": f"sum({per_second('learn_events_total', result='rejected')})",
        },
        "Duplicates are retries. Rejected ones did not make sense.",
        width=12,
    ),
    panel(
        "Features and edges",
        "short",
        {
            "features": f"max({series('features')})",
            "edges": f"max({series('edges')})",
        },
    ),
    panel("Classes", "short", {"classes": f"max({series('classes')})"}),
    panel(
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
    panel(
        "Outdegree",
        "short",
        {
            "mean": f"max({series('outdegree_sum')}) / max({series('outdegree_count')})",
            **{
                f"p{share * 100:g}": f"histogram_quantile({share},"
                f" max by (le) ({series('outdegree_bucket')}))"
                for share in (0.5, 0.9, 0.99)
            },
        },
        "Edges of a feature, over all features.",
    ),
    panel(
        "Edges touched by a feature that is ranked",
        "short",
        {"mean": mean("edges_touched")},
        "Ranking costs as much as this is large.",
    ),
    panel(
        "Learning itself",
        "s",
        quantiles("learn_duration_seconds"),
        "One event, once it is durable.",
    ),
    panel(
        "Memory of the model",
        "bytes",
        {
            "needed": f"max({series('memory_bytes')})",
            "limit": f"max({series('memory_limit_bytes')})",
        },
        "By the rule MANYCLASS_MAX_BYTES is held against.",
    ),
    panel(
        "Evicted",
        "ops",
        {"{{kind}}": f"max by (kind) ({per_second('evicted_total')})"},
        "To stay within MANYCLASS_MAX_FEATURES, MANYCLASS_MAX_CLASSES and MANYCLASS_MAX_BYTES.",
    ),
    panel(
        "Delay of late labels",
        "s",
        quantiles("label_delay_seconds"),
        "From ranking an instance to its label by id.",
    ),
    panel(
        "Late labels",
        "ops",
        {
            "in time": f"sum({per_second('label_delay_seconds_count')})",
            "too late": f"sum({per_second('delayed_labels_expired_total')})",
        },
        "Too late: the instance was no longer kept.",
        width=12,
    ),
    panel(
        "Ids asked of other processes",
        "ops",
        {"{{result}}": f"sum by (result) ({per_second('peer_lookups_total')})"},
        "A label came to a process that had not ranked the instance.",
        width=12,
    ),
    panel(
        "Recall at 1 by learner",
        "percentunit",
        of_each_learner("progressive_hits_total", k="1"),
        "Of the same events, but for a shadow that was added since.",
    ),
    panel(
        "Recall at 5 by learner",
        "percentunit",
        of_each_learner("progressive_hits_total", k="5"),
        "Of the same events.",
    ),
    panel(
        "Mean reciprocal rank by learner",
        "percentunit",
        of_each_learner("progressive_reciprocal_rank_total"),
        "Of the same events.",
    ),
    panel(
        "Time to learn an event, by learner",
        "s",
        of_each_learner("learner_seconds_total"),
        "On the mean. An event takes what all learners take together.",
    ),
    panel(
        "Memory by learner",
        "bytes",
        {"{{learner}}": f"max by (learner) ({series('learner_memory_bytes')})"},
        "By the rule MANYCLASS_MAX_BYTES is held against, for each by itself.",
    ),
    panel(
        "Calibration error by learner",
        "percentunit",
        {"{{learner}}": f"max by (learner) ({series('calibration_error')})"},
        "How far confidence is from what comes true, over the last 10,000 outcomes.",
    ),
    panel(
        "Learner that answers",
        "short",
        {"{{learner}}": f"count by (learner) ({series('learner_memory_bytes', role='primary')})"},
        "In so many processes. The others are shadows; a promotion changes it.",
    ),
]

LOG = [
    figure("Processes on this store", "short", f"max({series('processes')})"),
    figure(
        "Leaders", "short", f"sum({series('leader')})", "One takes snapshots and trims the log."
    ),
    figure("Last event learned", "none", f"max({series('seq')})"),
    figure("Furthest behind", "short", f"max({series('log_lag_events')})", "Events."),
    figure("Store unreachable", "s", f"max({series('store_unreachable_seconds')})"),
    figure("Age of the newest snapshot", "s", f"min({series('snapshot_age_seconds')})"),
    panel(
        "Events behind the log",
        "short",
        {"{{instance}}": series("log_lag_events")},
        "In the log, and not learned yet by this process.",
    ),
    panel("Last event learned", "none", {"{{instance}}": series("seq")}),
    panel(
        "Leader",
        "bool_yes_no",
        {"{{instance}}": series("leader")},
        "Who takes snapshots and trims the log.",
    ),
    panel(
        "Events in the queue",
        "short",
        {
            "{{instance}}": series("queue_events"),
            "limit": f"min({series('queue_limit_events')})",
        },
        "Admitted and not answered yet.",
    ),
    panel("Queue", "bytes", {"{{instance}}": series("queue_bytes")}),
    panel(
        "Appends to the log",
        "ops",
        {
            "{{result}}": f"sum by (result) ({per_second('commits_total')})",
            "uncertain": f"sum({per_second('append_outcome_unknown_total')})",
        },
        "Requests that come together share one. Uncertain: the events may be in the log or not.",
    ),
    panel("Time of an append", "s", {"mean": mean("commit_duration_seconds")}),
    panel(
        "Events by append",
        "short",
        {
            "mean": f"max({per_second('learn_events_total', result='learned')})"
            f" / sum({per_second('commits_total', result='ok')})"
        },
        "How many share one.",
    ),
    panel(
        "Store unreachable",
        "s",
        {"{{instance}}": series("store_unreachable_seconds")},
        "How long it has not answered. Ranking goes on; learning does not.",
    ),
    panel(
        "Store full",
        "bool_yes_no",
        {"store": f"max({series('store_full')})"},
        "Redis has no memory for an event. Ranking goes on; learning does not.",
    ),
    panel(
        "Foreign entries in the log",
        "short",
        {"{{instance}}": series("foreign_entries_total")},
        "Written by another program and skipped, since the process began.",
    ),
    panel(
        "Log rewound",
        "short",
        {"{{instance}}": series("log_rewinds_total")},
        "Times the log had lost events that were answered for. Each is a loss of data.",
    ),
    panel(
        "Processes on this store",
        "short",
        {"alive": f"max({series('processes')})", "scraped": f"sum({own('up')})"},
    ),
    panel(
        "Age of the newest snapshot",
        "s",
        {"age": f"min({series('snapshot_age_seconds')})"},
    ),
    panel(
        "Time for a snapshot",
        "s",
        {
            "in all": f"max({series('snapshot_duration_seconds')})",
            "learning waits": f"max({series('snapshot_pause_seconds')})",
        },
        "The newest one.",
    ),
    panel("Size of the newest snapshot", "bytes", {"": f"max({series('snapshot_bytes')})"}),
    panel(
        "Snapshots that failed",
        "short",
        {"{{instance}}": series("snapshot_failures_total")},
    ),
    panel(
        "Resident memory",
        "bytes",
        {"{{instance}}": own("process_resident_memory_bytes")},
        "Of the whole process: model, late labels, queue, and a copy while a snapshot is taken.",
    ),
    panel(
        "Processor time",
        "percentunit",
        {"{{instance}}": f"rate({own('process_cpu_seconds_total')}{RATE})"},
        "100 % is one core.",
    ),
    panel("Open files and connections", "short", {"{{instance}}": own("process_open_fds")}),
]

DASHBOARDS = {  # name of the file -> title, panels
    "requests": ("Manyclass: requests", REQUESTS),
    "learning": ("Manyclass: learning", LEARNING),
    "log": ("Manyclass: log and processes", LOG),
}


def dashboard(name):
    """Return the JSON model of the dashboard of this name."""
    title, panels = DASHBOARDS[name]
    source = {"type": "prometheus", "uid": "${datasource}"}
    return {
        "uid": f"manyclass-{name}",
        "title": title,
        "tags": ["manyclass"],
        "schemaVersion": 39,
        "editable": False,
        "refresh": "10s",
        "time": {"from": "now-1h", "to": "now"},
        "links": [{"type": "dashboards", "title": "Manyclass", "tags": ["manyclass"]}],
        "templating": {"list": [*_variables(source)]},
        "panels": [*_laid_out(panels, source)],
    }


def _variables(source):
    yield {
        "name": "datasource",
        "label": "Data source",
        "type": "datasource",
        "query": "prometheus",
    }
    for name, metric, labels, several in (
        ("job", "manyclass_delayed_labels_expired_total", "", False),
        ("instance", "manyclass_delayed_labels_expired_total", '{job="$job"}', True),
    ):
        query = f"label_values({metric}{labels}, {name})"
        yield {
            "name": name,
            "label": name.capitalize(),
            "type": "query",
            "datasource": source,
            "definition": query,
            "query": {"query": query, "refId": name},
            "refresh": 2,  # on every change of the time range, because processes come and go
            "sort": 1,
            "multi": several,
            "includeAll": several,
            **({"current": {"text": "All", "value": "$__all"}} if several else {}),
        }


def _laid_out(panels, source):
    """Yield the panels with their places: from left to right, row by row."""
    x = y = 0
    height = HEIGHT
    for number, described in enumerate(panels, 1):
        if x + described["width"] > ROW_WIDTH:
            x, y = 0, y + height
        height = HEIGHT // 2 if described["kind"] == "stat" else HEIGHT
        place = {"x": x, "y": y, "w": described["width"], "h": height}
        yield _panel(number, described, place, source)
        x += described["width"]


def _panel(number, described, place, source):
    return {
        "id": number,
        "type": described["kind"],
        "title": described["title"],
        "description": described["description"],
        "datasource": source,
        "gridPos": place,
        "fieldConfig": {
            "defaults": {"unit": described["unit"], "min": described["least"]},
            "overrides": [],
        },
        "options": _OPTIONS[described["kind"]],
        "targets": [
            {"refId": chr(ord("A") + n), "datasource": source, "expr": line, "legendFormat": legend}
            for n, (legend, line) in enumerate(described["lines"].items())
        ],
    }


_OPTIONS = {
    "stat": {"reduceOptions": {"calcs": ["lastNotNull"]}, "graphMode": "area"},
    "timeseries": {
        "legend": {"displayMode": "list", "placement": "bottom"},
        "tooltip": {"mode": "multi", "sort": "desc"},
    },
}
