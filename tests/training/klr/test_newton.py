from itertools import pairwise

import numpy as np
import pytest
from scipy import optimize

from manyclass.training.klr.newton import Effort, Newton
from manyclass.training.klr.workers import workers
from tests.training.klr.problems import dense_kernel, path_matrix, problem

EXACT = Effort(fall=1e-15, residual=1e-8, products=200, steps=60, adjoint=1e-12)
SHARINGS = ["F1", "F2", "H1", "H2"]


def logs_of(made):
    return np.linspace(0.2, 2.0, len(made.tree.groups))


def fitted(made, bias=0.5, logs=None, weights=None):
    kernel = made.kernel(bias)
    kernel.set(logs_of(made) if logs is None else logs)
    newton = Newton(kernel, made.targets)
    alpha = np.zeros_like(newton.u)
    given = made.targets.weights if weights is None else weights
    return newton, alpha, newton.fit(alpha, given, EXACT)


def objective(made, covariance, alpha, weights):
    scores = (covariance @ alpha.ravel()).reshape(alpha.shape)
    most = scores.max(1)
    losses = most + np.log(np.exp(scores - most[:, None]).sum(1)) - (made.y * scores).sum(1)
    return weights @ losses + (alpha * scores).sum() / 2


@pytest.mark.parametrize("sharing", SHARINGS)
@pytest.mark.parametrize("bias", [0.0, 0.7])
def test_products_are_those_of_the_dense_matrix(sharing, bias):
    made = problem(sharing=sharing)
    kernel = made.kernel(bias)
    kernel.set(logs_of(made), 0.25)
    a = np.random.default_rng(1).normal(size=(len(made.x), made.tree.classes))
    out = np.empty_like(a)
    kernel.product(a.copy(), out)
    dense = 0.25 * dense_kernel(made, logs_of(made), bias)
    assert np.abs(out.ravel() - dense @ a.ravel()).max() <= 1e-12


@pytest.mark.parametrize("sharing", ["F2", "H1"])
def test_the_preconditioner_is_the_diagonal_of_the_equations(sharing):
    made = problem(sharing=sharing)
    kernel = made.kernel(0.3)
    kernel.set(logs_of(made))
    random = np.random.default_rng(1)
    pi = random.dirichlet(np.ones(made.tree.classes), len(made.x))
    weights = made.targets.weights.copy()
    weights[3] = 0
    diagonal = np.empty_like(pi)
    kernel.diagonal(pi, weights, diagonal)
    v = np.zeros((pi.size, pi.size))
    classes = made.tree.classes
    for row, p in enumerate(pi):
        its = slice(row * classes, (row + 1) * classes)
        v[its, its] = np.sqrt(weights[row]) * (np.eye(classes) - p[:, None]) @ np.diag(np.sqrt(p))
    dense = np.eye(pi.size) + v.T @ dense_kernel(made, logs_of(made), 0.3) @ v
    assert np.abs(diagonal.ravel() - np.diag(dense)).max() <= 1e-12


@pytest.mark.parametrize("sharing", SHARINGS)
def test_alpha_is_stationary_after_a_fit(sharing):
    made = problem(sharing=sharing)
    newton, alpha, fit = fitted(made)
    assert fit.converged.all()
    gradient = made.targets.weights[:, None] * (newton.pi - made.y)
    assert np.abs(alpha + gradient).max() <= 1e-8
    assert np.abs(alpha.sum(1)).max() <= 1e-12
    assert all(later <= earlier + 1e-12 for earlier, later in pairwise(fit.history))


def test_the_objective_is_the_least():
    made = problem(n=50, sharing="H1")
    weights = made.targets.weights
    _, alpha, fit = fitted(made)
    covariance = dense_kernel(made, logs_of(made), 0.5)
    assert fit.phi[0] == pytest.approx(objective(made, covariance, alpha, weights), rel=1e-12)
    root = np.linalg.cholesky(covariance + 1e-12 * np.eye(len(covariance)))

    def phi(b):  # scores = root b and alpha = root^-T b
        scores = (root @ b).reshape(alpha.shape)
        p = np.exp(scores - scores.max(1, keepdims=True))
        losses = np.log(p.sum(1)) + scores.max(1) - (made.y * scores).sum(1)
        p /= p.sum(1, keepdims=True)
        slope = b + root.T @ (weights[:, None] * (p - made.y)).ravel()
        return weights @ losses + b @ b / 2, slope

    found = optimize.minimize(
        phi,
        np.zeros(alpha.size),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 5000, "maxfun": 10000, "ftol": 1e-15, "gtol": 1e-10},
    )
    assert fit.phi[0] == pytest.approx(found.fun, rel=1e-8)


