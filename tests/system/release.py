"""Serves as a release with another version of the rules of learning would.

python tests/system/release.py VERSION

From version 2 on each event is learned twice: the same events make another state.
"""

import sys

from manyclass.core import rules
from manyclass.core.model import Enrolled
from manyclass.service.cli import app

rules.RULES = int(sys.argv[1])
apply = Enrolled.apply


def apply_twice(self, event):
    apply(self, event)
    return apply(self, event)


if rules.RULES > 1:
    Enrolled.apply = apply_twice
sys.argv[1:] = ["serve"]
app()
