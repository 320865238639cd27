"""The version of the rules by which events change the state.

All processes on one log must derive the same state from the same events. Increase RULES by one,
and only here, in each commit after which the same events lead to another state: a changed rule of
learning or eviction, a changed order of additions, a changed default that events do not contain.
Increase it too for a changed analysis of texts (text.pyx): events contain features already, but
rankings would use other features than those learned.

The version in force is part of the state. A log begins with the version of the release that made
it; the event "rules" raises it. A release implements only its own version and raises RulesDiffer
for any other.

1: those of release 0.1.0.
"""

RULES = 1
