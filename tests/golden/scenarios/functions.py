"""Functions of numbers that scripts use less often: bits, bins, special functions, matrices, windows, signals."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.golden.scenarios.base import NONE, Case, Setting, f32, scenario, slope_of
from tests.golden.scenarios.texts import table

GROUP = "functions"
_SQUARE = f32([[4.0, 1.0, -2.0], [1.0, 3.0, 0.5], [2.0, -0.5, 5.0]])
_SYMMETRIC = f32([[4.0, 1.0, 0.5], [1.0, 3.0, -0.5], [0.5, -0.5, 2.0]])


def _wave(*shape: int, step: float = 0.37) -> Any:
    """Numbers of no pattern."""
    return f32(np.sin(np.arange(1, np.prod(shape) + 1) ** 1.5 * step)).reshape(shape)


@scenario("functions.bits", GROUP, NONE)
def bits(s: Setting) -> Iterator[Case]:
    tf, bw = s.tf, s.tf.bitwise
    a, b = tf.constant([0, 5, 3, 14]), tf.constant([5, 0, 7, 11])
    signed = tf.constant([-1, -5, 64, 127], tf.int8)
    for name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
        yield name, lambda name=name: getattr(bw, name)(a, b)
        yield f"{name}/int8", lambda name=name: getattr(bw, name)(signed, tf.constant(6, tf.int8))
    yield from table(
        {
            "invert": lambda: bw.invert(a),
            "invert/uint8": lambda: bw.invert(tf.constant([0, 3, 255], tf.uint8)),
            "left_shift": lambda: bw.left_shift(a, tf.constant([1, 2, 3, 4])),
            "left_shift/number": lambda: bw.left_shift(a, 2),
            "left_shift/int8": lambda: bw.left_shift(signed, tf.constant(1, tf.int8)),
            "right_shift": lambda: bw.right_shift(signed, tf.constant(2, tf.int8)),
            "right_shift/uint8": lambda: bw.right_shift(
                tf.constant([255, 128], tf.uint8), tf.constant([1, 3], tf.uint8)
            ),
            "floats": lambda: bw.bitwise_and(tf.constant([1.0]), tf.constant([2.0])),
            "dtypes": lambda: bw.bitwise_or(a, tf.constant([1], tf.int8)),
            "bitcast/ints": lambda: tf.bitcast(tf.constant([1.0, -2.5]), tf.int32),
            "bitcast/floats": lambda: tf.bitcast(tf.constant([1065353216]), tf.float32),
            "bitcast/smaller": lambda: tf.bitcast(tf.constant([1, 513]), tf.uint8),
            "bitcast/larger": lambda: tf.bitcast(
                tf.constant([[1, 0, 0, 0], [1, 2, 0, 0]], tf.uint8), tf.int32
            ),
            "saturate_cast": lambda: tf.saturate_cast(f32([-300.0, 12.7, 300.0]), tf.uint8),
            "saturate_cast/int8": lambda: tf.saturate_cast(tf.constant([-300, 5, 300]), tf.int8),
            "saturate_cast/int32": lambda: tf.saturate_cast(f32([-1e20, 1e20, 7.5]), tf.int32),
            "saturate_cast/half": lambda: tf.saturate_cast(f32([1e10, -1.5]), tf.float16),
            "dtypes.saturate_cast": lambda: tf.dtypes.saturate_cast(f32([-3.0, 300.0]), tf.uint8),
            "dtypes.complex": lambda: tf.dtypes.complex(f32([1.0]), f32([2.0])),
        }
    )


@scenario("functions.places", GROUP, NONE)
def places(s: Setting) -> Iterator[Case]:
    tf = s.tf
    values = f32([[-1.0, 0.0, 1.5], [2.0, 5.0, 15.0]])
    rows = f32([[1.0, 3.0, 3.0, 7.0], [0.0, 2.0, 4.0, 6.0]])
    wanted = f32([[3.0, 0.0, 9.0], [2.0, 2.5, -1.0]])
    histogram = tf.histogram_fixed_width
    yield from table(
        {
            "histogram": lambda: histogram(values, [0.0, 5.0], nbins=5),
            "histogram/default": lambda: tf.reduce_sum(histogram(values, [0.0, 5.0])),
            "histogram/ints": lambda: histogram([1, 5, 9, 9], [0, 10], 5),
            "histogram/int64": lambda: histogram(values, [-1.0, 1.0], 3, tf.int64),
            "histogram/function": lambda: tf.function(lambda x: histogram(x, [0.0, 5.0], 4))(
                values
            ),
            "bins": lambda: tf.histogram_fixed_width_bins(values, [0.0, 5.0], nbins=5),
            "searchsorted": lambda: tf.searchsorted(rows, wanted),
            "searchsorted/right": lambda: tf.searchsorted(rows, wanted, side="right"),
            "searchsorted/vector": lambda: tf.searchsorted([1, 3, 5], [0, 3, 4, 9]),
            "searchsorted/int64": lambda: tf.searchsorted([1.0, 3.0], [2.0], out_type=tf.int64),
            "searchsorted/side": lambda: tf.searchsorted([1.0], [2.0], side="middle"),
            "searchsorted/rows": lambda: tf.searchsorted(rows, wanted[:1]),
            "unravel_index": lambda: tf.unravel_index([2, 5, 7], [3, 3]),
            "unravel_index/scalar": lambda: tf.unravel_index(5, [2, 2, 2]),
            "is_non_decreasing": lambda: [
                tf.math.is_non_decreasing(x) for x in ([1.0, 1.0, 2.0], [1.0, 0.0], [])
            ],
            "is_strictly_increasing": lambda: [
                tf.math.is_strictly_increasing(x) for x in ([1, 2, 3], [1, 1], [[1, 2], [3, 4]])
            ],
        }
    )


@scenario("functions.special", GROUP, NONE)
def special(s: Setting) -> Iterator[Case]:
    tf, m, sp = s.tf, s.tf.math, s.tf.math.special
    x = f32([0.1, 0.5, 1.0, 2.5, 7.0])
    unit = f32([0.1, 0.5, 0.9])
    for name in ("bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e"):
        yield name, lambda name=name: getattr(m, name)(x)
        yield f"special/{name}", lambda name=name: getattr(sp, name)(-x)
    for name in ("dawsn", "expint", "fresnel_cos", "fresnel_sin", "spence"):
        yield name, lambda name=name: getattr(sp, name)(x)
    yield from table(
        {
            "erfcinv": lambda: m.erfcinv(f32([0.1, 1.0, 1.7])),
            "ndtri": lambda: m.ndtri(unit),
            "betainc": lambda: m.betainc(f32([1.0, 2.0, 3.0]), f32([2.0, 2.0, 0.5]), unit),
            "zeta": lambda: m.zeta(f32([2.0, 3.5]), f32([1.0, 0.5])),
            "polygamma": lambda: m.polygamma(f32([1.0, 2.0]), f32([1.0, 2.5])),
            "xlog1py": lambda: m.xlog1py(f32([0.0, 2.0]), f32([-1.0, 3.0])),
            "nextafter": lambda: m.nextafter(f32([1.0, 1.0]), f32([2.0, 0.0])) - 1.0,
            "reciprocal_no_nan": lambda: m.reciprocal_no_nan(f32([2.0, 0.0, -4.0])),
            "polyval": lambda: m.polyval([2.0, -1.0, 0.5], x),
            "polyval/empty": lambda: m.polyval([], x),
            "polyval/no_list": lambda: m.polyval(x, x),
            "polyval/tensors": lambda: m.polyval([tf.constant(2.0), tf.constant([1.0] * 5)], x),
            "accumulate_n": lambda: m.accumulate_n([x, x * 2.0]),
            "cumulative_logsumexp": lambda: m.cumulative_logsumexp(x),
            "cumulative_logsumexp/reverse": lambda: m.cumulative_logsumexp(
                _wave(2, 4), axis=1, reverse=True
            ),
            "cumulative_logsumexp/exclusive": lambda: m.cumulative_logsumexp(x, exclusive=True)[1:],
            "softmax": lambda: m.softmax(_wave(2, 4)),
            "softmax/axis": lambda: m.softmax(_wave(2, 4), axis=0),
            "log_softmax": lambda: m.log_softmax(_wave(2, 4)),
            "truncatediv": lambda: tf.truncatediv([7, -7, 7, -7], [2, 2, -2, -2]),
            "truncatemod": lambda: tf.truncatemod([7, -7, 7, -7], [3, 3, -3, -3]),
            "realdiv": lambda: tf.realdiv(f32([7.0, -7.0]), f32([2.0, 4.0])),
            "slope/cumulative_logsumexp": lambda: slope_of(tf, m.cumulative_logsumexp)(
                tf.constant(x)
            ),
            "slope/reciprocal_no_nan": lambda: slope_of(tf, m.reciprocal_no_nan)(
                tf.constant([2.0, 0.0])
            ),
        }
    )


@scenario("functions.matrices", GROUP, NONE)
def matrices(s: Setting) -> Iterator[Case]:
    tf, la = s.tf, s.tf.linalg
    both = np.stack([_SQUARE, _SYMMETRIC])
    compact = tf.constant([[1.0, 2.0, 9.0], [4.0, 5.0, 6.0], [9.0, 0.5, -1.0]])
    sides = tf.constant(_wave(3, 2))

    def sorted_eig(x: Any) -> Any:
        return sorted(np.asarray(la.eigvals(x)).tolist(), key=lambda one: (one.real, one.imag))

    def eig_residual() -> Any:
        values, vectors = la.eig(_SQUARE)
        left = np.asarray(tf.cast(_SQUARE, tf.complex64)) @ np.asarray(vectors)
        return float(np.abs(left - np.asarray(vectors) * np.asarray(values)).max()) < 1e-4

    yield from table(
        {
            "normalize": lambda: la.normalize(_wave(2, 3)),
            "normalize/axis": lambda: la.normalize(_wave(2, 3), axis=1),
            "normalize/1": lambda: la.normalize(_wave(2, 3), ord=1, axis=0),
            "normalize/inf": lambda: la.normalize(_wave(4), ord=np.inf),
            "lu": lambda: la.lu(both),
            "lu_reconstruct": lambda: la.lu_reconstruct(*la.lu(both)),
            "lu_solve": lambda: la.lu_solve(*la.lu(_SQUARE), sides),
            "lu_matrix_inverse": lambda: la.lu_matrix_inverse(*la.lu(both)),
            "matrix_rank": lambda: la.matrix_rank(
                np.stack([_SQUARE, np.ones((3, 3), np.float32), np.zeros((3, 3), np.float32)])
            ),
            "matrix_rank/tol": lambda: la.matrix_rank(_SQUARE, tol=5.0),
            "sqrtm": lambda: la.sqrtm(_SYMMETRIC),
            "matrix_square_root": lambda: tf.matrix_square_root(np.stack([_SYMMETRIC, _SQUARE])),
            "logm": lambda: la.logm(tf.cast(_SYMMETRIC, tf.complex64)),
            "eigvals": lambda: len(sorted_eig(_SQUARE)),
            "eig": eig_residual,
            "eig/shapes": lambda: [one.shape.as_list() for one in tf.eig(both)],
            "tridiagonal_matmul": lambda: la.tridiagonal_matmul(compact, sides),
            "tridiagonal_matmul/sequence": lambda: la.tridiagonal_matmul(
                [compact[0], compact[1], compact[2]], sides, diagonals_format="sequence"
            ),
            "tridiagonal_solve": lambda: la.tridiagonal_solve(compact, sides),
            "tridiagonal_solve/vector": lambda: la.tridiagonal_solve(
                compact, tf.constant([1.0, 2.0, 3.0])
            ),
            "tridiagonal_solve/matrix": lambda: la.tridiagonal_solve(
                tf.constant([[4.0, 1.0, 0.0], [0.5, 5.0, 2.0], [0.0, -1.0, 6.0]]),
                sides,
                diagonals_format="matrix",
            ),
            "tridiagonal_solve/format": lambda: la.tridiagonal_solve(
                compact, sides, diagonals_format="none"
            ),
            "eigh_tridiagonal": lambda: la.eigh_tridiagonal(f32([1.0, 2.0, 3.0]), f32([0.5, 1.0])),
            "eigh_tridiagonal/i": lambda: la.eigh_tridiagonal(
                f32([1.0, 2.0, 3.0]), f32([0.5, 1.0]), select="i", select_range=[0, 1]
            ),
            "banded": lambda: la.banded_triangular_solve(
                f32([[2.0, 3.0, 4.0], [0.0, 1.0, -1.0]]), sides
            ),
            "banded/upper": lambda: la.banded_triangular_solve(
                f32([[1.0, -1.0, 0.0], [2.0, 3.0, 4.0]]), sides, lower=False
            ),
            "slope/tridiagonal_solve": lambda: slope_of(
                tf, lambda x: tf.reduce_sum(la.tridiagonal_solve(x, sides) ** 2)
            )(compact),
        }
    )


@scenario("functions.blocks", GROUP, NONE)
def blocks(s: Setting) -> Iterator[Case]:
    tf = s.tf
    image = np.arange(2 * 4 * 6 * 1, dtype=np.float32).reshape(2, 4, 6, 1)
    cube = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    batched = tf.space_to_batch(image, [2, 3], [[0, 0], [0, 0]])
    yield from table(
        {
            "space_to_batch": lambda: batched,
            "space_to_batch/pads": lambda: tf.space_to_batch(image, [3, 2], [[1, 1], [0, 2]]),
            "space_to_batch/one_axis": lambda: tf.space_to_batch_nd(cube, [3], [[0, 0]]),
            "batch_to_space": lambda: tf.batch_to_space(batched, [2, 3], [[0, 0], [0, 0]]),
            "batch_to_space/crops": lambda: tf.batch_to_space(batched, [2, 3], [[1, 0], [1, 2]]),
            "nn.space_to_batch": lambda: tf.nn.space_to_batch(image, [2, 2], [[0, 0], [0, 0]]),
            "strided_slice": lambda: tf.strided_slice(cube, [0, 1, 0], [2, 3, 4], [1, 1, 2]),
            "strided_slice/no_strides": lambda: tf.strided_slice(cube, [1, 0, 0], [2, 2, 3]),
            "strided_slice/masks": lambda: tf.strided_slice(
                cube, [9, 1, 0], [9, 9, 9], [1, 1, 1], begin_mask=1, end_mask=5, shrink_axis_mask=2
            ),
            "strided_slice/ellipsis": lambda: tf.strided_slice(
                cube, [0, 1], [0, 3], [1, 1], ellipsis_mask=1
            ),
            "strided_slice/new_axis": lambda: tf.strided_slice(
                cube, [0, 0], [0, 1], [1, 1], new_axis_mask=1
            ),
            "strided_slice/negative": lambda: tf.strided_slice(cube, [1], [-3], [-1]),
            "identity_n": lambda: tf.identity_n([f32([1.0]), 2]),
            "shape_n": lambda: tf.shape_n([image, cube]),
            "shape_n/int64": lambda: tf.shape_n([image], out_type=tf.int64),
            "parallel_stack": lambda: tf.function(tf.parallel_stack)([[1, 2], [3, 4]]),
            "guarantee_const": lambda: tf.guarantee_const(f32([1.0])),
            "dynamic_partition": lambda: tf.dynamic_partition(
                f32([10.0, 20.0, 30.0, 40.0]), [0, 2, 0, 1], 3
            ),
            "dynamic_partition/rows": lambda: tf.dynamic_partition(cube[0], [1, 1, 0], 2),
            "dynamic_partition/matrix": lambda: tf.dynamic_partition(
                cube[0][:2, :2], [[0, 1], [1, 0]], 2
            ),
            "dynamic_partition/range": lambda: tf.dynamic_partition([1, 2], [0, 5], 2),
            "dynamic_partition/function": lambda: tf.function(
                lambda x, p: tf.dynamic_partition(x, p, 2)
            )(tf.constant([1.0, 2.0, 3.0]), tf.constant([1, 0, 1])),
            "dynamic_stitch": lambda: tf.dynamic_stitch(
                [[0, 3], [1, 2]], [f32([1.0, 2.0]), f32([3.0, 4.0])]
            ),
            "dynamic_stitch/twice": lambda: tf.dynamic_stitch(
                [[0, 1], [1]], [[[1, 1], [2, 2]], [[7, 7]]]
            ),
            "dynamic_stitch/scalar": lambda: tf.dynamic_stitch([1, [0, 2]], [5, [6, 7]]),
            "edit_distance": lambda: tf.edit_distance(
                tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant(["a", "b", "x"]), [2, 2]),
                tf.SparseTensor([[0, 0], [0, 1], [0, 2]], tf.constant(["a", "c", "d"]), [2, 3]),
            ),
            "edit_distance/steps": lambda: tf.edit_distance(
                tf.SparseTensor([[0, 0, 0], [0, 0, 1]], np.array([1, 2]), [1, 1, 2]),
                tf.SparseTensor([[0, 0, 0], [0, 0, 1]], np.array([2, 1]), [1, 1, 2]),
                normalize=False,
            ),
        }
    )


@scenario("functions.windows", GROUP, NONE)
def windows(s: Setting) -> Iterator[Case]:
    tf, nn = s.tf, s.tf.nn
    row, image, volume = _wave(2, 6, 2), _wave(2, 5, 6, 2), _wave(1, 4, 4, 4, 2)
    k1, k2, k3 = _wave(3, 2, 3), _wave(2, 3, 2, 3), _wave(2, 2, 2, 2, 3)
    t1, t2, t3 = _wave(3, 4, 2), _wave(3, 3, 4, 2), _wave(2, 2, 2, 4, 2)
    flat = _wave(2, 2, 2)
    yield from table(
        {
            "convolution/1": lambda: nn.convolution(row, k1, padding="SAME"),
            "convolution/2": lambda: nn.convolution(image, k2, strides=[1, 2], padding="VALID"),
            "convolution/3": lambda: nn.convolution(volume, k3, padding="SAME"),
            "convolution/dilated": lambda: nn.convolution(image, k2, dilations=[2, 1]),
            "conv_transpose/1": lambda: nn.conv_transpose(row, t1, [2, 12, 4], 2),
            "conv_transpose/2": lambda: nn.conv_transpose(image, t2, [2, 10, 12, 4], [2, 2]),
            "conv_transpose/valid": lambda: nn.conv_transpose(
                image, t2, [2, 11, 13, 4], 2, padding="VALID"
            ),
            "conv1d_transpose": lambda: nn.conv1d_transpose(row, t1, [2, 12, 4], 2),
            "conv3d_transpose": lambda: nn.conv3d_transpose(
                volume, t3, [1, 8, 8, 8, 4], [1, 2, 2, 2, 1]
            ),
            "atrous_conv2d_transpose": lambda: nn.atrous_conv2d_transpose(
                image, t2, [2, 9, 10, 4], 2, "VALID"
            ),
            "max_pool1d": lambda: nn.max_pool1d(row, 2, 2, "VALID"),
            "avg_pool1d": lambda: nn.avg_pool1d(row, 3, 2, "SAME"),
            "max_pool3d": lambda: nn.max_pool3d(volume, 2, 2, "SAME"),
            "avg_pool3d": lambda: nn.avg_pool3d(volume, [2, 2, 3], [1, 1, 2], "SAME"),
            "pool/max": lambda: nn.pool(image, [2, 2], "MAX", strides=[2, 1], padding="SAME"),
            "pool/avg": lambda: nn.pool(row, [3], "AVG", padding="VALID"),
            "pool/dilated": lambda: nn.pool(image, [2, 2], "MAX", dilations=[2, 2]),
            "pool/kind": lambda: nn.pool(image, [2, 2], "MIN"),
            "with_argmax": lambda: nn.max_pool_with_argmax(image, 2, 2, "SAME"),
            "with_argmax/batch": lambda: nn.max_pool_with_argmax(
                image, [1, 2, 3, 1], [1, 2, 2, 1], "VALID", include_batch_in_index=True
            ),
            "dilation2d": lambda: nn.dilation2d(
                image, flat, [1, 1, 1, 1], "SAME", "NHWC", [1, 1, 1, 1]
            ),
            "dilation2d/rates": lambda: nn.dilation2d(
                image, flat, [1, 2, 1, 1], "VALID", "NHWC", [1, 2, 2, 1]
            ),
            "erosion2d": lambda: nn.erosion2d(
                image, flat, [1, 1, 1, 1], "SAME", "NHWC", [1, 1, 1, 1]
            ),
            "slope/with_argmax": lambda: slope_of(
                tf, lambda x: tf.reduce_sum(nn.max_pool_with_argmax(x, 2, 2, "SAME")[0] ** 2)
            )(tf.constant(image)),
            "slope/conv_transpose": lambda: slope_of(
                tf, lambda x: nn.conv_transpose(x, t1, [2, 12, 4], 2) ** 2
            )(tf.constant(row)),
        }
    )


@scenario("functions.losses", GROUP, NONE)
def losses(s: Setting) -> Iterator[Case]:
    tf, nn = s.tf, s.tf.nn
    x, weights = _wave(3, 4), f32([[1.0], [0.5], [2.0]])
    logits = _wave(5, 2, 4) * 2.0
    labels = np.array([[1, 2, 2], [3, 0, 0]], np.int32)
    counts, frames = [3, 1], [5, 4]
    sparse = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], np.array([0, 1, 2], np.int32), [2, 2])
    probabilities = np.transpose(np.asarray(tf.nn.softmax(logits)), (1, 0, 2))
    keras = tf.keras.backend

    def decoded(found: Any) -> Any:
        paths, score = found
        return [[np.asarray(tf.sparse.to_dense(one, -1)) for one in paths], score]

    yield from table(
        {
            "sufficient_statistics": lambda: nn.sufficient_statistics(x, [0]),
            "sufficient_statistics/shift": lambda: nn.sufficient_statistics(
                x, [0, 1], shift=0.5, keepdims=True
            ),
            "normalize_moments": lambda: nn.normalize_moments(
                *nn.sufficient_statistics(x, [0], shift=tf.constant(0.5))
            ),
            "weighted_moments": lambda: nn.weighted_moments(x, [0], weights),
            "weighted_moments/keep": lambda: nn.weighted_moments(x, [0, 1], weights, keepdims=True),
            "global_normalization": lambda: nn.batch_norm_with_global_normalization(
                _wave(2, 2, 2, 3), *(f32([0.1, 0.2, 0.3]) for _ in range(4)), 0.01, True
            ),
            "log_poisson_loss": lambda: nn.log_poisson_loss(f32([0.0, 1.0, 5.0]), x[0, :3]),
            "log_poisson_loss/full": lambda: nn.log_poisson_loss(
                f32([0.0, 1.0, 5.0]), x[0, :3], compute_full_loss=True
            ),
            "ctc_loss": lambda: nn.ctc_loss(labels, logits, counts, frames),
            "ctc_loss/blank": lambda: nn.ctc_loss(
                labels[:, :2], logits, [2, 1], frames, blank_index=-4
            ),
            "ctc_loss/rows_first": lambda: nn.ctc_loss(
                labels, tf.transpose(logits, [1, 0, 2]), counts, frames, logits_time_major=False
            ),
            "ctc_loss/sparse": lambda: nn.ctc_loss(sparse, logits, None, frames, blank_index=-1),
            "ctc_loss/sparse_no_blank": lambda: nn.ctc_loss(sparse, logits, None, frames),
            "slope/ctc_loss": lambda: slope_of(
                tf, lambda y: tf.reduce_sum(nn.ctc_loss(labels, y, counts, frames))
            )(tf.constant(logits)),
            "ctc_greedy": lambda: decoded(nn.ctc_greedy_decoder(logits, frames)),
            "ctc_greedy/repeated": lambda: decoded(
                nn.ctc_greedy_decoder(logits, frames, merge_repeated=False, blank_index=0)
            ),
            "ctc_beam": lambda: decoded(nn.ctc_beam_search_decoder(logits, frames, 20, 2)),
            "collapse_repeated": lambda: nn.collapse_repeated([[1, 1, 2, 0], [3, 3, 3, 3]], [3, 4]),
            "ctc_batch_cost": lambda: keras.ctc_batch_cost(
                labels[:, :2] % 3, probabilities, np.array([[5], [4]]), np.array([[2], [1]])
            ),
            "ctc_decode": lambda: keras.ctc_decode(probabilities, np.array([5, 4])),
            "ctc_decode/beam": lambda: keras.ctc_decode(
                probabilities, np.array([5, 4]), greedy=False, beam_width=20, top_paths=2
            ),
            "ctc_to_sparse": lambda: keras.ctc_label_dense_to_sparse(
                labels, np.array([3, 1], np.int32)
            ),
        }
    )


@scenario("functions.signals", GROUP, NONE)
def signals(s: Setting) -> Iterator[Case]:
    tf, sg = s.tf, s.tf.signal
    x, long = _wave(2, 8), _wave(40)
    spectrum = sg.stft(long, 8, 4)
    for kind in (1, 2, 3, 4):
        yield f"dct/{kind}", lambda kind=kind: sg.dct(x, type=kind)
        yield f"idct/{kind}", lambda kind=kind: sg.idct(x, type=kind)
        if kind > 1:
            yield f"dct/{kind}/ortho", lambda kind=kind: sg.dct(x, type=kind, norm="ortho")
    for name in ("kaiser_window", "kaiser_bessel_derived_window", "vorbis_window"):
        yield name, lambda name=name: getattr(sg, name)(8)
    yield from table(
        {
            "dct/5": lambda: sg.dct(x, type=5),
            "dct/1/ortho": lambda: sg.dct(x, type=1, norm="ortho"),
            "dct/n": lambda: sg.dct(x, n=5),
            "dct/longer": lambda: sg.dct(x, n=10),
            "kaiser_window/beta": lambda: sg.kaiser_window(5, beta=4.0),
            "kaiser_window/1": lambda: sg.kaiser_window(1),
            "overlap_and_add": lambda: sg.overlap_and_add(_wave(2, 3, 4), 2),
            "overlap_and_add/apart": lambda: sg.overlap_and_add(_wave(3, 2), 3),
            "inverse_stft": lambda: sg.inverse_stft(spectrum, 8, 4),
            "inverse_stft/window": lambda: sg.inverse_stft(
                spectrum, 8, 4, window_fn=sg.inverse_stft_window_fn(4)
            ),
            "inverse_stft/none": lambda: sg.inverse_stft(spectrum, 6, 3, 8, window_fn=None),
            "inverse_window": lambda: sg.inverse_stft_window_fn(3)(8, dtype=tf.float32),
            "mdct": lambda: sg.mdct(long, 8),
            "mdct/ortho": lambda: sg.mdct(long, 8, window_fn=None, norm="ortho", pad_end=True),
            "mdct/6": lambda: sg.mdct(long, 6),
            "inverse_mdct": lambda: sg.inverse_mdct(sg.mdct(long, 8)),
            "inverse_mdct/ortho": lambda: sg.inverse_mdct(
                sg.mdct(long, 8, norm="ortho"), norm="ortho"
            ),
            "fftshift": lambda: sg.fftshift(x),
            "fftshift/axes": lambda: sg.fftshift(x, axes=[1]),
            "ifftshift": lambda: sg.ifftshift(_wave(3, 5), axes=1),
            "mel": lambda: sg.linear_to_mel_weight_matrix(5, 17, 16000, 80.0, 7600.0),
            "mel/default": lambda: tf.round(sg.linear_to_mel_weight_matrix() * 1000.0),
            "mel/edges": lambda: sg.linear_to_mel_weight_matrix(5, 17, 8000, 80.0, 7600.0),
            "mel/bins": lambda: sg.linear_to_mel_weight_matrix(0),
            "mfccs": lambda: sg.mfccs_from_log_mel_spectrograms(x),
            "slope/dct": lambda: slope_of(tf, lambda y: sg.dct(y) ** 2)(tf.constant(x)),
            "slope/inverse_stft": lambda: slope_of(
                tf, lambda y: sg.inverse_stft(sg.stft(y, 8, 4), 8, 4) ** 2
            )(tf.constant(long)),
            "wav": lambda: tf.audio.decode_wav(tf.audio.encode_wav(x.T, 8000)),
            "wav/channels": lambda: tf.audio.decode_wav(
                tf.audio.encode_wav(x.T[:, :1], 44100), desired_channels=2, desired_samples=10
            ),
            "wav/bytes": lambda: bytes(
                np.asarray(tf.audio.encode_wav(f32([[1.5], [-2.0], [0.3], [-1.0]]), 16000)).item()
            ).hex(),
            "wav/vector": lambda: tf.audio.encode_wav(long, 8000),
            "wav/none": lambda: tf.audio.decode_wav(b"no wav file"),
        }
    )


@scenario("functions.messages", GROUP, NONE)
def messages(s: Setting) -> Iterator[Case]:
    tf = s.tf
    for name, value in {
        "float": 1.5,
        "floats": [1.5, 2.5],
        "ints": [[1, 2], [3, 4]],
        "bool": [True, False],
        "text": "hello",
        "texts": [b"a", b"bc"],
        "int64": np.arange(3),
        "float64": np.float64(math.pi),
        "half": np.array([1.5, -2.0], np.float16),
        "half_one": np.array([1.5], np.float16),
        "complex": np.array([1 + 2j], np.complex64),
        "empty": np.zeros((0, 2), np.float32),
    }.items():
        yield f"{name}/bytes", lambda v=value: tf.make_tensor_proto(v).SerializeToString().hex()
        yield f"{name}/back", lambda v=value: tf.make_ndarray(tf.make_tensor_proto(v))
    yield from table(
        {
            "dtype": lambda: tf.make_ndarray(tf.make_tensor_proto([1, 2], dtype=tf.float32)),
            "shape": lambda: tf.make_ndarray(tf.make_tensor_proto([1.0, 2.0], shape=[2, 1])),
            "filled": lambda: tf.make_ndarray(tf.make_tensor_proto(7.0, shape=[2, 2])),
            "too_many": lambda: tf.make_tensor_proto([1, 2, 3], shape=[2]),
            "verified": lambda: tf.make_tensor_proto([1, 2], shape=[2, 1], verify_shape=True),
        }
    )
