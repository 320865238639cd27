"""Pods and containers of real isolation, by podman, on the storage of a check.

The namespaces, capabilities, seccomp and read-only root are those of a cluster; there is no network
but the loopback of each pod.
"""

import contextlib
import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from checking import CheckFailed, output_of

# Podman sets limits of processes and files that only a root of the whole machine may set.
RUNTIME = """\
#!{python3}
import json, os, pathlib, sys
for option, file in (("--bundle", "config.json"), ("--process", "")):
    if option in sys.argv:
        path = pathlib.Path(sys.argv[sys.argv.index(option) + 1], file)
        found = json.loads(path.read_text())
        found.get("process", found).pop("rlimits", None)
        path.write_text(json.dumps(found))
os.execv({runc!r}, ["runc", *sys.argv[1:]])
"""
CONFIG = """\
[containers]
netns = "none"
[engine]
cgroup_manager = "cgroupfs"
runtime = "runc"
events_logger = "none"
[engine.runtimes]
runc = ["{runtime}"]
"""
SECONDS = 60


class Podman:
    """Runs podman with images of a storage, in a folder of its own."""

    def __init__(self, folder: Path, storage: Path) -> None:
        runtime = folder / "runc"
        programs = {name: shutil.which(name) for name in ("python3", "runc")}
        runtime.write_text(RUNTIME.format(**programs))
        runtime.chmod(0o755)
        config = folder / "containers.conf"
        config.write_text(CONFIG.format(runtime=runtime))
        self._podman = [
            "env",
            f"CONTAINERS_CONF={config}",
            "podman",
            "--root",
            f"{storage}/storage",
            "--runroot",
            f"{storage}/run",
        ]
        self._podman += ["--storage-driver", "vfs"]

    def command(self, *arguments: str | Path) -> list[str | Path]:
        """Return a command of podman, whole."""
        return [*self._podman, *arguments]

    def __call__(self, *arguments: str | Path) -> str:
        """Return what a command of podman prints; CheckFailed if it fails."""
        return output_of(*self.command(*arguments))

    @contextlib.contextmanager
    def pod(self, manifest: Path) -> Iterator[str]:
        """Play a manifest of Kubernetes, and yield the name of its one container."""
        self("play", "kube", "--network", "none", manifest)
        try:
            names = json.loads(self("ps", "--all", "--format", "json"))
            [name] = [each["Names"][0] for each in names if not each["IsInfra"]]
            yield name
        finally:
            self("pod", "rm", "--all", "--force")

    @contextlib.contextmanager
    def container(self, *arguments: str) -> Iterator[str]:
        """Run a container in the background, and yield its name."""
        name = self("run", "--detach", "--network", "none", *arguments).splitlines()[-1]
        try:
            yield name
        finally:
            self("rm", "--force", name)

    def inside(self, name: str, *command: str) -> str:
        """Return what a command prints inside a container."""
        return self("exec", name, *command)

    def until_ready(self, name: str, probe: list[str]) -> None:
        """Wait until a probe inside the container succeeds; CheckFailed with its log if never."""
        end = time.monotonic() + SECONDS
        while True:
            try:
                self.inside(name, *probe)
            except CheckFailed as failure:
                if time.monotonic() > end:
                    raise CheckFailed(f"never ready: {failure}\n{self('logs', name)}") from failure
                time.sleep(1)
            else:
                return
