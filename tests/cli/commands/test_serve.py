import errno
import os
import signal
import socket
import subprocess
import sys
from unittest.mock import Mock

import pytest

from manyclass.service.http import server
from manyclass.service.http.server import AddressUnavailable, StartFailed, check_address
from manyclass.service.store.errors import StoreError
from tests.service.faulty import PATIENCE


def test_a_store_that_cannot_be_opened_is_one_line(manyclass):
    result = manyclass("serve", "--store", "nowhere:", exit_code=1)
    assert result.stderr.startswith("manyclass: ")
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("error", [StoreError("broken", "mend it"), StartFailed("broken, mend it")])
def test_a_failed_start_names_its_remedy(manyclass, monkeypatch, error):
    monkeypatch.setattr("manyclass.service.http.server.run", Mock(side_effect=error))
    result = manyclass("serve", "--store", "memory:", exit_code=1)
    assert "broken" in result.stderr
    assert "mend it" in result.stderr
    assert "Traceback" not in result.output


def test_an_address_that_is_taken_has_an_exit_code_of_its_own(manyclass, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = manyclass("serve", "--port", port, exit_code=4)
    assert result.output == (
        f"manyclass: cannot listen on 127.0.0.1:{port}: Address already in use; stop the program"
        " that listens there, or choose another port with --port or MANYCLASS_PORT (0 chooses a"
        " free one), and also another --store or MANYCLASS_STORE if a service runs there (make run"
        " PORT=8100 STORE=sqlite:data/other.db); clients then need --url or MANYCLASS_URL\n"
    )
    assert not list(tmp_path.iterdir())


def test_a_port_that_was_just_left_can_be_taken():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as caller:
            accepted, _ = listener.accept()
            accepted.close()  # first, so that the address lingers
            caller.recv(1)
    check_address("127.0.0.1", port)


def test_an_address_of_a_family_that_the_kernel_lacks_is_left_out(monkeypatch):
    def without_ipv6(family, *arguments):
        if family == socket.AF_INET6:
            raise OSError(errno.EAFNOSUPPORT, "Address family not supported by protocol")
        return socket.socket(family, *arguments)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    kind = (socket.SOCK_STREAM, socket.IPPROTO_TCP, "")
    addresses = [
        (socket.AF_INET6, *kind, ("::1", port, 0, 0)),
        (socket.AF_INET, *kind, ("127.0.0.1", port)),
    ]
    monkeypatch.setattr(server, "socket", without_ipv6)
    monkeypatch.setattr(server, "getaddrinfo", lambda *names, **options: addresses)
    check_address("localhost", port)
    with socket.create_server(("127.0.0.1", port)), pytest.raises(AddressUnavailable):
        check_address("localhost", port)


@pytest.mark.parametrize("host", ["a..b", "a" * 64])
def test_a_host_that_cannot_be_a_name_is_named(host):
    with pytest.raises(AddressUnavailable, match=f"cannot listen on {host}:80: .* --host or"):
        check_address(host, 80)


def test_ctrl_c_is_how_it_ends(manyclass, monkeypatch):
    stopped = Mock(side_effect=KeyboardInterrupt)
    monkeypatch.setattr("manyclass.service.http.server.run", stopped)
    manyclass("serve", "--store", "memory:")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("module", ["typer", "uvicorn"])
def test_a_stop_amid_the_imports_is_a_success(module, number, tmp_path):
    # Short sleeps: Python runs no handler for a signal that comes just before a sleep begins.
    stand_in = "import time\nprint('importing', flush=True)\nwhile True: time.sleep(0.05)"
    (tmp_path / f"{module}.py").write_text(stand_in)
    command = [sys.executable, "-m", "manyclass", "serve", "--store", "memory:"]
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "importing\n"
        process.send_signal(number)
        assert process.wait(PATIENCE) == 0
        assert process.stderr.read() == ""
