"""The weights of a learner as a dense matrix, to compare with textbook formulas."""

import numpy as np

from tests.core.dumps import names


class Matrices:
    """Dense views of a learner: rows are features, columns classes, in the order of the names."""

    def __init__(self, features, classes):
        self.features, self.classes = features, classes

    def weights(self, learner):
        """Return a (features, classes) array of weights, 0 without an edge."""
        return self.dense(learner, "edge_masses", 0.0)

    def variances(self, learner):
        """Return a (features, classes) array of variances, 1 without an edge."""
        return self.dense(learner, "edge_variances", 1.0)

    def vector(self, instance):
        """Return the instance as a (features,) array, scaled to length 1."""
        x = np.array([instance.get(name, 0.0) for name in self.features])
        return x / np.linalg.norm(x)

    def columns(self, classes):
        return [self.classes.index(name) for name in classes]

    def dense(self, learner, section, default):
        state = learner.dump()
        features = names(state, "feature")
        classes = names(state, "class")
        matrix = np.full((len(self.features), len(self.classes)), default)
        rows = np.repeat([self.features.index(name) for name in features], state["outdegrees"])
        columns = [self.classes.index(classes[id]) for id in state["edge_classes"]]
        matrix[rows.astype(int), columns] = state[section]
        return matrix
