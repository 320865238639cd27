"""Writes what is made of other files: dashboards, and the alert rules as Kubernetes wants them.

python -m deploy.generate
"""

import json
from pathlib import Path

import yaml

from deploy.dashboards import DASHBOARDS, dashboard

HERE = Path(__file__).resolve().parent  # the same when it is imported through a link


def generated():
    """Return the text of each generated file."""
    files = {
        HERE / f"grafana/dashboards/{name}.json": json.dumps(dashboard(name), indent=2) + "\n"
        for name in DASHBOARDS
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
    return files


if __name__ == "__main__":
    for path, text in generated().items():
        path.write_text(text)
