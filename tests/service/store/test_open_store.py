import pytest

from manyclass.service.store import open_store
from manyclass.service.store.errors import StoreError
from manyclass.service.store.memory import MemoryStore
from manyclass.service.store.redis.store import RedisStore
from manyclass.service.store.sqlite.store import SqliteStore


def test_memory(tmp_path):
    assert isinstance(open_store("memory:", float), MemoryStore)


def test_sqlite_paths_may_be_relative_and_their_folder_is_made(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = open_store("sqlite:./a/b c?%41#/store.db", float)
    assert isinstance(store, SqliteStore)
    assert (tmp_path / "a/b c?%41#/store.db").is_file()
    monkeypatch.chdir("/")
    assert store.append([b"event"]) == 1  # and do not follow the process around
    assert list(store.read(0)) == [(1, b"event")]
    store.close()


@pytest.mark.parametrize(
    "url",
    ["", "memory", "memory:x", "sqlite:", "sqlite", "sqlite::memory:", "reddis://host", "/a/path"],
)
def test_any_other_url_is_refused_with_a_hint(url):
    with pytest.raises(StoreError, match="is not a store") as error:
        open_store(url, float)
    assert "sqlite:PATH" in error.value.hint
    assert "redis://" in error.value.hint


@pytest.mark.parametrize(
    "url", ["redis://host", "rediss://host", "unix:///path", "redis+cluster://h"]
)
def test_redis(url):
    assert isinstance(open_store(url, float, patience=1.0), RedisStore)


@pytest.mark.parametrize(
    "url",
    [
        "reddis://user:secret@host",
        "reddis:user:secret@host",
        "reddis//user:secret@host",
        "Redis://:se/cret@host",
        "redis:/user:secret@host",
    ],
)
def test_a_password_in_what_is_no_url_is_not_shown(url):
    with pytest.raises(StoreError) as error:
        open_store(url, float)
    assert "cret" not in f"{error.value} {error.value.hint}"


def test_a_store_that_has_to_be_there(redis_url, tmp_path):
    for url in (f"sqlite:{tmp_path}/none.db", redis_url):
        with pytest.raises(StoreError, match="there is no store"):
            _ = open_store(url, float, make_new=False).last_seq
        store = open_store(url, float)
        assert store.append([b"event"]) == 1  # the first look has not left one behind
        store.close()
        again = open_store(url, float, make_new=False)
        assert again.last_seq == 1
        again.close()


def test_a_path_may_begin_at_the_home_folder(tmp_path, monkeypatch):
    home = tmp_path / "home"
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(tmp_path)
    open_store("sqlite:~/data/x.db", lambda: 0.0).close()
    assert (home / "data" / "x.db").exists()
    open_store("sqlite:~x.db", lambda: 0.0).close()
    assert (tmp_path / "~x.db").exists()
    with pytest.raises(StoreError) as caught:
        open_store("sqlite:~nobody-here/x.db", lambda: 0.0)
    assert "there is no user 'nobody-here'" in caught.value.hint
    assert {each.name for each in tmp_path.iterdir() if each.is_dir()} == {"home"}