def test_rows_without_weight_are_left_out():
    made = problem()
    weights = made.targets.weights.copy()
    weights[::3] = 0
    newton, alpha, _ = fitted(made, weights=weights)
    assert (alpha[::3] == 0).all()
    kept = problem()
    rows = np.flatnonzero(weights)
    covariance = dense_kernel(made, logs_of(made), 0.5)
    classes = made.tree.classes
    columns = (rows[:, None] * classes + np.arange(classes)).ravel()
    scores = covariance[:, columns] @ alpha[rows].ravel()
    assert np.abs(newton.u.ravel() - scores).max() <= 1e-9
    assert np.abs(alpha[rows] + weights[rows, None] * (newton.pi - kept.y)[rows]).max() <= 1e-8


def test_a_flat_taxonomy_gives_the_flat_model():
    logs = np.array([1.1])
    flat = fitted(problem(sharing="F1"), logs=logs)[0].u
    below_root = fitted(problem(sharing="H1", parents=lambda name: []), logs=logs)[0].u
    assert np.abs(flat - below_root).max() <= 1e-10


def test_chains_of_only_children_add_their_variances():
    chains = {"x": ["x1"], "x1": ["x2"], "y": ["y1"], "y1": ["y2"]}
    made = problem(sharing="H1", classes=["x", "y"], parents=lambda name: chains.get(name, []))
    assert made.tree.nodes == 2
    assert sorted(made.tree.groups) == ["classes", "level 1", "level 2"]
    logs = np.log([0.5, 1.0, 2.0])
    flat = problem(sharing="F1", classes=["x", "y"])
    one, other = fitted(made, logs=logs)[0].u, fitted(flat, logs=np.log([3.5]))[0].u
    assert np.abs(one - other).max() <= 1e-10


def test_a_cold_start_with_a_large_variance_converges():
    made = problem(sharing="H1", n=60, d=30)
    logs = np.log([500.0, 2000.0, 4000.0])[: len(made.tree.groups)]
    kernel = made.kernel()
    newton = Newton(kernel, made.targets)
    alpha = np.zeros_like(newton.u)
    fit = newton.cold_fit(alpha, made.targets.weights, logs, Effort())
    assert fit.converged.all()
    exact = newton.fit(alpha.copy(), made.targets.weights, EXACT)
    assert fit.phi[0] == pytest.approx(exact.phi[0], rel=1e-3)


def test_a_fit_far_from_the_minimum_takes_few_products():
    made = problem(n=300, d=200, sharing="F1", classes=[f"c{number}" for number in range(60)])
    newton = Newton(made.kernel(), made.targets)
    newton.kernel.set(np.log([50.0]))
    fit = newton.fit(np.zeros_like(newton.u), made.targets.weights, Effort())
    assert fit.converged.all()
    assert fit.products < 700  # 3,500 where any step that lowers Phi enough is taken
    assert fit.steps < 25


def test_rounds_along_a_settled_direction_end():
    made = problem(n=300, d=200, sharing="F1", classes=[f"c{number}" for number in range(60)])
    newton = Newton(made.kernel(), made.targets)
    stages = []
    newton.cold_fit(
        np.zeros_like(newton.u),
        made.targets.weights,
        np.log([50.0]),
        Effort(),
        lambda fit: stages.append(fit) if fit.steps == 1 else None,
    )
    assert all(stage.converged.all() for stage in stages)
    assert sum(stage.products for stage in stages) < 400  # 680 where rounds go on


def test_stages_of_a_cold_start_end_also_with_short_steps():
    made = problem(sharing="H1", n=60, d=30)
    newton = Newton(made.kernel(), made.targets)
    logs = np.log([8000.0, 50.0, 50.0])[: len(made.tree.groups)]
    stages = []
    most = Effort(products=1, steps=40)
    newton.cold_fit(
        np.zeros_like(newton.u),
        made.targets.weights,
        logs,
        most,
        lambda fit: stages.append(fit) if fit.steps == 1 else None,
    )
    assert len(stages) > 3
    for stage in stages[:-1]:
        assert stage.converged.all()
        assert stage.steps < most.steps


def test_threads_do_not_change_the_result():
    results = []
    for threads in (1, 3):
        made = problem(n=400, d=300, classes=[f"c{i}" for i in range(150)], dtype=np.float32)
        with workers(threads) as pool:
            kernel = made.kernel(0.1, pool)
            kernel.set(logs_of(made))
            newton = Newton(kernel, made.targets, workers=pool)
            alpha = np.zeros_like(newton.u)
            newton.fit(alpha, made.targets.weights, Effort(steps=3))
        results.append((alpha, newton.u.copy()))
    for one, other in zip(*results, strict=True):
        assert (one == other).all()


def test_paths_of_the_example():
    tree = problem(sharing="H2").tree
    assert (path_matrix(tree).sum(1) >= 1).all()
    assert (tree.parents < np.arange(tree.nodes)).all()
