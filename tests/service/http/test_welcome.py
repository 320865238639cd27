import logging

import httpx
import pytest

from manyclass.service.http import server
from manyclass.service.http.welcome import url_of, welcome
from tests.service.serving import serving, until


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:8000"),
        ("0.0.0.0", "http://localhost:8000"),
        ("::", "http://localhost:8000"),
        ("::1", "http://[::1]:8000"),
        ("rank.example", "http://rank.example:8000"),
    ],
)
def test_the_url_can_be_opened_in_a_browser(host, url):
    assert url_of(host, 8000) == url


def test_the_commands_name_the_service_unless_it_is_the_default():
    assert "manyclass learn FILE (" in welcome("http://127.0.0.1:8000", 8000, 0)[2]
    commands = welcome("http://127.0.0.1:8001", 8001, 0)[2]
    assert "manyclass learn FILE --url http://127.0.0.1:8001 (" in commands


def test_an_empty_service_says_how_to_begin_until_it_learned(caplog, tmp_path):
    caplog.set_level(logging.INFO, server.__name__)
    store = f"sqlite:{tmp_path / 'manyclass.db'}"

    with serving(store=store) as served:
        until(lambda: "manyclass demo" in caplog.text)
        [said] = [each for each in caplog.messages if each.startswith("ready")]
        assert said == f"ready, with a console at {served.url}/console"
        assert httpx.get(f"{served.url}/console").status_code == 200
        assert "two samples" in caplog.text
        event = {"features": ["a"], "classes": ["x"]}
        assert httpx.post(f"{served.url}/learn", json=event).status_code == 200
    caplog.clear()

    with serving(store=store) as served:
        until(lambda: f"{served.url}/console" in caplog.text)
        assert [each for each in caplog.messages if each.startswith("ready")]
        assert "manyclass demo" not in caplog.text
        assert "samples" not in caplog.text
