"""Vowpal Wabbit's multiclass and multilabel learners.

Features are numbers, so a table of `bits` weights for every feature of every model has no
collisions; it is limited to 2**27 weights (2 GB). Values are l2-normalised. `--passes 5
--holdout_off` as in Vowpal Wabbit's demo of `--plt`; all options not named below have their
defaults. For tools with one class an instance, the file has an instance once for each of its
classes. (`--multilabel_oaa` ranked worse on bibtex; its probabilities are also wrong for every
instance after the first 256.)

Vowpal Wabbit parses in a second thread. CPU seconds include both threads, writing the training file
and saving the model. Training runs in a child process; this process loads the model file at the
first ranking and ranks line by line.
"""

import signal
import sys
from collections.abc import Iterator, Sequence
from math import ceil, log2
from subprocess import run
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass.training.rows import Rows
from studies.peers.package import bytes_of, imported, own_folder
from studies.peers.ranking import best, padded
from studies.peers.text_formats import pairs, write_all_classes, write_one_class_each
from studies.peers.vectors import Vectors

FEWEST_BITS, MOST_BITS = 18, 27
PASSES = 5
CHILDREN = 16  # of a node of the label tree
RANKED_AT_ONCE = 1000


class Wabbit:
    """The folder, the files and the process of every learner of Vowpal Wabbit."""

    def __init__(self, name: str, seed: int) -> None:
        self._package = imported("vowpalwabbit", "vowpalwabbit")
        self.name = name
        self._seed = seed
        self._folder = own_folder(self)
        self._data = self._folder / "learned"
        self._model = self._folder / "model"
        self._loaded = dict[tuple[str, ...], Any]()

    def bytes(self) -> int:
        """Return the size of the model file: nonzero weights and their adaptive rates."""
        return bytes_of(self._model)

    def _training(self, passes: int) -> list[str]:
        """Return the options that read the training file."""
        repeated = ["--cache_file", str(self._folder / "cache"), "--kill_cache"]
        return [
            *("--data", str(self._data), "--passes", str(passes), "--holdout_off"),
            *(repeated if passes > 1 else []),
            *("--random_seed", str(self._seed), "--quiet"),
        ]

    def _train(self, *options: str, passes: int = PASSES) -> None:
        training = self._training(passes)
        vowpal_wabbit(*training, "--final_regressor", str(self._model), *options)

    def _answers(self, rows: Rows, *options: str) -> Iterator[Any]:
        """Yield the predictions of the trained model for each row, with these options."""
        if options not in self._loaded:
            model = ["--initial_regressor", str(self._model), "--testonly", "--quiet"]
            self._load([*model, *options], options)
        for text in pairs(Vectors.of(rows)):
            yield self._loaded[options].predict(f"| {text}")

    def _load(self, arguments: list[str], options: tuple[str, ...] = ()) -> Any:
        """Return a workspace of this process, which is that of rankings with these options."""
        self._loaded.clear()  # its memory is free before the next one takes some
        self._loaded[options] = self._package.Workspace(arg_list=arguments, enable_logging=False)
        return self._loaded[options]


class OneAgainstAll(Wabbit):
    """`--oaa`: a regressor for each class. Classes are ranked by `--scores`.

    The default loss (squared, of targets 1 and -1) had a higher R1 on 20 Newsgroups and CLINC150
    than the hinge and the logistic loss. Predictions are clipped to [-1, 1]: classes may tie far
    down; the first column wins.
    """

    def __init__(self, name: str, seed: int, passes: int = PASSES) -> None:
        super().__init__(name, seed)
        self._passes = passes

    def fit(self, rows: Rows) -> None:
        self._classes = len(rows.classes)
        self._trained = np.bincount(rows.class_indices, minlength=self._classes) > 0
        write_one_class_each(self._data, rows)
        size = bits(rows, self._classes)
        self._train("--oaa", str(self._classes), *size, passes=self._passes)

    def rank(self, rows: Rows, k: int) -> NDArray[np.int32]:
        ranked = [np.empty((0, k), np.int32)]
        part = list[NDArray[np.float32]]()
        for scores in self._answers(rows, "--scores"):
            part.append(np.where(self._trained, np.array(scores, np.float32), -np.inf))
            if len(part) == RANKED_AT_ONCE:
                ranked.append(best(np.stack(part), k))
                part.clear()
        if part:
            ranked.append(best(np.stack(part), k))
        return np.concatenate(ranked)


