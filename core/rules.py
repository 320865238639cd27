"""The version of the rules by which events change the state.

All processes on one log must derive the same state from the same events. Raise RULES, by one and
only here, in the commit after which the same events lead to another state: another rule of
learning or of eviction, another order of additions, another default that no event holds.

Raise it too for another analysis of texts (text.py): the events hold features already, but an older
release would rank by other features than those learned.

The version in force is part of the state. A log begins with the version of the release that made
it; the event "rules" raises it. States and logs without a version are of version 1. A release has
the rules of its own version only and raises RulesDiffer for any other.

1: evicts one name in 64 at once.
2: evicts one name at a time by a clock hand; an evicted class leaves the rows step by step. In a
   label tree new classes take the room of evicted ones, a search after an eviction opens 256 nodes
   at most, and a light weight stays while a node below has weights of its feature. A constraint
   whose multiplier is subnormal is forgotten.
3: a state may name its analysis of texts, learn events may have a weight and rejected classes. The
   results of other events are those of version 2.
4: a committee counts events that only say which classes are wrong as learned, as its members do.
5: events may place classes in a taxonomy. The results of other events are those of version 4.
6: with a taxonomy, parent accuracy and the losses of decoded rankings are counted. States without a
   taxonomy are those of version 5, but that there are learners `path` and `hieron`.
7: near its budget a learner makes no light edges, except to a true class that no edge leads to.
   `svm` and `path` skip small steps of pairs.
8: events may have an origin (source, text, time) and the id of their instance, may correct or
   delete earlier ones, may rename classes, may adopt a rebuilt state, and may name learners that
   learn the whole history. The results of other events are those of version 7.
9: texts are folded by NFKC_Casefold, and words have their marks. A state of an older version has
   features that no text has any more, so it is refused. Instances may have values below 0, which
   learners with signed weights use.
"""

RULES = 9
OLDEST_TEXTS = 9  # the first version whose analysis of texts is that of this one
