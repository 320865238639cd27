"""The compose files name what exists, and fit each other. No container is started here."""

import re
import shlex
from pathlib import Path

import pytest
import yaml

from manyclass.service.config.settings import TABLE, Settings, read
from manyclass.service.http.csrf import CsrfGuard
from manyclass.service.http.problems import Problem
from tests.deploy.test_image import DIGEST, image_settings

ROOT = Path(__file__).parents[2]
SINGLE = "docker-compose.yml"
REPLICATED = "docker-compose.redis.yml"
PROCESSES = {SINGLE: ["manyclass"], REPLICATED: ["manyclass-1", "manyclass-2"]}
STORE = "redis://redis:6379/0?name=manyclass"


def composed(file):
    return yaml.safe_load((ROOT / file).read_text())


def mounts(service):
    """Path in the container -> path here, of what is mounted from here."""
    pairs = (volume.split(":")[:2] for volume in service.get("volumes", []))
    return {inside: ROOT / outside for outside, inside in pairs if outside.startswith("./")}


@pytest.fixture(params=PROCESSES)
def file(request):
    return request.param


@pytest.fixture
def services(file):
    return composed(file)["services"]


def test_mounted_paths_exist(file, services):
    mounted = [path for service in services.values() for path in mounts(service).values()]
    assert len(mounted) == (5 if file == SINGLE else 6)
    for path in mounted:
        assert path.exists(), path


def test_volumes_networks_and_dependencies_are_declared(file, services):
    declared = composed(file)
    for service in services.values():
        named = [volume.split(":")[0] for volume in service.get("volumes", [])]
        assert {name for name in named if not name.startswith("./")} <= declared["volumes"].keys()
        assert {*service.get("networks", [])} <= declared.get("networks", {}).keys()
        assert {*service.get("depends_on", [])} <= services.keys()


def test_every_image_of_others_is_named_by_an_exact_version_and_its_digest(services):
    for service in services.values():
        if "build" not in service:
            assert re.fullmatch(rf"[a-z/]+:v?\d+\.\d+\.\d+(-alpine)?{DIGEST}", service["image"])


def test_every_port_is_published_on_this_machine_only(services):
    ports = [port for service in services.values() for port in service.get("ports", [])]
    assert len(ports) == 3
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_the_settings_are_settings(file, services):
    known = {row.variable for row in TABLE}
    for name in PROCESSES[file]:
        environment = services[name]["environment"]
        assert environment.keys() <= known
        without_keys = {
            name: re.sub(r"\$\{\w+:-(\w*)\}", r"\1", value) for name, value in environment.items()
        }
        settings = read({**image_settings(), **without_keys})
        places = {"store": STORE, "archive": "file:///data/archive"}
        if file == SINGLE:
            places = {"store": "sqlite:/data/manyclass.db"}
        hosts = tuple(PROCESSES[file])
        assert settings == Settings(
            host="0.0.0.0", insecure_open=True, allowed_hosts=hosts, **places
        )


def test_both_processes_keep_the_history_in_one_volume():
    services = composed(REPLICATED)["services"]
    volumes = [services[name]["volumes"] for name in PROCESSES[REPLICATED]]
    assert volumes[0] == volumes[1] == ["archive:/data"]


def test_no_web_page_may_call_it_unless_the_environment_names_its_origin(file, services):
    for name in PROCESSES[file]:
        text = services[name]["environment"]["MANYCLASS_ALLOWED_ORIGINS"]
        assert text == "${MANYCLASS_ALLOWED_ORIGINS:-}"
        assert read({"MANYCLASS_ALLOWED_ORIGINS": ""}).allowed_origins == ()


