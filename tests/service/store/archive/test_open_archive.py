"""URLs of archives: which there are, and what to write instead of others."""

import pytest

from manyclass.service.store.archive import open_archive
from manyclass.service.store.errors import StoreError


@pytest.mark.parametrize(
    "url",
    [
        "",
        "/var/lib/archive",
        "file:",
        "file:///",
        "file://archive",
        "file://host/archive",
        "file:///archive?x=1",
        "file:///archive#1",
        "file:///archive%00",
        "sqlite:archive.db",
        "redis://:hush@host/0",
        "http://me:hush@host/bucket",
        "s3:",
        "s3://",
        "s3://b",
        "s3:///prefix",
        "s3://bucket?key=hush",
        "s3://key:hush@bucket",
        "s3://bucket:hush",
        "s3://bucket/a//b",
        "s3://bucket/../b",
        "s3://bucket/a/.",
        "s3://bucket/a b",
        "s3://[bucket",
    ],
)
def test_other_urls_are_refused_with_what_to_write(url):
    with pytest.raises(StoreError) as caught:
        open_archive(url)
    assert "file:///PATH" in caught.value.hint
    assert "s3://BUCKET" in caught.value.hint
    assert "hush" not in f"{caught.value} {caught.value.hint}"


@pytest.mark.parametrize("url", ["s3://bucket", "s3://my.bucket-2/one/two=3/_x", "S3://bucket/"])
def test_buckets_and_prefixes_are_taken(url):
    assert open_archive(url).shown == url.lower().removesuffix("/")


def test_a_path_is_read_as_a_url(tmp_path):
    archive = open_archive(f"file://{tmp_path}/%C3%A4%20b/")
    archive.put("a/b", b"x")
    assert (tmp_path / "\xe4 b" / "a" / "b").read_bytes() == b"x"


@pytest.mark.parametrize("url", ["file:~/x", "file://~/x", "file:///~/x", "file:~/%78"])
def test_a_path_may_begin_at_the_home_folder(url, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    open_archive(url).put("a/b", b"x")
    assert (tmp_path / "x" / "a" / "b").read_bytes() == b"x"


@pytest.mark.parametrize("url", ["file:~nobody-here/x", "file://~nobody-here/x"])
def test_a_home_folder_that_is_not_there_is_named(url):
    with pytest.raises(StoreError) as caught:
        open_archive(url)
    assert "there is no user 'nobody-here'" in caught.value.hint
