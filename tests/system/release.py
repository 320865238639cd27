"""Serves as a release with another version of the rules of learning would.

python tests/system/release.py NEWER

NEWER is how many versions its rules are ahead of this checkout's. If it is not 0, each event is
learned twice, so the same events make another state.
"""

import sys

from manyclass.cli.main import app
from manyclass.core import rules
from manyclass.core.enrolled import Enrolled
from manyclass.core.model import Model

newer = int(sys.argv[1])
rules.RULES += newer
apply = Enrolled.apply


def apply_twice(self, event):
    apply(self, event)
    return apply(self, event)


def apply_in_steps(self, seq, event, clock=None):
    """Apply an event by `Enrolled.apply`, never as one native call."""
    outcome = self._apply(seq, event, clock)
    if event.event_id is not None:
        self.recent.add(event.event_id, seq, event.fingerprint)
    return outcome


if newer:
    Enrolled.apply = apply_twice
    Enrolled.learns_batches = property(lambda self: False)
    Model.apply = apply_in_steps
sys.argv[1:] = ["serve"]
app()
