"""omikuji: forests of label trees.

Values are l2-normalised. Parameters are the package's defaults, those of Parabel: 3
balanced binary trees that split down to 100 classes, linear SVMs with C = 1 in the nodes, weights
under 0.1 dropped; rankings by a beam of 10. One thread. It takes no seed, so that two runs differ.
BONSAI and COLLAPSED are the two kinds of shallow trees that its README compares with Parabel's.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from manyclass.training.rows import Rows
from studies.peers.package import bytes_of, imported, own_folder, without_output
from studies.peers.ranking import padded
from studies.peers.text_formats import write_xmc
from studies.peers.vectors import Vectors

BONSAI: Final[dict[str, Any]] = {"cluster_balanced": False, "cluster_k": 100, "max_depth": 3}
"""100-means without balance (Khandagale et al. 2019)."""

COLLAPSED: Final[dict[str, Any]] = {"collapse_every_n_layers": 5}
"""Balanced 2-means, of six layers one: up to 64 children a node (You et al. 2019)."""


class Omikuji:
    """`omikuji.Model` with its defaults, except the given parameters."""

    def __init__(self, name: str, **given: Any) -> None:
        self._package = imported("omikuji", "omikuji")
        self.name = name
        self._folder = own_folder(self)
        self._parameters = self._package.Model.default_hyper_param()
        for parameter, value in given.items():
            setattr(self._parameters, parameter, value)

    def fit(self, rows: Rows) -> None:
        data = self._folder / "learned"
        write_xmc(data, rows.take(np.flatnonzero(np.diff(rows.indptr))))  # it fails at empty rows
        with without_output():  # it always logs to standard output
            self._model = self._package.Model.train_on_data(
                str(data), self._parameters, n_threads=1
            )
            self._model.init_prediction_thread_pool(1)
            self._model.save(str(self._folder / "model"))

    def rank(self, rows: Rows, k: int) -> NDArray[np.int32]:
        found = (
            self._model.predict([*instance.items()], top_k=k)
            for instance in Vectors.of(rows).instances()
        )
        return padded(([column for column, _ in each] for each in found), len(rows), k)

    def bytes(self) -> int:
        """Return the size of the saved folder."""
        return bytes_of(self._folder / "model")
