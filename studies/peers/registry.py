"""The peers by name."""

from collections.abc import Callable
from typing import Final

from manyclass.evaluation.estimator import Estimator, Maker
from studies.peers.binary import (
    Committee,
    PassiveAggressive,
    Perceptron,
    SupportVectors,
)
from studies.peers.fasttext import FastText
from studies.peers.napkinxc import NapkinXC, growing
from studies.peers.omikuji import BONSAI, COLLAPSED, Omikuji
from studies.peers.one_versus_rest import OneVersusRest, TunedSupportVectors
from studies.peers.river import RiverBayes, RiverOneVersusRest
from studies.peers.tfidf import TfIdf
from studies.peers.topdown import TopDown
from studies.peers.unweighted import UnweightedIndex
from studies.peers.vw import LabelTree, MemoryTree, OneAgainstAll, RecallTree

Named = Callable[[str, int], Estimator]


def _online_tree(policy: str, arity: int, max_leaves: int) -> Named:
    return lambda name, seed: NapkinXC(name, "oplt", seed, **growing(policy, arity, max_leaves))


ONLINE_TREES: Final[dict[str, Named]] = {
    "napkinxc-oplt": _online_tree("greedy", 2, 100),
    "napkinxc-oplt-random": _online_tree("random", 2, 100),
    "napkinxc-oplt-16": _online_tree("greedy", 16, 16),
    "napkinxc-oplt-random-16": _online_tree("random", 16, 16),
}
"""By policy and shape: that of the paper, or that of the learner `oplt`."""

NAMED: Final[dict[str, Named]] = {
    "perceptron": lambda name, seed: OneVersusRest(name, Perceptron(), seed),
    "committee": lambda name, seed: OneVersusRest(name, Committee(), seed),
    "linearsvc": lambda name, seed: OneVersusRest(name, SupportVectors(), seed),
    "linearsvc-c10": lambda name, seed: OneVersusRest(name, SupportVectors(10.0), seed),
    "linearsvc-tuned": TunedSupportVectors,
    "linearsvc-sigmoid": lambda name, seed: TopDown(
        name, SupportVectors(), seed, 1, 0.0, flat=True
    ),
    "sk-pa": lambda name, seed: OneVersusRest(name, PassiveAggressive(), seed),
    "topdown-perceptron": lambda name, seed: TopDown(name, Perceptron(), seed, 3),
    "topdown-committee": lambda name, seed: TopDown(name, Committee(), seed, 3),
    "topdown-svm": lambda name, seed: TopDown(name, SupportVectors(), seed, 1),
    "unweighted": UnweightedIndex,
    "unweighted-committee": lambda name, seed: UnweightedIndex(name, seed, classifiers=True),
    "vw-oaa": OneAgainstAll,
    "vw-oaa-once": lambda name, seed: OneAgainstAll(name, seed, passes=1),
    "vw-plt": LabelTree,
    "vw-recall-tree": RecallTree,
    "vw-memory-tree": MemoryTree,
    "fasttext": FastText,
    "napkinxc-plt": lambda name, seed: NapkinXC(name, "plt", seed),
    "napkinxc-br": lambda name, seed: NapkinXC(name, "br", seed),
    **ONLINE_TREES,
    "omikuji": lambda name, seed: Omikuji(name),
    "omikuji-bonsai": lambda name, seed: Omikuji(name, **BONSAI),
    "omikuji-collapsed": lambda name, seed: Omikuji(name, **COLLAPSED),
    "river-pa": lambda name, seed: RiverOneVersusRest(name, "pa"),
    "river-lr": lambda name, seed: RiverOneVersusRest(name, "lr"),
    "river-nb": lambda name, seed: RiverBayes(name),
}
WITH_TFIDF: Final = (
    *("linearsvc", "sk-pa", "vw-oaa", "vw-plt", "napkinxc-plt", *ONLINE_TREES),
    *("omikuji", "omikuji-bonsai", "omikuji-collapsed"),
)


def _maker(name: str) -> Maker:
    return lambda seed: NAMED[name](name, seed)


def _weighted(name: str) -> Maker:
    return lambda seed: TfIdf(NAMED[name](name, seed))


PEERS: Final[dict[str, Maker]] = {name: _maker(name) for name in NAMED} | {
    f"{name}+tfidf": _weighted(name) for name in WITH_TFIDF
}
"""Returns an untrained peer of this name for a seed. PeerMissing if its package is not installed.

A name with `+tfidf` is the same peer on tf-idf values.
"""
