import numpy as np
import pytest

from manyclass.training.klr.crossvalidation import CrossValidation, random_folds
from manyclass.training.klr.newton import Effort
from tests.training.klr.problems import problem

EXACT = Effort(fall=1e-15, residual=1e-10, products=400, adjoint=1e-13, adjoint_products=400)
STEP = 1e-4


@pytest.mark.parametrize("sharing", ["F1", "F2", "H1", "H2"])
def test_the_gradient_is_that_of_central_differences(sharing):
    made = problem(n=40, sharing=sharing)
    criterion = CrossValidation(made.kernel(0.4), made.targets, random_folds(40, 3, 1))
    logs = np.linspace(0.3, 1.5, len(made.tree.groups))
    gradient = criterion.evaluate(logs, EXACT).gradient
    for at in range(len(logs)):
        move = STEP * (np.arange(len(logs)) == at)
        above, below = (criterion.evaluate(logs + each, EXACT).psi for each in (move, -move))
        slope = (above - below) / (2 * STEP)
        assert gradient[at] == pytest.approx(slope, rel=1e-6, abs=1e-8)


def test_folds_have_equal_sizes():
    assert np.bincount(random_folds(23, 5, 0)).tolist() == [5, 5, 5, 4, 4]
    assert (random_folds(23, 5, 0) == random_folds(23, 5, 0)).all()
    assert (random_folds(23, 5, 0) != random_folds(23, 5, 1)).any()
