"""The service on Redis, with an archive of its history and without."""

import pytest

from tests.redis_server import RedisServer
from tests.s3_server import S3Server
from tests.service.history.redis_cluster import History


@pytest.fixture
def server(tmp_path):
    with RedisServer(tmp_path / "redis") as started:
        yield started


@pytest.fixture
def archive(tmp_path):
    return (tmp_path / "archive").as_uri()


@pytest.fixture(params=["folder", "log only"])
def history(request, server, tmp_path, archive, monkeypatch):
    """Yield the service with an archive in a folder and without one; "s3" has to be asked for."""
    if request.param != "s3":
        yield History(server, archive if request.param == "folder" else None)
        return
    with S3Server(tmp_path / "s3") as s3:
        for name, value in s3.environment.items():
            monkeypatch.setenv(name, value)
        yield History(server, f"s3://{s3.bucket}/history")


@pytest.fixture
def archived(server, archive):
    return History(server, archive)
