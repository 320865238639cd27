"""manyclass store accept: a backup takes the place of a newer store, on purpose."""

import shutil
from contextlib import closing
from functools import partial

import pytest

from manyclass.service.store import open_store
from manyclass.service.store.errors import StoreDamaged


@pytest.fixture
def accept(manyclass):
    return partial(manyclass, "store", "accept")


def test_an_older_file_is_accepted_and_says_what_is_given_up(accept, tmp_path):
    url = f"sqlite:{tmp_path}/store.db"
    with closing(open_store(url, float)) as store:
        store.append([b"1"])
    shutil.copy(tmp_path / "store.db", tmp_path / "backup.db")
    with closing(open_store(url, float)) as store:
        store.append([b"2", b"3"])
    shutil.copy(tmp_path / "backup.db", tmp_path / "store.db")
    with pytest.raises(StoreDamaged, match="event 3 was acknowledged") as error:
        open_store(url, float)
    assert f"manyclass store accept {url}" in error.value.hint
    done = accept(url)
    assert "up to event 1" in done.stdout
    assert "given up: events 2 to 3" in done.stdout
    with closing(open_store(url, float)) as store:
        assert store.append([b"2"]) == 2


def test_a_missing_mark_is_said(accept, tmp_path):
    url = f"sqlite:{tmp_path}/store.db"
    with closing(open_store(url, float)) as store:
        store.append([b"1"])
    (tmp_path / "store.db.mark").unlink()
    assert "not known" in accept(url).stdout


def test_stores_that_cannot_be_accepted(accept, tmp_path):
    accept("memory:", exit_code=2)
    missing = accept(f"sqlite:{tmp_path}/none.db", exit_code=1)
    assert "there is no store" in missing.stderr
    url = f"sqlite:{tmp_path}/store.db"
    with closing(open_store(url, float)):
        in_use = accept(url, exit_code=1)
    assert "in use" in in_use.stderr
