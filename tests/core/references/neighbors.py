"""The vote of the nearest past instances, and its weight, chosen by the outcomes so far."""

from dataclasses import dataclass
from functools import cache
from math import copysign, sqrt

import numpy as np
from numpy import float32

from tests.core.references.arithmetic import damped
from tests.core.references.past import is_gone

MOST_ENTRIES = 2048
WEIGHTS = [0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 16.0]
DECAY = 0.9998
LEAST_STEP = 0.001
LEAST_TOTAL = 1e-300
LARGEST_USUAL = 1e60
ALL_UNTIL, ONE_IN = 4096, 8  # events that are judged while the weight is 0

INDEXED_VALUE_BYTES = 16
INDEXED_EXAMPLE_BYTES = 24
INDEXED_FEATURE_BYTES = 24


def cut_off(value):
    """Return the value with the first 16 bits of its single precision."""
    bits = float32(value).view(np.uint32) & np.uint32(0xFFFF0000)
    return float(np.uint32(bits).view(float32))


@cache
def compared(value, binarize, sublinear):
    """Return a raw value of a past instance as it is compared: without counts."""
    if binarize:
        return copysign(1.0, value)
    return cut_off(damped(value) if sublinear else value)


@dataclass
class Near:
    similarity: float
    example: object  # a StoredExample
    stored: dict[str, float]  # its values by name, as they are compared
    scale: float


@dataclass
class Found:
    nearest: list[Near]
    searched: list[tuple[str, float]]  # features and values, in the order of the sums
    length: float
    total: float


class Neighbors:
    def __init__(self):
        self.configure(0)

    def configure(self, most):
        if most == 0:
            self.right = [0.0] * len(WEIGHTS)
            self.differs = [0.0] * len(WEIGHTS)
            self.usual = 0.0
        self.most = most

    @property
    def chosen(self):
        best = 0
        for at, right in enumerate(self.right):
            leads = right - self.right[0] >= sqrt(max(self.differs[at], 1.0))
            if right > self.right[best] and leads:
                best = at
        return best

    @property
    def scale(self):
        """Return what votes are multiplied with in a ranking."""
        return WEIGHTS[self.chosen] * self.usual

    @property
    def state(self):
        return [*self.right, *self.differs, self.usual]

    def is_due(self, learned, is_first_epoch):
        """Return whether an event that is learned is searched for."""
        if self.scale > 0:
            return True
        is_sampled = learned <= ALL_UNTIL or learned % ONE_IN == 0
        return self.most > 0 and is_first_epoch and is_sampled

    # --- search -----------------------------------------------------------------------------------

    def search(self, values, past, options):
        """Return the nearest past instances, None if there is none."""
        examples = []
        for example in past:
            stored = {
                name: compared(float(value), options.binarize, options.sublinear)
                for name, value in example.values.items()
            }
            squares = 0.0
            for value in stored.values():
                squares += value * value
            examples.append(Near(0.0, example, stored, 1 / sqrt(squares)))
        counts = {name: sum(name in each.stored for each in examples) for name in values}
        searched, entries = [], 0
        for name in sorted((name for name in values if counts[name]), key=counts.__getitem__):
            entries += counts[name]
            if entries > MOST_ENTRIES:
                break
            searched.append((name, values[name]))
        squares = 0.0
        for value in values.values():
            squares += value * value
        length = sqrt(squares)
        for each in examples:
            for name, value in searched:
                if name in each.stored:
                    each.similarity += value * each.stored[name]
            each.similarity *= each.scale
        nearest = [each for each in examples if each.similarity > 0]
        nearest.sort(key=lambda each: -each.similarity)  # of equal ones the first kept
        del nearest[self.most :]
        total = 0.0
        for each in nearest:
            each.similarity /= length
            if any(not is_gone(name) for name in each.example.classes):
                total += self.vote_of(each)
        return Found(nearest, searched, length, total) if total >= LEAST_TOTAL else None

    @staticmethod
    def vote_of(near):
        similarity = near.similarity
        return near.example.weight * similarity * similarity * similarity * similarity

    def votes(self, values, past, options):
        """Return the share of each class among the nearest, times the nearest's similarity."""
        found = self.search(values, past, options)
        if found is None:
            return {}
        votes = {}
        for each in found.nearest:
            for name in each.example.classes:
                if not is_gone(name):
                    votes[name] = votes.get(name, 0.0) + self.vote_of(each)
        nearest = found.nearest[0].similarity
        return {name: vote / found.total * nearest for name, vote in votes.items()}

    def explain(self, values, past, options, wanted):
        """Return what each feature adds to the vote for a class, scaled as in a ranking."""
        gains = dict.fromkeys(values, 0.0)
        scale = self.scale
        found = self.search(values, past, options) if scale > 0 else None
        for each in found.nearest if found else []:
            if wanted not in each.example.classes:
                continue
            near = each.similarity
            factor = scale * (found.nearest[0].similarity / found.total)
            factor *= each.example.weight * near * near * near
            for name, value in found.searched:
                stored = each.stored.get(name, 0.0)
                gains[name] += factor * (value * stored * each.scale / found.length)
        return {name: gain for name, gain in gains.items() if gain}

    # --- learning ---------------------------------------------------------------------------------

    def judge(self, votes, own, in_order, true, learned):
        """Add up the share of right first classes of each weight; `own` are the scores of classes.

        `in_order` sorts pairs (class, score), best first.
        """
        if not votes or not true:
            return
        places = min(len(true), 5)
        firsts = []
        for weight in WEIGHTS:
            scored = dict(own)
            for name, vote in votes.items():
                scored[name] = scored.get(name, 0.0) + weight * self.usual * vote
            ranked = in_order((name, score) for name, score in scored.items() if score != 0)
            firsts.append(ranked[:places])
        shares = [sum(name in true for name, _ in first) / places for first in firsts]
        for place, share in enumerate(shares):
            gain = share - shares[0]
            self.right[place] = self.right[place] * DECAY + share
            self.differs[place] = self.differs[place] * DECAY + gain * gain
        name, score = firsts[0][0] if firsts[0] else (None, 0.0)
        if name is not None:
            size = min(abs(score), LARGEST_USUAL)
            self.usual = self.usual or size
            self.usual += (size - self.usual) * max(LEAST_STEP, 1 / learned)
