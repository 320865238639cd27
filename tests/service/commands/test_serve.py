import socket

import pytest

from manyclass.service.server import StartFailed
from manyclass.service.store.protocol import StoreError


def test_a_store_that_cannot_be_opened_is_one_line(manyclass):
    result = manyclass("serve", "--store", "nowhere:")
    assert result.exit_code == 1
    assert result.stderr.startswith("manyclass: ")
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("error", [StoreError("broken", "mend it"), StartFailed("broken, mend it")])
def test_what_an_operator_can_do_is_said(manyclass, monkeypatch, error):
    def run(settings):
        raise error

    monkeypatch.setattr("manyclass.service.server.run", run)
    result = manyclass("serve", "--store", "memory:")
    assert result.exit_code == 1
    assert "broken" in result.stderr
    assert "mend it" in result.stderr
    assert "Traceback" not in result.output


def test_an_address_that_is_taken_has_an_exit_code_of_its_own(manyclass):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = manyclass("serve", "--store", "memory:", "--port", port)
    assert result.exit_code == 4
    assert f"cannot listen on 127.0.0.1:{port}" in result.stderr
    assert "--port" in result.stderr
    assert "Traceback" not in result.output


def test_ctrl_c_is_how_it_ends(manyclass, monkeypatch):
    def run(settings):
        raise KeyboardInterrupt

    monkeypatch.setattr("manyclass.service.server.run", run)
    assert manyclass("serve", "--store", "memory:").exit_code == 0
