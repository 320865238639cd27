"""Kernels of the fit of kernel logistic regression, core/native/klr; all release the GIL."""

from libc.stdint cimport int32_t, int64_t

ctypedef fused real:
    float
    double


cdef extern from "core/native/klr/matrix.hpp" namespace "manyclass::klr" nogil:
    cdef cppclass Matrix[T]:
        T* data
        int64_t rows
        int64_t classes

    cdef cppclass ByFeature[T]:
        const int64_t* starts
        const int32_t* rows
        const T* values
        int64_t features

    cdef cppclass Targets[T]:
        const int64_t* starts
        const int32_t* classes
        const T* shares
        int64_t folds


cdef extern from "core/native/klr/sparse_product.hpp" namespace "manyclass::klr" nogil:
    void native_sparse_product "manyclass::klr::sparse_product"[T](
        ByFeature[T], ByFeature[T], Matrix[T], Matrix[T], int64_t, int64_t) except +


cdef extern from "core/native/klr/dense_product.hpp" namespace "manyclass::klr" nogil:
    void native_symmetric "manyclass::klr::symmetric_product"[T](
        Matrix[T], Matrix[T], Matrix[T])


cdef extern from "core/native/klr/tree_sums.hpp" namespace "manyclass::klr" nogil:
    cdef cppclass TreeSums "manyclass::klr::TreeSums":
        const int32_t* parents
        const int32_t* leaves
        int64_t nodes
        int64_t classes

    void native_covariance "manyclass::klr::apply_covariance"[T](
        TreeSums, const double*, Matrix[T], Matrix[T]) except +
    void native_diagonal "manyclass::klr::curvature_diagonal"[T](
        TreeSums, const double*, double, const double*, const double*, Matrix[T],
        Matrix[T]) except +
    void native_derivatives "manyclass::klr::add_derivatives"[T](
        TreeSums, ByFeature[T], Matrix[T], Matrix[T], int64_t, int64_t, double*) except +
    void native_weights "manyclass::klr::node_weights"[T](
        TreeSums, const double*, ByFeature[T], Matrix[T], int64_t, int64_t,
        Matrix[T]) except +


cdef extern from "core/native/klr/likelihood.hpp" namespace "manyclass::klr" nogil:
    void native_probabilities "manyclass::klr::probabilities"[T](Matrix[T], double, Matrix[T])
    void native_losses "manyclass::klr::losses"[T](
        Matrix[T], Matrix[T], const double*, Targets[T], const double*, double*)
    void native_gradient "manyclass::klr::loss_gradient"[T](
        Matrix[T], Targets[T], const double*, Matrix[T])
    void native_v "manyclass::klr::apply_v"[T](Matrix[T], const double*, Matrix[T], Matrix[T])
    void native_v_transposed "manyclass::klr::apply_v_transposed"[T](
        Matrix[T], const double*, Matrix[T], const T*, Matrix[T])
    void native_start "manyclass::klr::newton_start"[T](
        Matrix[T], Matrix[T], Targets[T], const double*, Matrix[T], Matrix[T])


cdef extern from "core/native/klr/conjugate_gradient.hpp" namespace "manyclass::klr" nogil:
    void native_row_dots "manyclass::klr::row_dots"[T](Matrix[T], Matrix[T], double*)
    void native_add_rows "manyclass::klr::add_rows"[T](const double*, Matrix[T], Matrix[T])
    void native_advance "manyclass::klr::advance"[T](
        const double*, Matrix[T], Matrix[T], Matrix[T], Matrix[T], Matrix[T], double*, double*)
    void native_turn "manyclass::klr::turn"[T](
        const double*, Matrix[T], Matrix[T], Matrix[T])


cdef Matrix[real] matrix(real[:, ::1] array):
    cdef Matrix[real] made
    made.data = &array[0, 0] if array.shape[0] and array.shape[1] else NULL
    made.rows = array.shape[0]
    made.classes = array.shape[1]
    return made


