"""Each alert says what it means, where that is told in full, and is tested. `promtool` runs in
deploy/tests."""

import re
from pathlib import Path

import pytest
import yaml

from manyclass.service.observability.catalogue import HELP, PREFIX

ROOT = Path(__file__).parents[2]
PROMETHEUS = ROOT / "deploy" / "prometheus"
RULES = [
    rule
    for group in yaml.safe_load((PROMETHEUS / "alerts.yml").read_text())["groups"]
    for rule in group["rules"]
]
NAMES = [rule["alert"] for rule in RULES]
SECTIONS = re.findall(r"^## (\w+)$", (ROOT / "docs/alerts.md").read_text(), re.MULTILINE)


def base_names(expression):
    """Return the names of the service's metrics in an expression, without suffixes."""
    names = set(re.findall(rf"\b{PREFIX}(\w+)", expression))
    return {re.sub(r"_(bucket|sum|count)$", "", name) for name in names}


def test_every_alert_has_its_section_and_nothing_else_has():
    assert SECTIONS == NAMES
    assert len(set(NAMES)) == len(NAMES)


@pytest.mark.parametrize("rule", RULES, ids=NAMES)
def test_it_says_what_it_is(rule):
    severity = rule["labels"]["severity"]
    assert severity in ("critical", "warning", "info")
    assert rule["annotations"].keys() == {"summary", "description", "runbook_url"}
    assert rule["annotations"]["runbook_url"] == f"docs/alerts.md#{rule['alert'].lower()}"
    section = (ROOT / "docs/alerts.md").read_text().split(f"\n## {rule['alert']}\n\n")[1]
    assert section.startswith(severity.capitalize() + ". ")


@pytest.mark.parametrize("rule", RULES, ids=NAMES)
def test_its_metrics_are_metrics(rule):
    assert base_names(rule["expr"]) <= HELP.keys()


@pytest.mark.parametrize("name", NAMES)
def test_it_is_tested_to_fire_and_not_to(name):
    tests = yaml.safe_load((PROMETHEUS / "alerts_test.yml").read_text())["tests"]
    checks = [
        bool(check["exp_alerts"])
        for test in tests
        for check in test["alert_rule_test"]
        if check["alertname"] == name
    ]
    assert set(checks) == {True, False}
