import pytest

from manyclass.service.store.errors import StoreError
from manyclass.service.store.redis.url import OPTIONS, Kind, is_redis, parse


@pytest.mark.parametrize(
    ("url", "nodes", "db"),
    [
        ("redis://host", (("host", 6379),), 0),
        ("redis://host/", (("host", 6379),), 0),
        ("redis://host:7000/3", (("host", 7000),), 3),
        ("redis://127.0.0.1:7000/15?name=other", (("127.0.0.1", 7000),), 15),
        ("redis://[::1]:7000/1", (("::1", 7000),), 1),
        ("redis://[::1]", (("::1", 6379),), 0),
    ],
)
def test_a_server(url, nodes, db):
    parsed = parse(url)
    assert (parsed.kind, parsed.nodes, parsed.db, parsed.path) == (Kind.SERVER, nodes, db, None)
    assert not parsed.tls


def test_defaults():
    parsed = parse("redis://host")
    assert parsed.name == "manyclass"
    assert parsed.replicas == 0
    assert parsed.username is parsed.password is None
    assert parsed.ca_file is parsed.cert_file is parsed.key_file is None


@pytest.mark.parametrize(
    ("credentials", "username", "password"),
    [
        ("me:secret@", "me", "secret"),
        (":secret@", None, "secret"),
        ("me@", "me", None),
        ("m%40e:p%3A%2F%23%40@", "m@e", "p:/#@"),
        ("me:p@ss:word@", "me", "p@ss:word"),
    ],
)
@pytest.mark.parametrize("rest", ["redis://{}host/1", "unix://{}/run/redis.sock"])
def test_credentials(rest, credentials, username, password):
    parsed = parse(rest.format(credentials))
    assert (parsed.username, parsed.password) == (username, password)


def test_tls():
    parsed = parse("rediss://host?ca_file=/ca%20s.pem&cert_file=c.pem&key_file=k.pem")
    assert parsed.tls
    assert (parsed.ca_file, parsed.cert_file, parsed.key_file) == ("/ca s.pem", "c.pem", "k.pem")


def test_a_socket_file():
    parsed = parse("unix:///run/my%20redis.sock?db=2&name=x")
    assert (parsed.path, parsed.nodes, parsed.db, parsed.name) == ("/run/my redis.sock", (), 2, "x")
    assert parsed.shown == "/run/my redis.sock"


def test_sentinels():
    parsed = parse(
        "redis+sentinel://me:secret@one,two:5000,[::1]:5001/my-service/2"
        "?sentinel_username=it&sentinel_password=se%2Bcret&replicas=1"
    )
    assert parsed.kind is Kind.SENTINEL
    assert parsed.nodes == (("one", 26379), ("two", 5000), ("::1", 5001))
    assert (parsed.service, parsed.db, parsed.replicas) == ("my-service", 2, 1)
    assert (parsed.sentinel_username, parsed.sentinel_password) == ("it", "se+cret")
    assert parsed.shown == "my-service of one:26379,two:5000,::1:5001"
    assert parse("rediss+sentinel://one/service").tls


def test_a_cluster():
    parsed = parse("rediss+cluster://one,two:5000/0")
    assert parsed.kind is Kind.CLUSTER
    assert parsed.nodes == (("one", 6379), ("two", 5000))
    assert parsed.tls


@pytest.mark.parametrize(
    ("url", "what"),
    [
        ("redis:host", "unknown form"),
        ("redis+other://host", "unknown form"),
        ("unix+sentinel://host", "unknown form"),
        ("REDIS://host", "unknown form"),
        ("redis://", "host:port"),
        ("redis://host:port", "host:port"),
        ("redis://host:0", "port"),
        ("redis://host:65536", "port"),
        ("redis://one,two", "one host"),
        ("redis://ho st", "host:port"),
        ("redis://host/x", "database"),
        ("redis://host/-1", "database"),
        ("redis://host/0/1", "followed by a database only"),
        ("redis://host?db=1", "after the host"),
        ("redis://host?nmae=x", "'nmae' is unknown"),
        ("redis://host?name", "empty"),
        ("redis://host?na%20me=x", "name=value"),
        ("redis://host?name=", "empty"),
        ("redis://host?name=a&name=b", "twice"),
        ("redis://host?name=a{b}", "name"),
        ("redis://host?name=a%20b", "name"),
        ("redis://host?replicas=x", "replicas"),
        ("redis://host?replicas=-1", "replicas"),
        ("redis://host?ca_file=x", "rediss"),
        ("redis://host?sentinel_password=x", "sentinel"),
        ("redis://host#fragment", "%23"),
        ("unix://", "path"),
        ("unix://host/path", "no host"),
        ("redis+sentinel://host", "SERVICE"),
        ("redis+sentinel://host/service/x", "database"),
        ("redis+cluster://host/1", "database 0"),
        ("redis://[::1", "host:port|IPv6"),
    ],
)
def test_invalid_urls_are_refused(url, what):
    with pytest.raises(StoreError, match=what) as error:
        parse(url)
    assert "redis+sentinel://" in error.value.hint


@pytest.mark.parametrize(
    "url",
    [
        "redis://me:secret@host:port",
        "redis://me:secret@host/x",
        "redis://me:secret@host?nmae=x",
        "redis://me:se#cret@host",
        "redis://me:sec/ret@host",
        "redis://me:sec?ret@host",
        "redis://me:sec[ret@host",
        "redis+what://me:secret@host",
        "redis+sentinel://me:x@host/service?sentinel_password=secret&name=%",
    ],
)
def test_no_error_shows_a_password(url):
    with pytest.raises(StoreError) as error:
        parse(url)
    for part in ("secret", "cret", "sec/", "ret@"):
        assert part not in f"{error.value} {error.value.hint}"
    assert error.value.__context__ is None or error.value.__suppress_context__


def test_no_form_of_it_shows_a_password():
    parsed = parse(
        "redis+sentinel://me:secret1@host/service?sentinel_username=it&sentinel_password=secret2"
    )
    assert "secret" not in f"{parsed} {parsed!r} {parsed.shown}"


def test_urls_of_redis_are_recognised():
    for url in ("redis://h", "rediss://h", "redis+x://h", "redis:h", "redis", "unix:/x"):
        assert is_redis(url)
    for url in ("sqlite:redis", "memory:", "redisx://h", "unixx", ""):
        assert not is_redis(url)


def test_every_option_is_known():
    values = {"replicas": "1", "db": "1"}
    for option in OPTIONS:
        forms = {"db": "unix:///s", "ca_file": "rediss://h", "cert_file": "rediss://h"}
        forms |= {"key_file": "rediss://h"}
        default = "redis+sentinel://h/service" if option.startswith("sentinel") else "redis://h"
        parsed = parse(f"{forms.get(option, default)}?{option}={values.get(option, 'x')}")
        assert str(getattr(parsed, option)) == values.get(option, "x")