cdef Matrix[real] equal(real[:, ::1] array, Matrix[real] other) except *:
    """Return a view of an array; ValueError unless it has the shape of `other`."""
    cdef Matrix[real] made = matrix(array)
    if made.rows != other.rows or made.classes != other.classes:
        raise ValueError("the arrays must have the same shape")
    return made


cdef double* by_row(double[::1] array, Py_ssize_t rows) except? NULL:
    if array.shape[0] != rows:
        raise ValueError("there must be a number for each row")
    return &array[0] if rows else NULL


cdef ByFeature[real] by_feature(int64_t[::1] starts, int32_t[::1] rows, real[::1] values,
                                int64_t count) except *:
    """Return a view of sparse columns over `count` rows; ValueError unless they are valid."""
    cdef ByFeature[real] made
    cdef Py_ssize_t at
    cdef bint valid = starts.shape[0] > 0 and starts[0] == 0
    valid = valid and starts[starts.shape[0] - 1] == rows.shape[0] == values.shape[0]
    if not valid:
        raise ValueError("starts must run from 0 to the number of rows and values")
    for at in range(starts.shape[0] - 1):
        valid = valid and starts[at] <= starts[at + 1]
    for at in range(rows.shape[0]):
        valid = valid and 0 <= rows[at] < count
    if not valid:
        raise ValueError("starts must not decrease, and each row must be in the array")
    made.starts = &starts[0]
    made.rows = &rows[0] if rows.shape[0] else NULL
    made.values = &values[0] if rows.shape[0] else NULL
    made.features = starts.shape[0] - 1
    return made


cdef Targets[real] targets_of(int64_t[::1] starts, int32_t[::1] classes, real[::1] shares,
                              Matrix[real] scores) except *:
    cdef Targets[real] made
    cdef Py_ssize_t rows = starts.shape[0] - 1, at, first, last
    if rows < 1 or scores.rows % rows or not scores.rows:
        raise ValueError("the scores must have the same number of rows for each row of targets")
    first, last = starts[0], starts[rows]
    if first < 0 or last > classes.shape[0] or classes.shape[0] != shares.shape[0]:
        raise ValueError("starts must lie within the classes, which need a share each")
    for at in range(rows):
        if starts[at] > starts[at + 1]:
            raise ValueError("starts must not decrease")
    for at in range(first, last):
        if not 0 <= classes[at] < scores.classes:
            raise ValueError("each class must be a column of the scores")
    made.starts = &starts[0]
    made.classes = &classes[0] if classes.shape[0] else NULL
    made.shares = &shares[0] if shares.shape[0] else NULL
    made.folds = scores.rows // rows
    return made


cdef TreeSums tree_of(int32_t[::1] parents, int32_t[::1] leaves, int64_t classes) except *:
    cdef TreeSums made
    cdef Py_ssize_t node
    if leaves.shape[0] != classes or not classes:
        raise ValueError("there must be a leaf for each class")
    for node in range(parents.shape[0]):
        if not -1 <= parents[node] < node:
            raise ValueError("a parent must come before its children")
    for node in range(leaves.shape[0]):
        if not 0 <= leaves[node] < parents.shape[0]:
            raise ValueError("each leaf must be a node")
    made.parents = &parents[0]
    made.leaves = &leaves[0]
    made.nodes = parents.shape[0]
    made.classes = classes
    return made


cdef void check_range(int64_t begin, int64_t end, int64_t size) except *:
    if not 0 <= begin <= end <= size:
        raise ValueError("begin and end must lie within the array")


