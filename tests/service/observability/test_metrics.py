import asyncio
import re
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client import Histogram as TheirHistogram
from prometheus_client.metrics_core import HistogramMetricFamily
from prometheus_client.parser import text_string_to_metric_families

from manyclass.core.event import Event
from manyclass.core.outcome import Outcome, ShadowOutcome
from manyclass.service.engine import EngineStats
from manyclass.service.observability.catalogue import HELP, PREFIX
from manyclass.service.observability.exposition import FRESH_SCRAPES
from manyclass.service.observability.instruments import Histogram
from manyclass.service.observability.metrics import FAST_SECONDS, REQUEST_SECONDS, Metrics
from manyclass.service.store.errors import StoreFull
from tests.service.faulty import FaultyStore, learn
from tests.service.serving import calling

DOCUMENT = Path(__file__).parents[3] / "docs" / "metrics.md"


def families(text):
    return {family.name: family for family in text_string_to_metric_families(text)}


async def test_every_metric_is_there_documented_and_nothing_else():
    async with calling() as call:
        for _ in range(2):  # enough for a calibration error
            await call.learn(*[("a", "x")] * 600)
            await call("PUT", "/classes/x", {"parent": "y"})
        await call("POST", "/snapshots")
        await call("POST", "/rebuild")
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
    ours.observe(3, 2)
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
        shadows = (ShadowOutcome("pa", 3, 2.0), ShadowOutcome("ema", None, 0.5))
        metrics.applied(learn("a"), Outcome(1, rank, True, "ff", shadows, 0.5), 3.5)
    metrics.applied(Event.forget_class("x"), Outcome(2, None, False, "ff"), 3.0)
    shadows = (ShadowOutcome("ff", 4, 1.0),)
    metrics.applied(learn("a"), Outcome(3, 1, True, "pa", shadows, 8.0), 9.5)
    told = {
        (role, label): (score.examples, score.hits(), score.reciprocal_ranks, score.seconds)
        for role, label, score in metrics.scores()
    }
    assert told == {
        ("primary", "ff"): (
            6,
            {1: 1, 5: 3, 10: 4},
            pytest.approx(1 + 1 / 2 + 1 / 5 + 1 / 6 + 1 / 11),
            6 * 0.5,
        ),
        ("primary", "pa"): (1, {1: 1, 5: 1, 10: 1}, 1, 8),
        ("shadow", "pa"): (6, {1: 0, 5: 6, 10: 6}, pytest.approx(6 / 3), 12),
        ("shadow", "ema"): (6, {1: 0, 5: 0, 10: 0}, 0, 3),
        ("shadow", "ff"): (1, {1: 0, 5: 1, 10: 1}, 1 / 4, 1),
    }
    assert metrics.seconds_an_event("pa") == (12 + 8) / 7
    assert metrics.seconds_an_event("arow") is None
    samples = {
        sample.name + "".join(sample.labels.values()): sample.value
        for family in metrics.collect()
        for sample in family.samples
    }
    assert samples[PREFIX + "learn_duration_seconds_count"] == 7
    assert samples[PREFIX + "learn_duration_seconds_sum"] == 6 * 3.5 + 9.5
    assert samples[PREFIX + "learn_events_totallearned"] == 7


def of_learner(name, label, role, k=None):
    at = "" if k is None else f'k="{k}",'
    return f'{name}{{{at}learner="{label}",role="{role}"}}'


