"""The version of the rules by which events change the state.

All processes on one log must derive the same state from the same events. Raise RULES, by one and
only here, in the commit after which the same events lead to another state: another rule of
learning or of eviction, another order of additions, another default that no event holds. Raise it
too for another analysis of texts (text.py): the events hold features already, but another release
would rank by other features than those learned.

The version in force is part of the state. A log begins with the version of the release that made
it; the event "rules" raises it. A release has the rules of its own version only and raises
RulesDiffer for any other.

1: those of release 0.1.0.
"""

RULES = 1
