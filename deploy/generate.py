"""Write the files made of others: dashboards, alert rules for Kubernetes, old metrics, tables.

python -m deploy.generate
"""

import json
from pathlib import Path

import yaml

from deploy.dashboards import DASHBOARDS, dashboard
from manyclass.core.learners.reference import with_tables
from manyclass.service.config.reference import with_settings
from manyclass.service.observability.catalogue import BY_ROLE, OLD_NAMES, PREFIX

HERE = Path(__file__).resolve().parent  # the same when it is imported through a link
DOCS = HERE.parent / "docs"


OLD_NAMES_HEAD = """\
# Made by `python -m deploy.generate`: metrics under the names they had before 0.2, for one release.
# Load this file beside alerts.yml until your own rules and dashboards use the new names. The second
# group adds a series with role="answers" to each with role="primary": a sum over all roles counts
# the primary learner twice meanwhile.
"""


def old_names():
    """Return the recording rules of metrics under their old names."""
    names = [{"record": PREFIX + old, "expr": PREFIX + new} for old, new in OLD_NAMES.items()]
    roles = [
        {
            "record": PREFIX + name,
            "expr": f'{PREFIX}{name}{{role="primary"}}',
            "labels": {"role": "answers"},
        }
        for name in BY_ROLE
    ]
    groups = {"manyclass-old-names": names, "manyclass-old-roles": roles}
    return {"groups": [{"name": name, "rules": rules} for name, rules in groups.items()]}


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
    text = yaml.safe_dump(old_names(), sort_keys=False, width=1000)
    files[HERE / "prometheus/old_names.yml"] = OLD_NAMES_HEAD + text
    for page, filled in (("settings.md", with_settings), ("learners.md", with_tables)):
        files[DOCS / page] = filled((DOCS / page).read_text())
    return files


if __name__ == "__main__":
    for path, text in generated().items():
        path.write_text(text)
