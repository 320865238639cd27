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


@pytest.mark.parametrize("sharing", ["F2", "H2"])
@pytest.mark.parametrize("move", [0.3, 2.0])
def test_fits_that_go_on_end_where_new_ones_do(sharing, move):
    made = problem(n=40, sharing=sharing)
    folds = random_folds(40, 3, 1)
    first, then = np.array([0.3, 1.5]), np.array([0.3 + move, 1.5 - move])
    criterion = CrossValidation(made.kernel(0.4), made.targets, folds)
    criterion.evaluate(first, EXACT)
    moved = criterion.evaluate(then, EXACT)
    anew = CrossValidation(made.kernel(0.4), made.targets, folds).evaluate(then, EXACT)
    assert moved.unfinished == anew.unfinished == 0
    assert moved.psi == pytest.approx(anew.psi, rel=1e-9)
    assert moved.gradient == pytest.approx(anew.gradient, rel=1e-6)


def test_folds_have_equal_sizes():
    assert np.bincount(random_folds(23, 5, 0)).tolist() == [5, 5, 5, 4, 4]
    assert (random_folds(23, 5, 0) == random_folds(23, 5, 0)).all()
    assert (random_folds(23, 5, 0) != random_folds(23, 5, 1)).any()
