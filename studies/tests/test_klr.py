import numpy as np
import pytest

from manyclass.evaluation.datasets import Dataset
from manyclass.evaluation.taxonomy import Taxonomy
from manyclass.training.klr.arrays import Targets
from manyclass.training.klr.crossvalidation import CrossValidation, random_folds
from manyclass.training.klr.fit import FitError
from manyclass.training.klr.newton import Effort, Newton
from manyclass.training.rows import Rows
from studies import klr
from studies.declaration import Bounds
from studies.rbf import RbfKernel, squared_distances

EXACT = Effort(fall=1e-15, residual=1e-10, products=300, adjoint=1e-13, adjoint_products=300)
STEP = 1e-4


def numbers(n=40, classes=3):
    random = np.random.default_rng(0)
    true = random.integers(classes, size=n).astype(np.int32)
    x = random.normal(size=(n, 4)) + true[:, None]
    starts = np.arange(n + 1, dtype=np.int64)
    return x, Targets(starts, true, np.ones(n), np.ones(n))


@pytest.mark.parametrize("tied", [True, False])
def test_the_gradient_of_gaussian_kernels_is_that_of_central_differences(tied):
    x, targets = numbers()
    kernel = RbfKernel(x, 3, tied, 0.5, np.float64)
    criterion = CrossValidation(kernel, targets, random_folds(len(x), 4, 0), together=True)
    logs = np.linspace(0.2, 1.0, len(kernel.names))
    gradient = criterion.evaluate(logs, EXACT).gradient
    for at in range(len(logs)):
        move = STEP * (np.arange(len(logs)) == at)
        above, below = (criterion.evaluate(logs + each, EXACT).psi for each in (move, -move))
        assert gradient[at] == pytest.approx((above - below) / (2 * STEP), rel=1e-6, abs=1e-8)


def test_folds_together_are_folds_one_by_one():
    x, targets = numbers()
    logs = np.log([2.0, 3.0, 4.0, 1.0, 2.0, 3.0])
    found = [
        CrossValidation(
            RbfKernel(x, 3, False, 0.5, np.float64), targets, random_folds(len(x), 4, 0), together
        ).evaluate(logs, EXACT)
        for together in (True, False)
    ]
    assert found[0].psi == pytest.approx(found[1].psi, rel=1e-9)
    assert found[0].gradient == pytest.approx(found[1].gradient, rel=1e-6)


def test_scores_of_training_rows_are_those_of_the_fit():
    x, targets = numbers()
    kernel = RbfKernel(x, 3, False, 0.5, np.float64)
    newton = Newton(kernel, targets)
    alpha = np.zeros_like(newton.u)
    newton.cold_fit(alpha, targets.weights, np.log([20.0, 30.0, 40.0, 1.0, 2.0, 3.0]), EXACT)
    assert np.abs(kernel.scores(x, alpha) - newton.u).max() < 1e-8
    assert (squared_distances(x, x).diagonal() < 1e-12).all()


def small():
    random = np.random.default_rng(0)
    codes = ["45100000-1", "45110000-2", "45200000-3", "45210000-4", "45220000-5"]

    def labelled(count):
        for _ in range(count):
            code = codes[random.integers(len(codes))]
            yield {f"of {code}": 1.0, f"w{random.integers(9)}": 1.0}, [code]

    rows = Rows.of([*labelled(90)])
    taxonomy = Taxonomy.of_codes(["45000000-7", *codes])
    return Dataset("cpv-45", rows, published=60, taxonomy=taxonomy)


def test_a_study_of_a_small_taxonomy_has_every_measure():
    data = small()
    for name, bounds in (("F1", Bounds()), ("H2", Bounds(evaluations=1, rows=40))):
        [record] = klr.measured(data, name, 0, bounds)
        assert {*klr.MEASURES, "Psi / n", "log loss (seen)", "CPU s"} <= record.keys()
        assert record["acc %"] > 80
        assert record["taxo"] < 0.5
    [record] = klr.measured(data, "unweighted", 0, Bounds())
    assert record["acc %"] > 60
    assert record["R5 %"] == 100
    [record] = klr.measured(data, "path", 0, Bounds())
    assert record["acc %"] > 60
    assert record["taxo"] < 0.5


def test_a_fit_goes_on_from_its_kept_state(tmp_path, monkeypatch):
    bounds = Bounds(evaluations=2, rows=40, states=tmp_path / "states")
    [first] = klr.measured(small(), "H1", 0, bounds)
    monkeypatch.setattr(CrossValidation, "evaluate", None)  # nothing is evaluated again
    [again] = klr.measured(small(), "H1", 0, bounds)
    assert again["CPU s"] > first["CPU s"]
    assert again["variances"] == first["variances"]
    assert again["taxo"] == first["taxo"]
    with pytest.raises(FitError, match="other rows"):
        next(klr.measured(small(), "H1", 0, Bounds(rows=41, states=tmp_path / "states")))


def test_bounds_that_are_not_given_are_the_usual_ones():
    assert Bounds(rows=9).over(Bounds(evaluations=3, rows=4)) == Bounds(evaluations=3, rows=9)


def test_of_several_true_classes_the_first_in_the_ranking_counts():
    codes = ["45100000-1", "45110000-2", "45200000-3"]
    instances = [({"a": 1.0}, codes[:2]), ({"b": 1.0}, codes[2:])]
    rows = Rows.of([*instances * 20, *instances])
    data = Dataset("cpv-45", rows, published=40, taxonomy=Taxonomy.of_codes(["45000000-7", *codes]))
    [record] = klr.measured(data, "F1", 0, Bounds(evaluations=2))
    assert record["acc %"] == 100
    assert record["taxo[0-1]"] == 0
    assert record["log loss (seen)"] > 0.5 * np.log(2)  # of two classes, each of half the mass


def test_a_part_of_a_data_set_keeps_its_split():
    rows = Rows.of([({f"w{number % 7}": 1.0}, [f"c{number % 3}"]) for number in range(60)])
    part = klr.prepared(Dataset("cpv-45", rows, published=40), 10)
    assert part.published == 10
    assert len(part.rows) == 30
    assert klr.prepared(Dataset("cpv-45", rows, published=40), None).published == 40