def sparse_product(int64_t[::1] starts, int32_t[::1] rows, real[::1] values,
                   int64_t[::1] out_starts, int32_t[::1] out_rows, real[::1] out_values,
                   real[:, ::1] a, real[:, ::1] out, int64_t begin, int64_t end):
    cdef Matrix[real] from_ = matrix(a), to = matrix(out)
    cdef ByFeature[real] x = by_feature(starts, rows, values, from_.rows)
    cdef ByFeature[real] z = by_feature(out_starts, out_rows, out_values, to.rows)
    if x.features != z.features or from_.classes != to.classes:
        raise ValueError("the arrays must have the same features and classes")
    check_range(begin, end, to.classes)
    with nogil:
        native_sparse_product(x, z, from_, to, begin, end)


def symmetric_product(real[:, ::1] k, real[:, ::1] b, real[:, ::1] out):
    cdef Matrix[real] matrix_ = matrix(k), from_ = matrix(b), to = equal(out, from_)
    if matrix_.rows != matrix_.classes or from_.classes != matrix_.rows:
        raise ValueError("the matrix must be square and as wide as the vectors")
    with nogil:
        native_symmetric(matrix_, from_, to)


def apply_covariance(int32_t[::1] parents, int32_t[::1] leaves, double[::1] variances,
                     real[:, ::1] a, real[:, ::1] out):
    cdef Matrix[real] from_ = matrix(a), to = equal(out, from_)
    cdef TreeSums tree = tree_of(parents, leaves, from_.classes)
    cdef double* scale = by_row(variances, tree.nodes)
    with nogil:
        native_covariance(tree, scale, from_, to)


def curvature_diagonal(int32_t[::1] parents, int32_t[::1] leaves, double[::1] variances,
                       double bias, double[::1] self_kernels, double[::1] weights,
                       real[:, ::1] pi, real[:, ::1] out):
    cdef Matrix[real] from_ = matrix(pi), to = equal(out, from_)
    cdef TreeSums tree = tree_of(parents, leaves, from_.classes)
    cdef double* scale = by_row(variances, tree.nodes)
    cdef double* own = by_row(self_kernels, from_.rows)
    cdef double* weight = by_row(weights, from_.rows)
    with nogil:
        native_diagonal(tree, scale, bias, own, weight, from_, to)


def add_derivatives(int32_t[::1] parents, int32_t[::1] leaves,
                    int64_t[::1] starts, int32_t[::1] rows, real[::1] values,
                    real[:, ::1] e, real[:, ::1] s, int64_t begin, int64_t end,
                    double[::1] of_nodes):
    cdef Matrix[real] one = matrix(e), other = equal(s, one)
    cdef ByFeature[real] x = by_feature(starts, rows, values, one.rows)
    cdef TreeSums tree = tree_of(parents, leaves, one.classes)
    cdef double* sums = by_row(of_nodes, tree.nodes)
    check_range(begin, end, x.features)
    with nogil:
        native_derivatives(tree, x, one, other, begin, end, sums)


def node_weights(int32_t[::1] parents, int32_t[::1] leaves, double[::1] variances,
                 int64_t[::1] starts, int32_t[::1] rows, real[::1] values,
                 real[:, ::1] a, int64_t begin, int64_t end, real[:, ::1] out):
    cdef Matrix[real] from_ = matrix(a), to = matrix(out)
    cdef ByFeature[real] x = by_feature(starts, rows, values, from_.rows)
    cdef TreeSums tree = tree_of(parents, leaves, from_.classes)
    cdef double* scale = by_row(variances, tree.nodes)
    check_range(begin, end, x.features)
    if to.rows != end - begin or to.classes != tree.nodes:
        raise ValueError("out must have a row for each feature and a column for each node")
    with nogil:
        native_weights(tree, scale, x, from_, begin, end, to)


def probabilities(real[:, ::1] u, double least, real[:, ::1] pi):
    cdef Matrix[real] from_ = matrix(u), to = equal(pi, from_)
    with nogil:
        native_probabilities(from_, least, to)