async def test_reports_the_quality_of_each_learner_in_its_role():
    ff, pa = "ff(margin_threshold=0.5)", "pa"
    examples, hits = "progressive_examples_total", "progressive_hits_total"
    async with calling(learner=ff, shadows=(pa,)) as call:
        fresh = await call.metrics()
        for label, role in ((ff, "primary"), (pa, "shadow")):
            assert fresh[of_learner(examples, label, role)] == 0
            assert fresh[of_learner(hits, label, role, "5")] == 0
            assert fresh[of_learner("learner_seconds_total", label, role)] == 0
        await call.learn(("a", "x"), ("a", "x"), ("b", "x"))
        await call("POST", "/learners/pa/promote")
        await call.learn(("a", "x"))
        seen = await call.metrics()
        assert seen[of_learner(examples, ff, "primary")] == 3
        assert seen[of_learner(examples, pa, "shadow")] == 3
        assert seen[of_learner(examples, pa, "primary")] == 1
        assert seen[of_learner(examples, ff, "shadow")] == 1
        assert seen[of_learner(hits, ff, "primary", "1")] == 1
        assert seen[of_learner(hits, pa, "primary", "1")] == 1
        assert seen[of_learner("progressive_reciprocal_rank_total", pa, "shadow")] == 1
        each = {one.label: one.learner for one in call.app.engine.model.enrolled}
        for label, role in ((pa, "primary"), (ff, "shadow")):
            assert seen[of_learner("learner_memory_bytes", label, role)] == each[label].bytes
            assert seen[of_learner("learner_seconds_total", label, role)] > 0
        assert of_learner("learner_memory_bytes", ff, "primary") not in seen
        assert (seen["edges"], seen["memory_bytes"]) == (each[pa].edges, each[pa].bytes)
        both = sum(value for name, value in seen.items() if name.startswith("learner_seconds"))
        assert both < seen["learn_duration_seconds_sum"]


async def test_reports_the_size_of_the_model():
    async with calling(learner="ff") as call:  # it makes no edges to negatives
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


async def test_reports_the_limits_beside_the_limited_figures():
    async with calling(max_bytes=50_000_000, max_queue_events=77) as call:
        seen = await call.metrics()
    assert (seen["memory_limit_bytes"], seen["queue_limit_events"]) == (50_000_000, 77)


async def test_a_store_of_ones_own_has_one_process_and_it_leads():
    async with calling() as call:
        seen = await call.metrics()
    assert (seen["leader"], seen["processes"]) == (1, 1)
    counted = ("store_unreachable_seconds", "log_rewinds_total", "append_outcome_unknown_total")
    assert [seen[name] for name in counted] == [0, 0, 0]


async def test_reports_its_state_among_the_processes(monkeypatch):
    async with calling() as call:
        figures = EngineStats(
            is_leader=False,
            processes=3,
            rewinds=4,
            store_unreachable_seconds=5.5,
            uncertain=6,
            log_lag=7,
        )
        monkeypatch.setattr(call.app.engine, "stats", lambda: figures)
        seen = await call.metrics()
    names = ("leader", "processes", "log_rewinds_total", "store_unreachable_seconds")
    assert [seen[name] for name in names] == [0, 3, 4, 5.5]
    assert (seen["append_outcome_unknown_total"], seen["log_lag_events"]) == (6, 7)


COUNTED = (
    'evicted_total{kind="feature"}',
    'evicted_total{kind="class"}',
    "edges_touched_count",
    "edges_touched_sum",
)


async def counted(call):
    seen = await call.metrics()
    return [seen[name] for name in COUNTED]


async def test_counters_begin_with_the_process_and_never_fall():
    store = FaultyStore()
    small = {"learner": "ff", "max_features": 3, "max_classes": 2}  # no event is learned twice

    async with calling(store=store, **small) as call:
        await call.learn(*((f"a{n} b", f"x{n}") for n in range(10)))
        await call("POST", "/snapshots")
        await call.learn(*((f"c{n} b", f"y{n}") for n in range(10)))
        await call("POST", "/rank", {"features": ["b"]})
        before = await counted(call)
        assert all(before)
        assert (await call("POST", "/snapshots/10/restore")).status_code == 200
        assert await counted(call) == before
        await call.learn(("d b", "z"))
        after = await counted(call)
        assert after[:3] == [before[0] + 1, before[1] + 1, before[2] + 2]
        assert after[3] >= before[3]
    async with calling(store=store, **small) as call:
        assert call.app.engine.model.learner.evicted_features > 0
        assert await counted(call) == [0, 0, 0, 0]