class LabelTree(Wabbit):
    """`--plt`: a probabilistic label tree over all classes; instances may have several.

    `--loss_function logistic` (required), `--kary_tree 16 --learning_rate 0.5` as in its demo. The
    lowest nodes have spare children, which it predicts as labels beyond the last class. `rank`
    requests as many more labels, and as many as there are classes without training rows, and drops
    both.
    """

    def fit(self, rows: Rows) -> None:
        self._classes = len(rows.classes)
        self._trained = np.bincount(rows.class_indices, minlength=self._classes) > 0
        write_all_classes(self._data, rows)
        tree = ["--plt", str(self._classes), "--kary_tree", str(CHILDREN)]
        tree += ["--loss_function", "logistic", "--learning_rate", "0.5"]
        self._train(*tree, *bits(rows, 2 * self._classes))

    def rank(self, rows: Rows, k: int) -> NDArray[np.int32]:
        trained = int(self._trained.sum())
        requested = min(k, trained) + self._classes - trained + CHILDREN
        options = ["--top_k", str(requested), "--loss_function", "logistic"]
        found = self._answers(rows, *options)
        named = (classes_among(labels, self._trained)[:k] for labels in found)
        return padded(named, len(rows), k)


def classes_among(labels: Sequence[int], trained: NDArray[np.bool_]) -> list[int]:
    """Return the labels of classes with training rows, in their order."""
    return [label for label in labels if label < len(trained) and trained[label]]


class OneClass(Wabbit):
    """A learner that predicts one class only: its R5 is R1."""

    def rank(self, rows: Rows, k: int) -> NDArray[np.int32]:
        return padded(([label - 1] for label in self._answers(rows)), len(rows), k)


class RecallTree(OneClass):
    """`--recall_tree`: a tree that picks candidates, and a one-against-some among them.

    Its README advises it from 10,000 classes on.
    """

    def fit(self, rows: Rows) -> None:
        write_one_class_each(self._data, rows)
        classes = len(rows.classes)
        self._train("--recall_tree", str(classes), *bits(rows, 2 * classes))


class MemoryTree(OneClass):
    """`--memory_tree`: a tree of remembered instances; the nearest one found gives its class.

    Options as in its demos: `--learn_at_leaf`, 3 dreams a step, 4 times log2(n) memories a leaf, 3
    passes, nodes for twice the instances of all passes, and a learning rate of 0.1, the best of the
    demos' (0.001, 0.1, 1) on CLINC150. `--oas`, for several true classes an instance, predicted
    nothing on bibtex. It is trained in this process and never reloaded: a model read from a file
    predicts at chance.
    """

    PASSES, MEMORIES, DREAMS = 3, 4, 3

    def fit(self, rows: Rows) -> None:
        write_one_class_each(self._data, rows)
        options = [*self._training(self.PASSES), *self._tree(rows, self.PASSES)]
        self._load(options).save(str(self._model))

    def stream(self, rows: Rows) -> NDArray[np.int32]:
        """Predict and then learn each row, in their order, once, instead of `fit`.

        Return ranks (n,), int32: 1 where the first class of the row was predicted, else 0. The tree
        needs the final number of rows and classes from the start.
        """
        options = ["--random_seed", str(self._seed), "--quiet", *self._tree(rows, 1)]
        workspace = self._load(options)
        first = rows.class_indices[rows.class_indptr[:-1]]
        ranks = np.zeros(len(rows), np.int32)
        for at, (true, text) in enumerate(
            zip((first + 1).tolist(), pairs(Vectors.of(rows)), strict=True)
        ):
            ranks[at] = workspace.predict(f"| {text}") == true
            workspace.learn(f"{true} | {text}")
        return ranks

    def _tree(self, rows: Rows, passes: int) -> list[str]:
        """Return the options of the tree for this number of passes."""
        count = max(len(rows.class_indices), 2)
        nodes = max(1, int(2 * passes * count / (log2(count) * self.MEMORIES)))
        return [
            *("--memory_tree", str(nodes), "--learn_at_leaf"),
            *("--max_number_of_labels", str(len(rows.classes))),
            *("--leaf_example_multiplier", str(self.MEMORIES), "--alpha", "0.1"),
            *("--dream_repeats", str(self.DREAMS), "--learning_rate", "0.1"),
            *("--bit_precision", "24"),
        ]


def bits(rows: Rows, models: int) -> list[str]:
    """Return the option for a table of weights for every feature of so many models."""
    needed = ceil(log2(max(len(rows.features) + 1, 2) * max(models, 1)))
    return ["--bit_precision", str(min(max(needed, FEWEST_BITS), MOST_BITS))]


def vowpal_wabbit(*options: str) -> None:
    """Run Vowpal Wabbit in a process of its own; RuntimeError with its last line if it fails."""
    command = [sys.executable, "-m", "vowpalwabbit", *options]
    done = run(command, capture_output=True, text=True, check=False)
    if done.returncode == -signal.SIGXCPU:  # its share of the limit of CPU seconds (isolation.py)
        signal.raise_signal(signal.SIGXCPU)
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip() or "nothing").splitlines()[-1]
        raise RuntimeError(f"vw {' '.join(options)} ended with {done.returncode} and said: {said}")
