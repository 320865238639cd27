"""The service starts with the environment of its pod. `deploy/image-check` runs the pod itself."""

import subprocess
import sys
from ipaddress import ip_address

import httpx
import pytest

from deploy import pod
from manyclass.service.config.settings import not_read, read
from tests.deploy.test_image import image_settings
from tests.system.process import Service

KEYS = {"rank-keys": "r", "learn-keys": "l", "admin-keys": "a"}


@pytest.fixture
def environment():
    """Return the variables of the container, on a store in memory."""
    return pod.environment(image_settings(), {"store": "memory:", **KEYS})


def test_the_variables_of_the_service_are_those_of_the_kubelet():
    links = pod.links()
    assert str(ip_address(links["MANYCLASS_SERVICE_HOST"])) == pod.ADDRESS
    assert links["MANYCLASS_PORT"] == f"tcp://{pod.ADDRESS}:80"
    assert {*links} == {
        *("MANYCLASS_SERVICE_HOST", "MANYCLASS_SERVICE_PORT", "MANYCLASS_SERVICE_PORT_HTTP"),
        *("MANYCLASS_PORT", "MANYCLASS_PORT_80_TCP", "MANYCLASS_PORT_80_TCP_PROTO"),
        *("MANYCLASS_PORT_80_TCP_PORT", "MANYCLASS_PORT_80_TCP_ADDR"),
    }


def test_the_pod_refuses_them_and_its_settings_are_the_same_with_them(environment):
    assert (
        pod.resource("deployment.yaml")["spec"]["template"]["spec"]["enableServiceLinks"] is False
    )
    assert environment["MANYCLASS_PORT"].startswith("tcp://")
    alone = {name: text for name, text in environment.items() if name not in pod.links()}
    alone["MANYCLASS_PORT"] = image_settings()["MANYCLASS_PORT"]
    assert read(environment) == read(alone)
    assert not_read(alone) == []
    assert len(not_read(environment)) == 1


def test_a_process_starts_with_them_and_says_that_it_did_not_read_them(tmp_path, environment):
    service = Service(tmp_path)
    service.environment = {"PATH": "/usr/bin:/bin", **environment, "MANYCLASS_HOST": "127.0.0.1"}
    service.command += ["--port", "0"]  # another than that of a service on this machine
    with service.start():
        answer = httpx.get(f"{service.url}/settings", headers={"Authorization": "Bearer a"})
        assert answer.json()["settings"]["MANYCLASS_MAX_BYTES"]["value"] == "2GiB"
    log = service.log.read_text()
    assert log.count("MANYCLASS_SERVICE_HOST") == 1


NOBODY = "http://127.0.0.1:9"


@pytest.mark.parametrize(
    ("command", "code"),
    [(["config"], 0), (["--version"], 0), (["learners", "list", "--url", NOBODY], 3)],
)
def test_other_commands_run_in_the_pod_too(environment, command, code):
    done = subprocess.run(
        [sys.executable, "-m", "manyclass", *command],
        env={"PATH": "/usr/bin:/bin", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert "is not a setting" not in done.stderr