async def test_counters_never_fall_when_another_learner_answers():
    small = {"max_features": 3, "max_classes": 2}
    async with calling(shadows=("ff(rating=0)",), **small) as call:
        await call.learn(*((f"a{n} b", f"x{n}") for n in range(10)))
        await call("POST", "/rank", {"features": ["b"]})
        before = await counted(call)
        assert all(before)
        await call("POST", "/learners/ff%28rating=0%29/promote")
        assert await counted(call) == before
        await call.learn(("d b", "z"))
        after = await counted(call)
        assert after[:3] == [before[0] + 1, before[1] + 1, before[2] + 2]


async def test_reports_the_length_and_the_refusals_of_the_queue():
    store = FaultyStore()
    async with calling(store=store, max_queue_events=2) as call:
        event = {"features": ["a"], "classes": ["x"], "event_id": "one"}
        other = event | {"classes": ["y"]}
        with store.before_append.shut() as gate:
            waiting = asyncio.create_task(
                call("POST", "/learn", {"events": [event, {**event, "event_id": "two"}]})
            )
            await gate.reached()
            full = await call.metrics()
            assert (await call("POST", "/learn", other)).status_code == 503
        assert (await waiting).status_code == 200
        assert (await call("POST", "/learn", other)).status_code == 409
        seen = await call.metrics()
    assert full["queue_events"] == 2
    assert full["queue_bytes"] > 0
    assert (seen["queue_events"], seen["queue_bytes"]) == (0, 0)
    assert seen['refused_total{reason="queue_full"}'] == 1
    assert seen['refused_total{reason="conflict"}'] == 1


async def test_reports_appends_and_snapshots():
    async with calling() as call:
        await call.learn(("a", "x"))
        assert "snapshot_pause_seconds" not in await call.metrics()
        call.store.append_error = call.store.save_error = StoreFull("no room")
        await call("POST", "/learn", {"features": ["a"], "classes": ["x"]})
        await call("POST", "/snapshots")
        call.store.append_error = call.store.save_error = None
        failed = await call.metrics()
        await call("POST", "/snapshots")
        seen = await call.metrics()
    assert failed['commits_total{result="ok"}'] == 1
    assert failed['commits_total{result="failed"}'] == 1
    assert failed["commit_duration_seconds_count"] == 2
    assert failed["commit_duration_seconds_sum"] > 0
    assert failed["snapshot_failures_total"] == seen["snapshot_failures_total"] == 1
    assert seen["snapshot_pause_seconds"] == 0  # the test's clock stands still


async def test_before_the_state_is_restored_there_is_none_of_it():
    async with calling(ready=False) as call:
        seen = await call.metrics()
        assert not {"seq", "leader", "memory_limit_bytes", "queue_limit_events"} & set(seen)
        assert seen["delayed_labels_expired_total"] == 0


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


async def test_every_scrape_is_fresh_but_of_many_in_a_row_one_a_second(monkeypatch):
    now = 100.0
    monkeypatch.setattr("manyclass.service.token_bucket.monotonic", lambda: now)
    async with calling() as call:
        for scrape in range(FRESH_SCRAPES):
            assert (await call.metrics())["seq"] == scrape
            await call.learn(("a", "x"))
        last = FRESH_SCRAPES - 1
        for _ in range(3):
            assert (await call.metrics())["seq"] == last
            now += 0.3
        now += 0.2
        assert (await call.metrics())["seq"] == FRESH_SCRAPES
        await call.learn(("a", "x"))
        assert (await call.metrics())["seq"] == FRESH_SCRAPES
        now += 60
        for _ in range(FRESH_SCRAPES):
            assert (await call.metrics())["seq"] == FRESH_SCRAPES + 1