def test_it_answers_to_localhost_to_prometheus_and_to_names_that_are_added(file, services):
    for name in PROCESSES[file]:
        text = services[name]["environment"]["MANYCLASS_ALLOWED_HOSTS"]
        given = text.replace("${MANYCLASS_ALLOWED_HOSTS:-}", "rank.example:8443, [::2]")
        hosts = read({"MANYCLASS_ALLOWED_HOSTS": given}).allowed_hosts
        assert hosts == (*PROCESSES[file], "rank.example", "[::2]")
        guard = CsrfGuard("0.0.0.0", open_to_all=True, hosts=hosts)
        for host in ("localhost:8000", "127.0.0.1:8000", f"{name}:8000", "rank.example"):
            guard.require("GET", {b"host": host.encode()})
        with pytest.raises(Problem, match=r"'page\.example'.*MANYCLASS_ALLOWED_HOSTS"):
            guard.require("GET", {b"host": b"page.example:8000"})


def test_prometheus_scrapes_every_process_and_knows_the_alerts(file, services):
    mounted = mounts(services["prometheus"])
    config = yaml.safe_load(mounted["/etc/prometheus/prometheus.yml"].read_text())
    [job] = config["scrape_configs"]
    assert job["job_name"] == "manyclass"
    [discovery] = job["file_sd_configs"]
    [targets] = discovery["files"]
    [listed] = yaml.safe_load(mounted[f"/etc/prometheus/{targets}"].read_text())
    port = image_settings()["MANYCLASS_PORT"]
    assert listed == {"targets": [f"{name}:{port}" for name in PROCESSES[file]]}
    for rules in config["rule_files"]:
        assert mounted[f"/etc/prometheus/{rules}"].exists()


def test_grafana_asks_prometheus_and_finds_the_dashboards(services):
    mounted = mounts(services["grafana"])
    provisioning = mounted["/etc/grafana/provisioning"]
    [source] = yaml.safe_load((provisioning / "datasources/prometheus.yml").read_text())[
        "datasources"
    ]
    assert source["url"] == "http://prometheus:9090"
    [provider] = yaml.safe_load((provisioning / "dashboards/manyclass.yml").read_text())[
        "providers"
    ]
    assert list(mounted[provider["options"]["path"]].glob("*.json"))


def test_both_run_the_same_prometheus_and_grafana():
    single, replicated = (composed(file)["services"] for file in (SINGLE, REPLICATED))
    assert single["grafana"] == replicated["grafana"]
    assert single["prometheus"]["image"] == replicated["prometheus"]["image"]


def test_nginx_leads_to_both_processes():
    services = composed(REPLICATED)["services"]
    nginx = services["nginx"]
    text = mounts(nginx)["/etc/nginx/nginx.conf"].read_text()
    port = image_settings()["MANYCLASS_PORT"]
    named = re.findall(r"^\s+server (\S+) ", text, re.MULTILINE)
    assert {*named} == {f"{name}:{port}" for name in PROCESSES[REPLICATED]}
    assert {*nginx["depends_on"]} == {*PROCESSES[REPLICATED]}
    [published] = nginx["ports"]
    assert f"listen {published.split(':')[-1]};" in text
    assert nginx["entrypoint"][0] == "nginx"
    assert "/etc/nginx/nginx.conf" in nginx["entrypoint"]


def test_redis_loses_nothing_evicts_nothing_and_is_only_for_the_processes():
    file = composed(REPLICATED)
    services = file["services"]
    words = shlex.split(services["redis"]["command"])
    assert words[0] == "redis-server"
    options = dict(zip(words[1::2], words[2::2], strict=True))
    assert options["--appendonly"] == "yes"
    assert options["--appendfsync"] == "always"
    assert options["--maxmemory-policy"] == "noeviction"
    assert any(volume.endswith(":/data") for volume in services["redis"]["volumes"])
    [network] = services["redis"]["networks"]
    assert file["networks"][network]["internal"] is True
    on_it = {name for name, each in services.items() if network in each.get("networks", [])}
    assert on_it == {"redis", *PROCESSES[REPLICATED]}
    assert "ports" not in services["redis"]
