"""The files of an operator name what exists. No container is started here."""

import re
import shlex
from pathlib import Path

import pytest
import yaml

from service.settings import TABLE, Settings, read

ROOT = Path(__file__).parents[1]
DOCKERFILE = (ROOT / "Dockerfile").read_text()


@pytest.fixture(scope="module")
def services():
    return yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]


def image_settings():
    return dict(re.findall(r"^ +(MANYCLASS_\w+)=(\S+)", DOCKERFILE, re.MULTILINE))


def test_what_is_mounted_is_there(services):
    mounted = [
        volume.split(":")[0]
        for service in services.values()
        for volume in service.get("volumes", [])
        if volume.startswith("./")
    ]
    assert len(mounted) == 2
    for path in mounted:
        assert (ROOT / path).exists(), path


def test_prometheus_scrapes_the_service_and_grafana_asks_prometheus(services):
    scrape = yaml.safe_load((ROOT / "deploy/prometheus/prometheus.yml").read_text())
    [target] = scrape["scrape_configs"][0]["static_configs"][0]["targets"]
    assert target == "manyclass:" + image_settings()["MANYCLASS_PORT"]
    sources = ROOT / "deploy/grafana/provisioning/datasources/prometheus.yml"
    [source] = yaml.safe_load(sources.read_text())["datasources"]
    assert source["url"] == "http://prometheus:9090"
    assert {"manyclass", "prometheus", "grafana"} == set(services)


def test_every_port_is_published_on_this_machine_only(services):
    ports = [port for service in services.values() for port in service["ports"]]
    assert len(ports) == 3
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_the_settings_are_settings(services):
    known = {row.variable for row in TABLE}
    composed = services["manyclass"]["environment"]
    assert image_settings().keys() <= known
    assert composed.keys() <= known
    without_keys = {
        name: re.sub(r"\$\{\w+:-(\w*)\}", r"\1", value) for name, value in composed.items()
    }
    settings = read({**image_settings(), **without_keys})
    assert settings == Settings(
        host="0.0.0.0", store="sqlite:/data/manyclass.db", insecure_open=True
    )


def test_what_the_image_copies_is_there_and_not_ignored():
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    copies = re.findall(r"^COPY (?!--from)(.*)$", DOCKERFILE, re.MULTILINE)
    paths = [path for copy in copies for path in shlex.split(copy)[:-1]]
    assert len(paths) == 6
    for path in paths:
        assert (ROOT / path).exists(), path
        assert f"!{path}" in ignored


def test_the_image_does_not_run_as_root_and_says_how_it_is():
    last_stage = DOCKERFILE.split("\nFROM ")[-1]
    assert re.search(r"^USER manyclass$", last_stage, re.MULTILINE)
    assert "HEALTHCHECK" in last_stage
    assert "/readyz" in last_stage
    assert "g++" not in last_stage
