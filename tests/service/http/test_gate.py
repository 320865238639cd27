"""The check of keys and hosts that both tiers share."""

import pytest

from manyclass.service.http.gate import Hosts, Keys

NO_KEY, UNKNOWN = -1, 0


@pytest.mark.parametrize(
    ("header", "scope"),
    [
        (b"Bearer r", 1),
        (b"bearer l", 2),
        (b"BEARER a", 3),
        (b"Bearer   r", 1),
        (b"Bearer \tr \t", 1),
        (b"Bearer twice", 3),  # the highest scope of the key
        (b"Bearer R", UNKNOWN),
        (b"Bearer rr", UNKNOWN),
        (b"Bearer ", UNKNOWN),
        (b"Bearer   ", UNKNOWN),
        (b"Bearer", NO_KEY),
        (b"Basic r", NO_KEY),
        (b" Bearer r", NO_KEY),
        (b"", NO_KEY),
    ],
)
def test_the_scope_of_a_key(header, scope):
    scopes = [(b"r", 1), (b"twice", 1), (b"l", 2), (b"a", 3), (b"twice", 3), (b"twice", 2)]
    keys = Keys([(key, scope, b"of %s %d" % (key, scope)) for key, scope in scopes])
    granted, name = keys.granted_to(header)
    assert granted == scope
    assert name.endswith(b" %d" % scope) if scope > 0 else name == b""


@pytest.mark.parametrize(
    ("host", "is_known"),
    [
        (b"app.example", True),
        (b"APP.example:8000", True),
        (b"[::1]", True),
        (b"[::1]:8000", True),
        (b"page.example", False),
        (b"app.example.", False),
        (b"[::1", False),
        (b"::1", False),
        (b"", False),
        (b":80", False),
    ],
)
def test_names_of_hosts(host, is_known):
    assert Hosts([b"[::1]", b"app.example"]).have(host) == is_known
    assert Hosts([]).have(host)
