"""fastText's supervised classifier.

It takes tokens, not values: a feature is repeated by its rounded value (a count, in the text sets),
which weights it in the mean of word vectors. Parameters are those at the end of its tutorial: `lr`
1.0 and 25 epochs for one class an instance, with the softmax; `lr` 0.5, 25 epochs and `loss="ova"`
where instances have several; no word pairs, as the features are given. All else is default (`dim`
100). One thread; even then it is not the same on every machine.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass.training.rows import Rows
from studies.peers.package import bytes_of, imported, own_folder
from studies.peers.ranking import padded
from studies.peers.text_formats import tokens, write_labelled_tokens
from studies.peers.vectors import Vectors

EPOCHS = 25
LABEL = "__label__"


class FastText:
    """fastText with softmax, or one-versus-all if training rows have several classes."""

    def __init__(self, name: str, seed: int) -> None:
        self._package = imported("fasttext", "fasttext-wheel")
        self.name = name
        self._seed = seed
        self._folder = own_folder(self)

    def fit(self, rows: Rows) -> None:
        data = self._folder / "learned"
        write_labelled_tokens(data, rows)
        several = bool(np.any(np.diff(rows.class_indptr) > 1))
        model: Any = self._package.train_supervised(
            input=str(data),
            lr=0.5 if several else 1.0,
            loss="ova" if several else "softmax",
            epoch=EPOCHS,
            seed=self._seed,
            thread=1,
            verbose=0,
        )
        model.save_model(str(self._folder / "model"))
        # The package's own `predict` fails on NumPy 2; this is its native part.
        self._predict = model.f.predict

    def rank(self, rows: Rows, k: int) -> NDArray[np.int32]:
        texts = tokens(Vectors.unscaled(rows))
        found = (self._predict(f"{text}\n", k, 0.0, "strict") for text in texts)
        columns = ([int(label.removeprefix(LABEL)) for _, label in each] for each in found)
        return padded(columns, len(rows), k)

    def bytes(self) -> int:
        """Return the size of the model file, not quantized."""
        return bytes_of(self._folder / "model")
