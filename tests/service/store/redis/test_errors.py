import pytest
from redis import exceptions
from redis._parsers import _RESP2Parser

from manyclass.service.store.errors import StoreDamaged, StoreError, StoreFull, StoreUnavailable
from manyclass.service.store.redis.errors import errors_of_store, lost, store_error


def answered(text):
    """Return the library's exception for an error of the server."""
    return _RESP2Parser.parse_error(text)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("OOM command not allowed when used memory > 'maxmemory'.", StoreFull),
        ("ERR Error running script: @user_script: 9: -OOM command not allowed", StoreFull),
        ("MISCONF Errors writing to the AOF file: No space left on device", StoreFull),
        ("MISCONF Redis is configured to save RDB snapshots, but", StoreUnavailable),
        ("READONLY You can't write against a read only replica.", StoreUnavailable),
        ("ERR Error running script: @user_script: 9: -READONLY You can't", StoreUnavailable),
        ("LOADING Redis is loading the dataset in memory", StoreUnavailable),
        ("MASTERDOWN Link with MASTER is down", StoreUnavailable),
        ("CLUSTERDOWN The cluster is down", StoreUnavailable),
        ("CLUSTERDOWN Hash slot not served", StoreUnavailable),
        ("TRYAGAIN Multiple keys request during rehashing of slot", StoreUnavailable),
        ("MOVED 3999 127.0.0.1:6381", StoreUnavailable),
        ("ASK 3999 127.0.0.1:6381", StoreUnavailable),
        ("NOREPLICAS Not enough good replicas to write.", StoreUnavailable),
        ("BUSY Redis is busy running a script.", StoreUnavailable),
        ("UNBLOCKED force unblock from blocking operation", StoreUnavailable),
        ("ERR max number of clients reached", StoreUnavailable),
        ("REPLACED the store was emptied or replaced", StoreUnavailable),
        ("NOLEASE another process leads", StoreUnavailable),
        ("WRONGTYPE Operation against a key", StoreDamaged),
        ("NOFACTS there are events of an unknown store", StoreDamaged),
        ("NOAUTH Authentication required.", StoreError),
        ("WRONGPASS invalid username-password pair", StoreError),
        ("NOPERM this user has no permissions to run the 'info' command", StoreError),
        ("ERR something else", StoreError),
    ],
)
def test_errors_of_the_server(text, kind):
    with pytest.raises(StoreError) as error, errors_of_store("host:1"):
        raise answered(text)
    assert type(error.value) is kind
    assert "host:1" in str(error.value)
    assert error.value.hint or text == "ERR something else"
    assert not lost(answered(text)) or "clients" in text


@pytest.mark.parametrize(
    "error",
    [
        exceptions.ConnectionError("Connection refused"),
        exceptions.TimeoutError("Timeout reading from socket"),
        exceptions.InvalidResponse("Protocol Error"),
    ],
)
def test_no_answer(error):
    assert type(store_error("host:1", error)) is StoreUnavailable
    assert lost(error)
