"""Write the files made of others: dashboards, alert rules, pages and pictures.

python -m deploy.generate
"""

import json
from functools import cache
from pathlib import Path

import yaml

from deploy import pictures, reference_pages
from deploy.dashboards import DASHBOARDS
from manyclass.core.learners.reference import with_tables
from manyclass.service.config.reference import with_settings

HERE = Path(__file__).resolve().parent  # the same when it is imported through a link
DOCS = HERE.parent / "docs"
ROW_WIDTH = 24  # of Grafana's grid
HEIGHT = 8  # of a panel
OPTIONS = {
    "stat": {"reduceOptions": {"calcs": ["lastNotNull"]}, "graphMode": "area"},
    "timeseries": {
        "legend": {"displayMode": "list", "placement": "bottom"},
        "tooltip": {"mode": "multi", "sort": "desc"},
    },
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
    """Yield the panels with their positions: from left to right, row by row."""
    x = y = 0
    height = HEIGHT
    for number, described in enumerate(panels, 1):
        if x + described.width > ROW_WIDTH:
            x, y = 0, y + height
        height = HEIGHT // 2 if described.kind == "stat" else HEIGHT
        position = {"x": x, "y": y, "w": described.width, "h": height}
        yield _panel(number, described, position, source)
        x += described.width


def _panel(number, described, position, source):
    return {
        "id": number,
        "type": described.kind,
        "title": described.title,
        "description": described.description,
        "datasource": source,
        "gridPos": position,
        "fieldConfig": {
            "defaults": {"unit": described.unit, "min": described.least},
            "overrides": [],
        },
        "options": OPTIONS[described.kind],
        "targets": [
            {"refId": chr(ord("A") + n), "datasource": source, "expr": line, "legendFormat": legend}
            for n, (legend, line) in enumerate(described.lines.items())
        ],
    }


def written(model):
    """Return the model of a dashboard as JSON, a panel a line."""
    *fields, (_, panels) = model.items()
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in fields]
    lines.append('"panels": [\n' + ",\n".join(map(json.dumps, panels)) + "\n]")
    return "{\n" + ",\n".join(lines) + "\n}\n"


@cache
def generated():
    """Return the text of each generated file."""
    files = {
        HERE / f"grafana/dashboards/{name}.json": written(dashboard(name)) for name in DASHBOARDS
    }
    rules = yaml.safe_load((HERE / "prometheus/alerts.yml").read_text())
    resource = {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {"name": "manyclass"},
        "spec": rules,
    }
    head = "# Made of ../prometheus/alerts.yml by `python -m deploy.generate`.\n"
    text = yaml.safe_dump(resource, sort_keys=False, width=1000)
    files[HERE / "kubernetes/prometheus-rule.yaml"] = head + text
    for page, filled in (("settings.md", with_settings), ("learners.md", with_tables)):
        files[DOCS / page] = filled((DOCS / page).read_text())
    files |= {DOCS / name: page() for name, page in reference_pages.PAGES.items()}
    for name, picture in pictures.PICTURES.items():
        files[DOCS / f"pictures/{name}.svg"] = picture()
    return files


if __name__ == "__main__":
    for path, text in generated().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
