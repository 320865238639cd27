import re
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client import Histogram as TheirHistogram
from prometheus_client.metrics_core import HistogramMetricFamily
from prometheus_client.parser import text_string_to_metric_families

from core.event import Event
from core.model import Outcome
from service.metrics import FAST_SECONDS, HELP, PREFIX, REQUEST_SECONDS, Histogram, Metrics
from tests.service.faulty import in_loop, learn
from tests.service.serving import calling

DOCUMENT = Path(__file__).parents[2] / "docs" / "metrics.md"


def families(text):
    return {family.name: family for family in text_string_to_metric_families(text)}


@in_loop
async def test_every_metric_is_there_documented_and_nothing_else():
    async with calling() as call:
        await call.learn(("a", "x"))
        await call("POST", "/snapshots")
        text = (await call("GET", "/metrics")).text
    served = {
        (family.name + ("_total" if family.type == "counter" else ""), family.type): family
        for family in families(text).values()
        if family.name.startswith(PREFIX)
    }
    rows = re.findall(
        r"^\| `(\w+)` \| (\w+) \| (.*?) \| (.*) \|$", DOCUMENT.read_text(), re.MULTILINE
    )
    assert {(name, kind) for name, kind, _, _ in rows} == set(served)
    assert {name: what for name, _, _, what in rows} == {PREFIX + n: h for n, h in HELP.items()}
    for name, kind, labels, _ in rows:
        used = {label for sample in served[name, kind].samples for label in sample.labels} - {"le"}
        assert used == set(re.findall(r"`(\w+)`", labels))


def test_names_follow_the_rules():
    assert all(re.fullmatch(r"[a-z_]+", name) for name in HELP)
    assert FAST_SECONDS[0] == pytest.approx(1e-6)
    assert list(FAST_SECONDS) == sorted(FAST_SECONDS)
    assert list(REQUEST_SECONDS) == sorted(REQUEST_SECONDS)


def test_a_histogram_counts_as_the_one_of_prometheus_does():
    bounds = [1.0, 2.0, 5.0]
    registry = CollectorRegistry()
    theirs = TheirHistogram("h", "help", buckets=bounds, registry=registry)
    ours = Histogram(bounds)
    for value in [0.5, 1.0, 1.5, 2.0, 4.9, 5.0, 5.1, 100, 0]:
        theirs.observe(value)
        ours.observe(value)
    theirs.observe(3)
    theirs.observe(3)
    ours.observe_often(3, 2)
    family = HistogramMetricFamily("h", "help", labels=[])
    ours.add_to(family, [])
    registry_of_ours = CollectorRegistry()
    registry_of_ours.register(type("One", (), {"collect": lambda self: [family]})())

    def samples(registry):
        [found] = [
            f for name, f in families(generate_latest(registry).decode()).items() if name == "h"
        ]
        return {
            (s.name, float(s.labels.get("le", "nan").replace("+Inf", "inf"))): s.value
            for s in found.samples
            if not s.name.endswith("_created")
        }

    assert {str(k): v for k, v in samples(registry).items()} == {
        str(k): v for k, v in samples(registry_of_ours).items()
    }


def test_counts_how_well_events_were_ranked_before_they_were_learned():
    metrics = Metrics()
    for rank in (1, 2, 5, 6, 11, None):
        metrics.applied(learn("a"), Outcome(1, rank, True), 1e-5)
    metrics.applied(Event.forget_class("x"), Outcome(2, None, False), 1e-5)
    samples = {
        sample.name + "".join(sample.labels.values()): sample.value
        for family in metrics.collect()
        for sample in family.samples
    }
    assert samples[PREFIX + "progressive_examples_total"] == 6
    hits = [samples[PREFIX + f"progressive_hits_total{k}"] for k in (1, 5, 10)]
    assert hits == [1, 3, 4]
    total = samples[PREFIX + "progressive_reciprocal_rank_total"]
    assert total == pytest.approx(1 + 1 / 2 + 1 / 5 + 1 / 6 + 1 / 11)
    assert samples[PREFIX + "learn_duration_seconds_count"] == 6
    assert samples[PREFIX + "learn_events_totallearned"] == 6


@in_loop
async def test_tells_what_the_model_is_like():
    async with calling() as call:
        await call.learn(("a b", "x"), ("b c", "y"))
        call.clock.now += 3
        await call("POST", "/snapshots")
        call.clock.now += 7
        await call("POST", "/rank", {"features": ["b", "c", "unknown"]})
        seen = await call.metrics()
    assert [seen[name] for name in ("features", "classes", "edges", "seq")] == [3, 2, 4, 2]
    assert seen['outdegree_bucket{le="1"}'] == 2
    assert (seen["outdegree_count"], seen["outdegree_sum"]) == (3, 4)
    assert seen["snapshot_age_seconds"] == 7
    assert seen["snapshot_bytes"] > 100
    assert seen["log_lag_events"] == 0
    assert (seen["edges_touched_count"], seen["edges_touched_sum"]) == (6, 4)
    assert seen["rank_duration_seconds_count"] == 1
    assert seen['evicted_total{kind="feature"}'] == 0
    assert seen["memory_bytes"] > 0
    assert seen["process_resident_memory_bytes"] > 2**20


@in_loop
async def test_before_the_state_is_restored_there_is_none_of_it():
    async with calling(ready=False) as call:
        seen = await call.metrics()
        assert "seq" not in seen
        assert seen["late_labels_total"] == 0


@in_loop
async def test_labels_are_bounded():
    async with calling() as call:
        for path in ("/nope", "/nope/2", "/classes/one", "/classes/two/three", "/rank"):
            await call("GET", path)
        await call("PATCH", "/classes/one")
        seen = await call.metrics()
    endpoints = {
        match[1]: value
        for name, value in seen.items()
        if (match := re.fullmatch(r'request_duration_seconds_count\{endpoint="(.*?)".*', name))
    }
    assert set(endpoints) == {"unknown", "/classes/{name}", "/rank"}
    assert endpoints["unknown"] == 2
    assert seen['request_duration_seconds_count{endpoint="/rank",status="405"}'] == 1
    assert seen['request_duration_seconds_count{endpoint="/classes/{name}",status="405"}'] == 1
