import pytest

from manyclass.service.store.sqlite.store import SqliteStore


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.db"


@pytest.fixture
def opened(path):
    """Return a function that opens the store after closing the one opened before."""
    stores = []

    def open_again(salvage=False):
        for store in stores:
            store.close()
        stores.append(SqliteStore(path, lambda: 1.0, salvage))
        return stores[-1]

    yield open_again
    for store in stores:
        store.close()


@pytest.fixture
def store(opened):
    return opened()
