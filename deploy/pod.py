"""The pod of kubernetes/deployment.yaml as a cluster makes it, for checks and tests."""

from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).resolve().parent / "kubernetes"
ADDRESS = "10.96.0.17"  # of the Service in the cluster


def resource(file: str) -> Any:
    """Return the resource that a file of kubernetes/ describes."""
    return yaml.safe_load((FOLDER / file).read_text())


def links() -> dict[str, str]:
    """Return the variables that the kubelet sets for the Service, unless the pod refuses them."""
    service = resource("service.yaml")
    name = service["metadata"]["name"].upper().replace("-", "_")
    ports = service["spec"]["ports"]
    found = {
        f"{name}_SERVICE_HOST": ADDRESS,
        f"{name}_SERVICE_PORT": str(ports[0]["port"]),
        f"{name}_PORT": f"tcp://{ADDRESS}:{ports[0]['port']}",
    }
    for port in ports:
        number = port["port"]
        found |= {
            f"{name}_SERVICE_PORT_{port['name'].upper()}": str(number),
            f"{name}_PORT_{number}_TCP": f"tcp://{ADDRESS}:{number}",
            f"{name}_PORT_{number}_TCP_PROTO": "tcp",
            f"{name}_PORT_{number}_TCP_PORT": str(number),
            f"{name}_PORT_{number}_TCP_ADDR": ADDRESS,
        }
    return found


def with_values(template: dict[str, Any], secret: dict[str, str]) -> dict[str, Any]:
    """Return the pod of a Deployment with the values of the Secret that it names."""
    [container] = template["spec"]["containers"]
    given = [
        {"name": each["name"], "value": secret[each["valueFrom"]["secretKeyRef"]["key"]]}
        if "valueFrom" in each
        else each
        for each in container["env"]
    ]
    spec = {**template["spec"], "containers": [{**container, "env": given}]}
    return {**template, "spec": spec}


def environment(image: dict[str, str], secret: dict[str, str]) -> dict[str, str]:
    """Return the variables of a container: of the image, of the Service, and of the manifest.

    The later replace the earlier, as the kubelet has it. The Service has its own also where the pod
    refuses them, since a manifest of your own may not.
    """
    pod = with_values(resource("deployment.yaml")["spec"]["template"], secret)
    [container] = pod["spec"]["containers"]
    return {**image, **links(), **{each["name"]: each["value"] for each in container["env"]}}
