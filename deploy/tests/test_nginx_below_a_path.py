"""The service below a path of another site, by the nginx server that is to copy."""

import re
from urllib.parse import urljoin

import httpx
import pytest

from deploy.tests.programs import EVENT, INSTANCE, NginxBelowPath
from manyclass import Client
from tests.system.process import Service

PATH = "/manyclass"


@pytest.fixture(scope="module")
def nginx(tmp_path_factory):
    """Yield nginx in front of a process that trusts its header."""
    folder = tmp_path_factory.mktemp("below")
    with Service(folder, forwarded_prefix="yes") as service:
        service.start()
        upstream = int(service.url.rpartition(":")[2])
        with NginxBelowPath(folder / "nginx", upstream) as running:
            yield running


@pytest.mark.parametrize("sent", [{}, {"X-Forwarded-Prefix": "/evil"}])
def test_a_client_made_of_the_document_stays_below_the_path(nginx, sent):
    address = f"{nginx.url}{PATH}/openapi.json"
    [server] = httpx.get(address, headers=sent).json()["servers"]
    assert server["url"] == PATH
    base = urljoin(address, server["url"])
    assert httpx.post(f"{base}/learn", json=EVENT).json()["accepted"] == 1
    assert httpx.post(f"{base}/rank", json=INSTANCE).status_code == 200
    assert httpx.post(f"{nginx.url}/rank", json=INSTANCE).status_code == 404


@pytest.mark.parametrize("page", ["docs", "console"])
def test_every_file_of_the_pages_is_found(nginx, page):
    address = f"{nginx.url}{PATH}/{page}"
    text = httpx.get(address).text
    named = [urljoin(address, each) for each in re.findall(r'(?:href|src)="([^"]+)"', text)]
    files = [each for each in named if not each.startswith("data:")]
    assert len(files) >= 4
    for each in files:
        assert each.startswith(f"{nginx.url}{PATH}/")
        assert httpx.get(each).status_code == 200, each


def test_the_path_itself_leads_to_the_console(nginx):
    with httpx.Client(follow_redirects=True) as client:
        for address in (PATH, f"{PATH}/"):
            answer = client.get(f"{nginx.url}{address}", headers={"Accept": "text/html"})
            assert str(answer.url) == f"{nginx.url}{PATH}/console"
            assert answer.status_code == 200


@pytest.mark.parametrize("name", ["a b", "a/b", "a//b", "a%2Fb", "ä?#", "100%"])
def test_the_client_reaches_every_name(nginx, name):
    with Client(f"{nginx.url}{PATH}") as client:
        client.learn({"features": ["a"], "classes": [name]})
        assert client.class_(name).name == name


def test_metrics_are_not_public(nginx):
    for path in ("metrics", "/metrics", "x/../metrics", "%6Detrics"):
        assert httpx.get(f"{nginx.url}{PATH}/{path}").status_code == 404


def test_head_is_answered(nginx):
    answer = httpx.head(f"{nginx.url}{PATH}/openapi.json")
    assert answer.status_code == 200
    assert int(answer.headers["content-length"]) > 10_000
