"""Queries of Grafana and of the alerts, sent to a Prometheus that scrapes processes under load."""

import json
import re
from contextlib import ExitStack
from math import isfinite

import httpx
import pytest
import yaml

from deploy.ports import free_port
from deploy.tests.load import Load
from deploy.tests.programs import DEPLOY, PATIENCE, Prometheus, instant, until
from deploy.tests.replicas import ports_of, two_on_one_redis
from tests.system.process import Service

SETTINGS = {"shadows": "pa", "max_features": 3000, "store_seconds": 2, "rank_wait_seconds": 0.05}
RULES = [
    rule
    for group in yaml.safe_load((DEPLOY / "prometheus/alerts.yml").read_text())["groups"]
    for rule in group["rules"]
]
DASHBOARDS = [json.loads(path.read_text()) for path in sorted(DEPLOY.glob("grafana/**/*.json"))]


@pytest.fixture(scope="session")
def prometheus(tmp_path_factory):
    """Yield a Prometheus that scrapes two loaded processes on one Redis, and one with a history."""
    folder = tmp_path_factory.mktemp("prometheus")
    with ExitStack() as stack:
        redis, services = stack.enter_context(two_on_one_redis(folder, **SETTINGS))
        _refuse_to_learn(redis, services[0].url)
        (folder / "history").mkdir()
        rebuilt = stack.enter_context(Service(folder / "history", port=free_port())).start()
        _rebuild(rebuilt.url)
        ports = ports_of([*services, rebuilt])
        prometheus = stack.enter_context(Prometheus(folder / "prometheus", ports))
        stack.enter_context(Load([service.url for service in services]))
        for service in services:
            assert httpx.post(f"{service.url}/snapshots", timeout=PATIENCE).status_code == 201
        enough = 'min(count_over_time(up{job="manyclass"}[10s])) >= 9'
        until(lambda: prometheus.query(enough), lambda: prometheus.query("up"))
        yield prometheus


def _rebuild(url):
    """Have a service learn a corrected event again."""
    event = {"features": ["a"], "classes": ["x"], "event_id": "e-1"}
    httpx.post(f"{url}/learn", json=event).raise_for_status()
    httpx.put(f"{url}/events/e-1", json={"classes": ["y"]}).raise_for_status()
    httpx.post(f"{url}/rebuild", timeout=PATIENCE).raise_for_status()


def _refuse_to_learn(redis, url):
    """Let a request to learn meet a store that does not answer, and wait until it does again."""
    event = {"features": ["a"], "classes": ["x"]}
    redis.pause()
    assert httpx.post(f"{url}/learn", json=event, timeout=PATIENCE).status_code == 503
    redis.resume()
    until(lambda: httpx.post(f"{url}/learn", json=event).status_code == 200, lambda: url)


def targets():
    return [
        pytest.param(target["expr"], id=f"{dashboard['title']}: {panel['title']} {target['refId']}")
        for dashboard in DASHBOARDS
        for panel in dashboard["panels"]
        for target in panel["targets"]
    ]


@pytest.mark.parametrize("expression", targets())
def test_every_line_of_every_panel_has_data(prometheus, expression):
    values = prometheus.query(instant(expression))
    assert any(map(isfinite, values)), values


@pytest.mark.parametrize("dashboard", DASHBOARDS, ids=lambda dashboard: dashboard["uid"])
def test_every_variable_has_values(prometheus, dashboard):
    queries = [variable["query"] for variable in dashboard["templating"]["list"]]
    asked = [query["query"] for query in queries if isinstance(query, dict)]
    assert len(asked) == 2
    for query in asked:
        series, label = re.fullmatch(r"label_values\((.*), (\w+)\)", query).groups()
        values = prometheus.ask(f"label/{label}/values", **{"match[]": instant(series)})
        assert len(values) == {"job": 1, "instance": 3}[label]


def selectors(expression):
    """Return the series in an expression, without range and offset."""
    found = re.findall(r"\b(?:manyclass_\w+|up)(?:\{[^}]*\})?", expression)
    assert found
    return found


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_every_alert_is_understood_and_asks_for_what_there_is(prometheus, rule):
    prometheus.query(rule["expr"])
    for selector in selectors(rule["expr"]):
        assert prometheus.query(selector), selector


def test_prometheus_evaluates_every_alert(prometheus):
    loaded = [rule for group in prometheus.ask("rules")["groups"] for rule in group["rules"]]
    assert {rule["name"] for rule in loaded} == {rule["alert"] for rule in RULES}
    assert {(rule["health"], rule.get("lastError", "")) for rule in loaded} == {("ok", "")}
