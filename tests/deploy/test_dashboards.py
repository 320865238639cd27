"""The dashboards are what the script makes, and add up what may be added up. Their queries run in
deploy/tests."""

import json
import re
from itertools import combinations
from pathlib import Path

import pytest

from deploy.generate import generated
from manyclass.service.observability.catalogue import HELP
from tests.deploy.test_alerts import base_names

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "deploy/grafana/dashboards").glob("*.json"))

# These follow from the events, which are the same in every process of a store.
REPLICATED = (
    "progressive_examples_total",
    "progressive_hits_total",
    "progressive_reciprocal_rank_total",
    'learn_events_total{result="learned"',
    "outdegree",
    "features{",
    "classes{",
    "edges{",
    "memory_bytes",
    "memory_limit_bytes",
    "evicted_total",
    "learner_memory_bytes",
    "mixture_weight",
    "vector_",
    "described_classes",
    "evidence_bytes",
    "learner_seconds_total",  # not the same, but each process counts what every event takes it
    "processes{",
    "snapshot_age_seconds",
    "snapshot_bytes",
    "seq{",
    "store_full{",
)


def panels():
    return [
        pytest.param(panel, id=f"{file.stem}: {panel['title']}")
        for file in FILES
        for panel in json.loads(file.read_text())["panels"]
    ]


def summed(expression):
    """Return the service's metrics, with labels, that an expression sums over processes."""
    return re.findall(r"\bsum(?: by \([\w, ]+\))? ?\((?:\w+\()*manyclass_(\w+\{[^}]*)", expression)


@pytest.mark.parametrize("path", generated(), ids=lambda path: path.name)
def test_the_files_are_what_the_script_makes(path):
    assert path.read_text() == generated()[path], "run: make generate"


def test_nothing_else_lies_beside_them():
    assert {*FILES} == {path for path in generated() if path.suffix == ".json"}


@pytest.mark.parametrize("panel", panels())
def test_every_panel_names_metrics_a_unit_and_its_lines(panel):
    assert panel["fieldConfig"]["defaults"]["unit"]
    assert panel["targets"]
    for target in panel["targets"]:
        assert base_names(target["expr"]) <= HELP.keys()
        assert 'job="$job", instance=~"$instance"' in target["expr"]
        labels = re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])
        grouped = re.findall(r"by \(([\w, ]+)\)", target["expr"])
        if grouped:
            assert set(labels) == {*re.split(", ", grouped[0])} - {"le"}


@pytest.mark.parametrize("panel", panels())
def test_replicated_metrics_are_not_summed(panel):
    for target in panel["targets"]:
        names = summed(target["expr"])
        same = [name.startswith(REPLICATED) for name in names]
        one_sum = r"sum(?: by \(learner\) )?\(.*\)"
        is_ratio = re.fullmatch(f"{one_sum} / {one_sum}", target["expr"])
        assert not any(same) or (is_ratio and all(same)), names  # as often above as below


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_panels_do_not_overlap_and_fit_the_grid(file):
    panels = json.loads(file.read_text())["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    places = [panel["gridPos"] for panel in panels]
    assert all(place["x"] + place["w"] <= 24 for place in places)
    for one, other in combinations(places, 2):
        apart = (
            one["x"] + one["w"] <= other["x"]
            or other["x"] + other["w"] <= one["x"]
            or one["y"] + one["h"] <= other["y"]
            or other["y"] + other["h"] <= one["y"]
        )
        assert apart, (one, other)
