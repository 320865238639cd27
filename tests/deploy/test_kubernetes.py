"""The manifests are what Kubernetes knows, and fit each other and the service. None is applied."""

from pathlib import Path

import kubernetes_validate
import pytest
import yaml

from manyclass.service.config.settings import TABLE, read
from tests.deploy.test_image import DOCKERFILE, image_settings

FOLDER = Path(__file__).parents[2] / "deploy" / "kubernetes"
FILES = sorted(FOLDER.glob("*.yaml"))
VERSIONS = ("1.28", "1.37")
OPERATOR = "monitoring.coreos.com/"  # its resources have no schema here
NAME = {"app.kubernetes.io/name": "manyclass"}


def resource(file):
    return yaml.safe_load((FOLDER / file).read_text())


@pytest.fixture
def pod():
    return resource("deployment.yaml")["spec"]["template"]


@pytest.fixture
def container(pod):
    [only] = pod["spec"]["containers"]
    return only


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_manifest_has_no_field_that_kubernetes_does_not_know(file, version):
    found = resource(file.name)
    if found["kind"] == "Kustomization" or found["apiVersion"].startswith(OPERATOR):
        return
    kubernetes_validate.validate(found, version, strict=True)


def test_the_kustomization_lists_every_resource_but_the_secret():
    listed = resource("kustomization.yaml")["resources"]
    others = {"kustomization.yaml", "secret.example.yaml"}
    assert {*listed} == {file.name for file in FILES} - others


def test_everything_selects_the_same_pods(pod):
    assert pod["metadata"]["labels"] == NAME
    assert resource("service.yaml")["spec"]["selector"] == NAME
    for file, selector in (
        ("deployment.yaml", "selector"),
        ("disruption-budget.yaml", "selector"),
        ("network-policy.yaml", "podSelector"),
        ("service-monitor.yaml", "selector"),
    ):
        assert resource(file)["spec"][selector] == {"matchLabels": NAME}
    assert resource("service.yaml")["metadata"]["labels"] == NAME  # the monitor selects by them
    for constraint in pod["spec"]["topologySpreadConstraints"]:
        assert constraint["labelSelector"] == {"matchLabels": NAME}


def test_everything_names_a_port_that_is_there(container):
    [port] = container["ports"]
    assert str(port["containerPort"]) == image_settings()["MANYCLASS_PORT"]
    [served] = resource("service.yaml")["spec"]["ports"]
    [scraped] = resource("service-monitor.yaml")["spec"]["endpoints"]
    [allowed] = resource("network-policy.yaml")["spec"]["ingress"][0]["ports"]
    probes = [container[f"{kind}Probe"]["httpGet"]["port"] for kind in PROBES]
    assert {port["name"]} == {
        served["targetPort"],
        served["name"],
        scraped["port"],
        allowed["port"],
        *probes,
    }


PROBES = {"startup": "/livez", "liveness": "/livez", "readiness": "/readyz?to=rank"}


def test_a_process_that_restores_its_state_or_lost_its_store_is_not_killed(container):
    asked = {kind: container[f"{kind}Probe"]["httpGet"]["path"] for kind in PROBES}
    assert asked == PROBES


def test_the_settings_are_settings_and_the_secret_has_what_they_name(container):
    known = {row.variable for row in TABLE}
    secret = resource("secret.example.yaml")
    given = {entry["name"]: entry for entry in container["env"]}
    assert given.keys() <= known
    assert "MANYCLASS_STORE" in given
    keys = set()
    for entry in given.values():
        if "valueFrom" in entry:
            reference = entry["valueFrom"]["secretKeyRef"]
            assert reference["name"] == secret["metadata"]["name"]
            keys.add(reference["key"])
    assert keys == secret["stringData"].keys()
    assert all("REPLACE" in value for value in secret["stringData"].values())


def test_no_web_page_may_call_it(container):
    given = {entry["name"]: entry["value"] for entry in container["env"] if "value" in entry}
    assert read(given).allowed_origins == ()
    assert "MANYCLASS_ALLOWED_ORIGINS" in given


def test_it_has_no_rights_it_does_not_need(pod, container):
    spec = pod["spec"]
    assert spec["automountServiceAccountToken"] is False
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert f"--uid {spec['securityContext']['runAsUser']} " in DOCKERFILE
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert {mount["name"] for mount in container["volumeMounts"]} == {
        volume["name"] for volume in spec["volumes"]
    }


def test_rankings_go_on_while_a_process_or_a_node_is_replaced():
    spec = resource("deployment.yaml")["spec"]
    assert spec["replicas"] >= 3
    assert spec["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
    assert resource("disruption-budget.yaml")["spec"]["maxUnavailable"] == 1
    container = spec["template"]["spec"]["containers"][0]
    [_, pause] = container["lifecycle"]["preStop"]["exec"]["command"]
    assert int(pause) < spec["template"]["spec"]["terminationGracePeriodSeconds"]


def test_the_memory_fits_the_model(container):
    given = {entry["name"]: entry.get("value") for entry in container["env"]}
    gib = {
        place: int(container["resources"][place]["memory"].removesuffix("Gi"))
        for place in ("requests", "limits")
    }
    model = int(given["MANYCLASS_MAX_BYTES"].removesuffix("GiB"))
    assert model < gib["requests"] < gib["limits"]
    assert gib["limits"] >= 2 * model  # a copy is taken for a snapshot
