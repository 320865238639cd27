"""States of processes and of their log: replayed from a snapshot, hashed and compared."""

import hashlib
import json
import time

from manyclass.core.learners.options import Options
from manyclass.service.log.recovery import Recovery, recover
from manyclass.service.store.errors import StoreUnavailable
from tests.system.process import PATIENCE


def recovered(store):
    """Return the model of a store, whose servers may still be choosing one that takes writes."""
    ends = time.monotonic() + PATIENCE
    while True:
        try:
            return recover(store, Options(), time.time, Recovery())
        except StoreUnavailable:
            if time.monotonic() > ends:
                raise
            time.sleep(0.2)


class UpTo:
    """A store whose snapshots after `seq` are not seen."""

    def __init__(self, store, seq):
        self._store = store
        self._seq = seq

    def snapshots(self):
        return [info for info in self._store.snapshots() if info.seq <= self._seq]

    def __getattr__(self, name):
        return getattr(self._store, name)


def digest(state):
    """Return a hash of a state as a process showed it."""
    return hashlib.sha256(json.dumps(state, sort_keys=True).encode()).hexdigest()


def differences(states):
    """Return some differences between the first state and the others, for people."""
    (first, one), *others = states.items()
    told = []
    for number, other in others:
        for part in one:
            if one[part] != other[part]:
                told.append(f"{part} of {first} and {number}: {_some(one[part], other[part])}")
    return "; ".join(told)


def _some(one, other):
    if not isinstance(one, dict):
        return f"{one} {other}"
    names = [name for name in one.keys() | other.keys() if one.get(name) != other.get(name)]
    return {name: (one.get(name), other.get(name)) for name in sorted(names)[:5]}
