"""The peers by name."""

from collections.abc import Callable
from typing import Final

from evaluation.contender import Contender, Maker
from evaluation.peers.binary import Committee, PassiveAggressive, Perceptron, SupportVectors
from evaluation.peers.fasttext import FastText
from evaluation.peers.flat import OneVersusRest, TunedSupportVectors
from evaluation.peers.napkinxc import NapkinXC
from evaluation.peers.omikuji import Omikuji
from evaluation.peers.river import RiverBayes, RiverOneVersusRest
from evaluation.peers.tfidf import TfIdf
from evaluation.peers.topdown import TopDown
from evaluation.peers.unweighted import UnweightedIndex
from evaluation.peers.vw import LabelTree, MemoryTree, OneAgainstAll, RecallTree

Named = Callable[[str, int], Contender]

NAMED: Final[dict[str, Named]] = {
    "perceptron": lambda name, seed: OneVersusRest(name, Perceptron(), seed),
    "committee": lambda name, seed: OneVersusRest(name, Committee(), seed),
    "svm": lambda name, seed: OneVersusRest(name, SupportVectors(), seed),
    "svm-tuned": TunedSupportVectors,
    "svm-sigmoid": lambda name, seed: TopDown(name, SupportVectors(), seed, 1, 0.0, flat=True),
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
    "napkinxc-oplt": lambda name, seed: NapkinXC(name, "oplt", seed),
    "omikuji": lambda name, seed: Omikuji(name),
    "river-pa": lambda name, seed: RiverOneVersusRest(name, "pa"),
    "river-lr": lambda name, seed: RiverOneVersusRest(name, "lr"),
    "river-nb": lambda name, seed: RiverBayes(name),
}
WITH_TFIDF: Final = ("svm", "sk-pa", "vw-oaa", "vw-plt", "napkinxc-plt", "napkinxc-oplt", "omikuji")


def _maker(name: str) -> Maker:
    return lambda seed: NAMED[name](name, seed)


def _weighted(name: str) -> Maker:
    return lambda seed: TfIdf(NAMED[name](name, seed))


PEERS: Final[dict[str, Maker]] = {name: _maker(name) for name in NAMED} | {
    f"{name}+tfidf": _weighted(name) for name in WITH_TFIDF
}
"""Makes a peer of this name, of a seed. PeerMissing if its package is not installed.

A name that ends in `+tfidf` is the same peer on tf-idf values.
"""
