from typing import Any

import numpy as np
from numpy.typing import NDArray

# All arrays of numbers have one type, float32 or float64, and are contiguous. Scores have the shape
# (rows, classes). ValueError for arrays that do not fit together.
_Real = NDArray[np.floating[Any]]
_Doubles = NDArray[np.float64]
_Starts = NDArray[np.int64]
_Numbers = NDArray[np.int32]

def sparse_product(
    starts: _Starts,
    rows: _Numbers,
    values: _Real,
    out_starts: _Starts,
    out_rows: _Numbers,
    out_values: _Real,
    a: _Real,
    out: _Real,
    begin: int,
    end: int,
) -> None:
    """Fill the classes begin .. end of out = Z X^T A; X and Z are given feature by feature."""

def symmetric_product(k: _Real, b: _Real, out: _Real) -> None:
    """Write out = B K for a dense symmetric K (n, n) and few vectors B (m, n)."""

def apply_covariance(
    parents: _Numbers, leaves: _Numbers, variances: _Doubles, a: _Real, out: _Real
) -> None:
    """Multiply rows by the covariance of classes: the variances of their common nodes."""

def curvature_diagonal(
    parents: _Numbers,
    leaves: _Numbers,
    variances: _Doubles,
    bias: float,
    self_kernels: _Doubles,
    weights: _Doubles,
    pi: _Real,
    out: _Real,
) -> None:
    """Write the diagonal of I + V^T K V, for the kernel of each row with itself."""

def add_derivatives(
    parents: _Numbers,
    leaves: _Numbers,
    starts: _Starts,
    rows: _Numbers,
    values: _Real,
    e: _Real,
    s: _Real,
    begin: int,
    end: int,
    of_nodes: _Doubles,
) -> None:
    """Add <X^T E_p, X^T S_p> of the features begin .. end to each node p."""

def node_weights(
    parents: _Numbers,
    leaves: _Numbers,
    variances: _Doubles,
    starts: _Starts,
    rows: _Numbers,
    values: _Real,
    a: _Real,
    begin: int,
    end: int,
    out: _Real,
) -> None:
    """Write the weights (end - begin, nodes) of the features begin .. end at every node."""

def probabilities(u: _Real, least: float, pi: _Real) -> None:
    """Write the softmax of each row of scores, each probability at least `least`."""

def losses(
    u: _Real,
    du: _Real,
    steps: _Doubles,
    starts: _Starts,
    classes: _Numbers,
    shares: _Real,
    weights: _Doubles,
    out: _Doubles,
) -> None:
    """Write the weighted loss of each row at the scores u + step * du."""

def loss_gradient(
    pi: _Real,
    starts: _Starts,
    classes: _Numbers,
    shares: _Real,
    weights: _Doubles,
    out: _Real,
) -> None:
    """Write w (pi - y)."""

def apply_v(pi: _Real, weights: _Doubles, x: _Real, out: _Real) -> None:
    """Write V x; `out` may be x."""

def apply_v_transposed(
    pi: _Real, weights: _Doubles, x: _Real, plus: _Real | None, out: _Real
) -> None:
    """Write V^T x + plus; `out` may be x."""

def newton_start(
    pi: _Real,
    alpha: _Real,
    starts: _Starts,
    classes: _Numbers,
    shares: _Real,
    weights: _Doubles,
    beta: _Real,
    residual: _Real,
) -> None:
    """Write the beta with V beta = alpha, and the residual of Newton's equations there."""

def row_dots(x: _Real, y: _Real, out: _Doubles) -> None:
    """Write the scalar product of each row of x and y."""

def add_rows(factors: _Doubles, y: _Real, x: _Real) -> None:
    """Add factor * y to x, row by row."""

def advance(
    steps: _Doubles,
    direction: _Real,
    image: _Real,
    diagonal: _Real,
    solution: _Real,
    residual: _Real,
    preconditioned: _Doubles,
    squares: _Doubles,
) -> None:
    """Move solution and residual; write <r, r / diagonal> and <r, r> of each row."""

def turn(factors: _Doubles, residual: _Real, diagonal: _Real, direction: _Real) -> None:
    """Write direction = residual / diagonal + factor * direction."""
