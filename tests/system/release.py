"""Serves as a release with another version of the rules of learning would.

python tests/system/release.py NEWER

NEWER is how many versions its rules are ahead of this checkout's. If it is not 0, each event is
learned twice, so the same events make another state.
"""

import sys

from manyclass.cli.main import app
from manyclass.core import rules
from manyclass.core.enrolled import Enrolled

newer = int(sys.argv[1])
rules.RULES += newer
apply = Enrolled.apply


def apply_twice(self, event):
    apply(self, event)
    return apply(self, event)


if newer:
    Enrolled.apply = apply_twice
sys.argv[1:] = ["serve"]
app()
