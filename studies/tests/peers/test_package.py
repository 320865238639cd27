import pytest

from studies.peers import PEERS, PeerMissing
from studies.peers.package import imported


def test_a_missing_package_is_named_with_the_way_to_install_it():
    with pytest.raises(PeerMissing, match=r"no-such-thing.*make studies-env") as raised:
        imported("no_such_module", "no-such-thing")

    assert raised.value.package == "no-such-thing"


def test_a_module_that_is_there_is_returned():
    assert imported("json", "none").dumps([1]) == "[1]"


def test_every_peer_is_made_or_says_at_once_what_it_misses(monkeypatch):
    def nothing(module, package=None):
        raise ImportError(f"No module named {module!r}")

    monkeypatch.setattr("studies.peers.package.import_module", nothing)

    missing = set()
    for name, make in PEERS.items():
        try:
            assert make(0).name == name
        except PeerMissing as fault:
            missing.add(fault.package)

    assert missing == {
        "scikit-learn",
        "vowpalwabbit",
        "fasttext-wheel",
        "napkinxc",
        "omikuji",
        "river",
    }
