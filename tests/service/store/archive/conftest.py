"""The archives under the contract suite, and places for new ones."""

from itertools import count

import pytest

from manyclass.service.store.archive import open_archive
from tests.s3_server import S3Server

NUMBERS = count(1)


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory):
    """Yield a server for all tests, each with its own prefix; never killed."""
    with S3Server(tmp_path_factory.mktemp("s3")) as server:
        yield server


@pytest.fixture
def of_aws(monkeypatch):
    """Return a function that sets the environment of AWS, and nothing else of it."""

    def use(server, **changed):
        for name, value in {**server.environment, **changed}.items():
            monkeypatch.setenv(name, value)
        return server

    return use


@pytest.fixture
def s3_url(s3_server, of_aws):
    """Return the URL of an empty archive in S3, to be opened in this process."""
    of_aws(s3_server)
    return f"s3://{s3_server.bucket}/test{next(NUMBERS)}"


@pytest.fixture(params=["folder", "s3"])
def url(request, tmp_path):
    """Return the URL of an empty archive."""
    if request.param == "folder":
        return (tmp_path / "new" / "archive").as_uri()
    return request.getfixturevalue("s3_url")


@pytest.fixture
def archive(url):
    return open_archive(url)