def losses(real[:, ::1] u, real[:, ::1] du, double[::1] steps,
           int64_t[::1] starts, int32_t[::1] classes, real[::1] shares,
           double[::1] weights, double[::1] out):
    cdef Matrix[real] scores = matrix(u), move = equal(du, scores)
    cdef Targets[real] targets = targets_of(starts, classes, shares, scores)
    cdef double* step = by_row(steps, scores.rows)
    cdef double* weight = by_row(weights, scores.rows)
    cdef double* to = by_row(out, scores.rows)
    with nogil:
        native_losses(scores, move, step, targets, weight, to)


def loss_gradient(real[:, ::1] pi,
                  int64_t[::1] starts, int32_t[::1] classes, real[::1] shares,
                  double[::1] weights, real[:, ::1] out):
    cdef Matrix[real] from_ = matrix(pi), to = equal(out, from_)
    cdef Targets[real] targets = targets_of(starts, classes, shares, from_)
    cdef double* weight = by_row(weights, from_.rows)
    with nogil:
        native_gradient(from_, targets, weight, to)


def apply_v(real[:, ::1] pi, double[::1] weights, real[:, ::1] x, real[:, ::1] out):
    cdef Matrix[real] p = matrix(pi), from_ = equal(x, p), to = equal(out, p)
    cdef double* weight = by_row(weights, p.rows)
    with nogil:
        native_v(p, weight, from_, to)


def apply_v_transposed(real[:, ::1] pi, double[::1] weights, real[:, ::1] x, real[:, ::1] plus,
                       real[:, ::1] out):
    cdef Matrix[real] p = matrix(pi), from_ = equal(x, p), to = equal(out, p), more
    cdef double* weight = by_row(weights, p.rows)
    cdef real* added = NULL
    if plus is not None:
        more = equal(plus, p)
        added = more.data
    with nogil:
        native_v_transposed(p, weight, from_, added, to)


def newton_start(real[:, ::1] pi, real[:, ::1] alpha,
                 int64_t[::1] starts, int32_t[::1] classes, real[::1] shares,
                 double[::1] weights, real[:, ::1] beta, real[:, ::1] residual):
    cdef Matrix[real] p = matrix(pi), from_ = equal(alpha, p)
    cdef Matrix[real] to = equal(beta, p), left = equal(residual, p)
    cdef Targets[real] targets = targets_of(starts, classes, shares, p)
    cdef double* weight = by_row(weights, p.rows)
    with nogil:
        native_start(p, from_, targets, weight, to, left)


def row_dots(real[:, ::1] x, real[:, ::1] y, double[::1] out):
    cdef Matrix[real] one = matrix(x), other = equal(y, one)
    cdef double* to = by_row(out, one.rows)
    with nogil:
        native_row_dots(one, other, to)


def add_rows(double[::1] factors, real[:, ::1] y, real[:, ::1] x):
    cdef Matrix[real] to = matrix(x), from_ = equal(y, to)
    cdef double* factor = by_row(factors, to.rows)
    with nogil:
        native_add_rows(factor, from_, to)


def advance(double[::1] steps, real[:, ::1] direction, real[:, ::1] image,
            real[:, ::1] diagonal, real[:, ::1] solution, real[:, ::1] residual,
            double[::1] preconditioned, double[::1] squares):
    cdef Matrix[real] left = matrix(residual), to = equal(solution, left)
    cdef Matrix[real] along = equal(direction, left), moved = equal(image, left)
    cdef Matrix[real] scale = equal(diagonal, left)
    cdef double* step = by_row(steps, left.rows)
    cdef double* rz = by_row(preconditioned, left.rows)
    cdef double* rr = by_row(squares, left.rows)
    with nogil:
        native_advance(step, along, moved, scale, to, left, rz, rr)


def turn(double[::1] factors, real[:, ::1] residual, real[:, ::1] diagonal,
         real[:, ::1] direction):
    cdef Matrix[real] left = matrix(residual), scale = equal(diagonal, left)
    cdef Matrix[real] to = equal(direction, left)
    cdef double* factor = by_row(factors, left.rows)
    with nogil:
        native_turn(factor, left, scale, to)
