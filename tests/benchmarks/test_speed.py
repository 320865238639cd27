import numpy as np

from benchmarks.learner import Learner
from benchmarks.speed import ids_of_columns, per_edge_and_feature
from manyclass.core.learners.options import Options
from manyclass.training.rows import Rows


def test_columns_are_found_in_a_dumped_state():
    rows = Rows.of([(["a", "bc", "def"], ["x"]), (["unknown"], ["x"])])
    learner = Learner(rows, Options())
    learner.learn(rows.take(np.array([0])))
    learner.index.forget_feature("bc")

    ids = ids_of_columns(learner.index.dump(), rows.features)

    assert ids.tolist() == [0, -1, 2, -1]


def test_memory_is_split_between_edges_and_features():
    def measured(edges, megabytes):
        measures = dict.fromkeys(("counted MB", "arenas MB", "process MB"), megabytes)
        return {"features": 100_000, "edges": edges, **measures}

    split = per_edge_and_feature(measured(100_000, 6.0), measured(1_100_000, 16.0))

    assert [(row["bytes an edge"], row["bytes a feature"]) for row in split] == [(10, 50)] * 3
