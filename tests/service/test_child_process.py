"""The children of the service: without its keys, and with no import from the current folder."""

import asyncio
import os
import subprocess
import threading
import time
from pathlib import Path

import pytest

from manyclass.service import child_process
from manyclass.service.child_process import environment_of
from manyclass.service.threads import LOW_PRIORITY
from tests.service.http.routes.test_advice import ended, teach
from tests.service.http.routes.test_sheets import sheets
from tests.service.serving import calling
from tests.training.tables import workbooks

SECRETS = {
    "MANYCLASS_ADMIN_KEYS": "hush",
    "AWS_SECRET_ACCESS_KEY": "hush",
    "REDISCLI_AUTH": "hush",
    "MANYCLASS_STORE": "redis://:hush@host/0",
}


def test_a_child_gets_what_it_needs_and_no_secret():
    needed = {"PATH": "/bin", "LANG": "C", "PYTHONPATH": "/src", "LD_PRELOAD": "a.so"}
    assert environment_of(needed | SECRETS) == needed


@pytest.fixture
def children(monkeypatch):
    """Return the environments of the children that are started, as the kernel has them."""
    found = []

    class Noted(subprocess.Popen):
        def __init__(self, command, **more):
            super().__init__(command, **more)
            if command[:1] == child_process.command_of("")[:1]:
                found.append(Path(f"/proc/{self.pid}/environ").read_bytes())

    monkeypatch.setattr(subprocess, "Popen", Noted)
    return found


async def test_no_child_has_a_secret_or_imports_a_file_of_the_folder(
    children, monkeypatch, tmp_path
):
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    for name in ("msgspec", "resource", "struct", "numpy"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('a stranger')")
    monkeypatch.chdir(tmp_path)
    async with calling() as call:
        await teach(call, 400)
        assert (await sheets(call, workbooks.workbook([["a"]]))).status_code == 200
        assert (await call("POST", "/rebuild")).status_code == 200
        assert (await call("POST", "/advice", {"seconds": 60})).status_code == 200
        assert (await ended(call))["state"] == "done"
    assert len(children) == 3
    assert not any(b"hush" in each for each in children)


async def test_advice_lowers_the_priority_of_its_own_thread_and_child_alone():
    async with calling() as call:
        await teach(call, 3_000)
        assert (await call("POST", "/advice")).status_code == 200
        advisor = call.app.api.state.advisor
        while advisor.state.at == 0 and advisor.is_running:
            await asyncio.sleep(0.01)
        assert _priority(advisor._child.pid) == max(LOW_PRIORITY, _priority(os.getpid()))
        await call("DELETE", "/advice")
        shared = await asyncio.gather(*(asyncio.to_thread(_own_priority) for _ in range(40)))
        assert {*shared} == {_priority(os.getpid())}


def _priority(pid):
    return os.getpriority(os.PRIO_PROCESS, pid)


def _own_priority():
    time.sleep(0.01)  # so that each thread of the pool has a turn
    return _priority(threading.get_native_id())
