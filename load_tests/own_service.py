"""The service of a load test, on one core; its clients have the other."""

import os
import tempfile
from contextlib import contextmanager

from benchmarks.process import ServerProcess
from deploy.ports import free_port


@contextmanager
def own_service(source):
    """Serve from the checkout `source`, with a new SQLite store; yield the server and its port."""
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[-1]})
    with tempfile.TemporaryDirectory(prefix="manyclass-load-") as folder:
        port = free_port()
        environment = {
            "MANYCLASS_PORT": str(port),
            "MANYCLASS_STORE": f"sqlite:{folder}/manyclass.db",
            "MANYCLASS_SNAPSHOT_SECONDS": "0",
            "PYTHONPATH": str(source / "src"),
        }
        command = ["manyclass", "serve"]
        with ServerProcess(command, port, {cores[0]}, environment, "/readyz") as server:
            yield server, port
