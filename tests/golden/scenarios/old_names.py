"""Names and arguments of TensorFlow 1, and functions of `tf.math`, `tf.linalg` and `tf.signal` that it had at its top."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.golden.scenarios.base import NONE, Case, Setting, f32, scenario

GROUP = "old_names"


def _wave(*shape: int, phase: float = 0.0) -> Any:
    return f32(np.sin(np.arange(np.prod(shape)) * 0.9 + phase)).reshape(shape)


def _with_gradient(tf: Any, function: Callable[..., Any], *arrays: Any) -> Callable[[], Any]:
    """Makes a case of a function's value, and of the gradient of the sum of its squares."""

    def compute() -> Any:
        inputs = [tf.constant(one) for one in arrays]
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            result = function(*inputs)
            total = tf.reduce_sum(tf.square(result))
        gradients = tape.gradient(total, inputs)
        return [result, [tf.convert_to_tensor(one) for one in gradients]]

    return compute


@scenario("old_names.arguments", GROUP, NONE)
def arguments(s: Setting) -> Iterator[Case]:
    tf, v1 = s.tf, s.tf.compat.v1
    x = _wave(2, 3, 4)
    for name in ("sum", "mean", "max", "min", "prod", "logsumexp"):
        reduce = getattr(v1, f"reduce_{name}")
        yield f"reduce_{name}", lambda r=reduce: r(x, reduction_indices=[1], keep_dims=True)
    yield "argmax", lambda: v1.argmax(x, dimension=1)
    yield "squeeze", lambda: v1.squeeze(x[:1], squeeze_dims=[0])
    yield "expand_dims", lambda: v1.expand_dims(x, dim=1)
    yield "softmax", lambda: v1.nn.softmax(x, dim=1)
    yield "log_softmax", lambda: v1.nn.log_softmax(x, dim=0)
    yield "l2_normalize", lambda: v1.nn.l2_normalize(x, dim=1)
    yield "norm", lambda: v1.norm(x, axis=1, keep_dims=True)
    yield "count_nonzero", lambda: v1.count_nonzero(x, reduction_indices=[1], keep_dims=True)
    yield "moments", lambda: list(v1.nn.moments(x, [0, 1], keep_dims=True))
    yield "dropout", lambda: [v1.nn.dropout(x, 1.0), v1.nn.dropout(x, keep_prob=1.0)]
    yield "dropout_unsaid", lambda: v1.nn.dropout(x)
    labels, logits = f32([[0.2, 0.8], [1, 0]]), _wave(2, 2)
    for name in ("softmax_cross_entropy_with_logits", "sigmoid_cross_entropy_with_logits"):
        function = getattr(v1.nn, name)
        yield (
            name,
            _with_gradient(tf, lambda z, y, f=function: f(labels=z, logits=y), labels, logits),
        )
        yield f"{name}/unnamed", lambda f=function: f(labels, logits)
    v2 = v1.nn.softmax_cross_entropy_with_logits_v2
    yield (
        "softmax_v2",
        _with_gradient(tf, lambda z, y: v2(labels=z, logits=y, dim=0), labels, logits),
    )
    yield (
        "sparse_softmax",
        lambda: v1.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 1], logits=logits),
    )
    yield "weighted", lambda: tf.nn.weighted_cross_entropy_with_logits(labels, logits, 3.0)
    images, kernel = _wave(2, 5, 5, 3), _wave(3, 3, 3, 4, phase=1.0)
    yield (
        "conv2d",
        lambda: v1.nn.conv2d(images, filter=kernel, strides=[1, 2, 2, 1], padding="SAME"),
    )
    for name in ("max_pool", "avg_pool"):
        pool = getattr(v1.nn, name)
        yield (
            name,
            lambda p=pool: p(
                value=images, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME"
            ),
        )
    yield "xw_plus_b", lambda: v1.nn.xw_plus_b(x[0], _wave(4, 2), [1.0, 2.0])
    yield "relu_layer", lambda: v1.nn.relu_layer(x[0], _wave(4, 2), [1.0, 2.0])
    norm = v1.nn.fused_batch_norm
    by_channel = (f32([1.0, 0.5, -1.0]), f32([0.1, 0.0, 0.2]))
    running = {"mean": f32([0.1, 0.2, 0.3]), "variance": f32([1.0, 2.0, 0.5])}
    yield "fused_batch_norm", lambda: list(norm(images, *by_channel))
    yield "fused_batch_norm/small_epsilon", lambda: list(norm(images, *by_channel, epsilon=1e-8))
    yield (
        "fused_batch_norm/inference",
        lambda: list(norm(images, *by_channel, **running, is_training=False)),
    )
    yield (
        "fused_batch_norm/running",
        lambda: list(norm(images, *by_channel, **running, exponential_avg_factor=0.3)),
    )
    yield (
        "fused_batch_norm/gradient",
        _with_gradient(tf, lambda x, s, o: norm(x, s, o)[0] * x, images[:1, :2, :2], *by_channel),
    )
    yield "fused_batch_norm/no_moments", lambda: norm(images, *by_channel, is_training=False)
    yield "div_no_nan", lambda: v1.div_no_nan([1.0, 2.0], [0.0, 4.0])
    yield "where_v2", lambda: v1.where_v2([True, False], [1.0, 2.0], 3.0)
    yield "zero_fraction", lambda: tf.nn.zero_fraction([0.0, 1.0, 0.0, 2.0])
    tables = [_wave(3, 2), _wave(3, 2, phase=1.0), _wave(2, 2, phase=2.0)]
    for kind in ("mod", "div"):
        yield (
            f"embedding_lookup/{kind}",
            lambda kind=kind: v1.nn.embedding_lookup(tables, [[0, 7], [4, 3]], kind),
        )
    yield "setdiff1d", lambda: list(v1.setdiff1d([1, 2, 3, 4], [2, 4]))


@scenario("old_names.spellings", GROUP, NONE)
def spellings(s: Setting) -> Iterator[Case]:
    tf, v1 = s.tf, s.tf.compat.v1
    x, nan = _wave(2, 3), float("nan")
    yield "to_bfloat16", lambda: tf.cast(v1.to_bfloat16(x), tf.float32)
    yield "to_complex64", lambda: tf.math.real(v1.to_complex64(x))
    yield "accumulate_n", lambda: v1.accumulate_n([x, x, 2 * x], shape=[2, 3])
    yield "accumulate_n/dtype", lambda: v1.accumulate_n([x], tensor_dtype=tf.float16)
    yield "accumulate_n/shapes", lambda: v1.accumulate_n([x, x[0]])
    yield "accumulate_n/none", lambda: v1.accumulate_n([])
    yield "batch_gather", lambda: v1.batch_gather(x, [[2, 0, 0], [1, 1, 2]])
    yield "batch_gather/rank1", lambda: v1.batch_gather(x, [1, 1])
    deep, places = _wave(2, 2, 3, 2), [[[0], [2]], [[1], [1]]]
    yield "batch_gather/rank3", lambda: v1.batch_gather(deep, places)
    for limit in (0.01, 5.0):
        yield (
            f"clip_by_average_norm/{limit}",
            _with_gradient(tf, lambda x, n=limit: v1.clip_by_average_norm(x, n) + x, x),
        )
    yield "verify_tensor_all_finite", lambda: v1.verify_tensor_all_finite(x, "no")
    yield "verify_tensor_all_finite/named", lambda: v1.verify_tensor_all_finite(x=x, message="no")
    yield "verify_tensor_all_finite/nan", lambda: v1.verify_tensor_all_finite([1.0, nan], "no")
    yield "floor_div", lambda: [v1.floor_div([7, -7], 2), v1.floor_div([7.5, -7.5], 2.0)]
    yield "lin_space", lambda: v1.lin_space(1.0, 2.0, 5)
    yield "logical_xor", lambda: v1.logical_xor([True, True, False], [True, False, False])
    yield "reverse_v2", lambda: v1.reverse_v2(x, [1])
    yield (
        "batch_to_space_nd",
        lambda: v1.batch_to_space_nd(_wave(4, 1, 2, 1), [2, 2], [[0, 0], [0, 1]]),
    )
    for name in ("add", "sub", "update"):
        scatter = getattr(v1, f"tensor_scatter_{name}")
        yield (
            f"tensor_scatter_{name}",
            lambda f=scatter: f([1, 2, 3, 4], indices=[[0], [2]], updates=[5, 6]),
        )
    yield "betainc", lambda: v1.betainc([1.0, 2.0], [3.0, 0.5], [0.2, 0.7])
    yield "polygamma", lambda: v1.polygamma([1.0, 2.0], [3.0, 0.5])
    yield "zeta", lambda: v1.zeta([2.0, 3.0], [1.0, 2.0])
    yield "is_non_decreasing", lambda: [v1.is_non_decreasing([1, 1, 2]), v1.is_non_decreasing([])]
    yield "is_strictly_increasing", lambda: v1.is_strictly_increasing([1, 1, 2])
    yield "no_regularizer", lambda: v1.no_regularizer(x) is None

    def colocated() -> Any:
        with v1.colocate_with(tf.constant(1)):
            return tf.constant(2) + 1

    yield "colocate_with", colocated


def _parts(sparse: Any) -> list[Any]:
    return [sparse.indices, sparse.values, sparse.dense_shape]


@scenario("old_names.sparse", GROUP, NONE)
def sparse_tensors(s: Setting) -> Iterator[Case]:
    tf, v1 = s.tf, s.tf.compat.v1
    value = v1.SparseTensorValue([[0, 1], [1, 0], [1, 2]], f32([1.0, -2.0, 3.0]), [2, 3])
    one = tf.SparseTensor.from_value(value)
    yield "to_dense", lambda: v1.sparse.to_dense(one, 7.0)
    yield "reduce_sum", lambda: v1.sparse.reduce_sum(one, reduction_axes=[1], keep_dims=True)
    yield "reduce_max", lambda: v1.sparse.reduce_max(one, axis=0)
    yield "add", lambda: _parts(v1.sparse.add(one, one, thresh=4.5))
    yield "concat", lambda: _parts(v1.sparse.concat(1, [one, one]))
    yield "matmul", lambda: v1.sparse.sparse_dense_matmul(one, np.ones((3, 2), np.float32))
    ids = tf.SparseTensor(one.indices, tf.constant([3, 4, 0], tf.int64), one.dense_shape)
    others = tf.SparseTensor(one.indices, tf.constant([1, 1, 0], tf.int64), one.dense_shape)
    for where, merge in (("sparse", v1.sparse.merge), ("top", v1.sparse_merge)):
        yield f"merge/{where}", lambda f=merge: _parts(f(ids, one, 5))
    yield "merge/several", lambda: _parts(v1.sparse_merge([ids, others], one, [5, 2]))
    yield "merge/sorted", lambda: _parts(v1.sparse_merge(ids, one, 5, already_sorted=True))
    yield "merge/lengths", lambda: v1.sparse_merge([ids, others], one, [5])
    either = v1.convert_to_tensor_or_sparse_tensor
    yield "either/sparse", lambda: _parts(either(one))
    yield "either/value", lambda: _parts(either(value))
    yield "either/dense", lambda: either([1, 2], tf.float32)
    yield "either/dtype", lambda: either(one, tf.int32)
    slices = tf.IndexedSlices(f32([[1.0, 2.0]]), [1], [3, 2])
    or_slices = v1.convert_to_tensor_or_indexed_slices
    yield "slices/slices", lambda: or_slices(slices) is slices
    yield "slices/dense", lambda: or_slices([1, 2], tf.float32)
    yield "slices/dtype", lambda: or_slices(slices, tf.int32)


@scenario("old_names.nn", GROUP, NONE)
def networks(s: Setting) -> Iterator[Case]:
    tf = s.tf
    nn, x = tf.nn, _wave(2, 6, 6, 4)
    yield "crelu", _with_gradient(tf, nn.crelu, x[0, 0])
    yield "softsign", _with_gradient(tf, nn.softsign, x[0, 0])
    yield "lrn", _with_gradient(tf, lambda x: nn.lrn(x, 1, 1.0, 0.5, 0.75), x)
    depth, point = _wave(3, 3, 4, 2), _wave(1, 1, 8, 3)
    yield (
        "depthwise",
        _with_gradient(tf, lambda x: nn.depthwise_conv2d(x, depth, [1, 1, 1, 1], "SAME"), x),
    )
    yield (
        "separable",
        lambda: nn.separable_conv2d(x, depth, point, [1, 1, 1, 1], "VALID"),
    )
    up = _wave(3, 3, 2, 4)
    for padding, size in (("SAME", 11), ("SAME", 12), ("VALID", 13)):
        yield (
            f"transpose/{padding}{size}",
            lambda p=padding, n=size: nn.conv2d_transpose(x, up, [2, n, n, 2], 2, p),
        )
    yield "conv1d", lambda: nn.conv1d(x[0], _wave(3, 4, 2), 2, "SAME")
    yield "conv3d", lambda: nn.conv3d(x[None], _wave(2, 2, 2, 4, 3), [1] * 5, "SAME")
    yield "atrous", lambda: nn.atrous_conv2d(x, _wave(2, 2, 4, 3), 2, "VALID")
    weights, biases, rows = _wave(20, 4), _wave(20), x[0, 0]
    labels = np.arange(6).reshape(6, 1)
    sampled = np.array([3, 7, 19]), f32(labels * 0.1 + 0.2), f32([0.5, 0.25, 0.1])
    for name in ("nce_loss", "sampled_softmax_loss"):
        loss = getattr(nn, name)
        yield (
            name,
            _with_gradient(
                tf,
                lambda w, b, x, loss=loss: loss(w, b, labels, x, 3, 20, sampled_values=sampled),
                *(weights, biases, rows),
            ),
        )


@scenario("old_names.math", GROUP, NONE)
def mathematics(s: Setting) -> Iterator[Case]:
    tf = s.tf
    positive = f32([0.3, 1.0, 2.5, 7.0])
    for name in ("lgamma", "digamma", "erfc", "asinh", "rint"):
        yield name, _with_gradient(tf, getattr(tf.math, name), positive)
    for name in ("erfinv", "atanh"):
        yield name, _with_gradient(tf, getattr(tf.math, name), f32([-0.7, 0.0, 0.4]))
    yield "acosh", _with_gradient(tf, tf.math.acosh, positive + 1)
    yield "xlogy", lambda: tf.math.xlogy([0.0, 2.0], [0.0, 3.0])
    yield "xdivy", lambda: tf.math.xdivy([0.0, 2.0], [0.0, 3.0])
    yield "igamma", lambda: tf.math.igamma([1.0, 2.0], [0.5, 3.0])
    yield "igammac", lambda: tf.math.igammac([1.0, 2.0], [0.5, 3.0])
    yield "lbeta", lambda: tf.math.lbeta(positive)
    z = tf.complex(f32([1.0, -2.0]), f32([0.5, 3.0]))
    yield "complex", lambda: [tf.math.real(z), tf.math.imag(z), tf.math.angle(z)]
    yield "conj", lambda: [tf.math.real(tf.math.conj(z)), tf.math.imag(tf.math.conj(z))]
    yield (
        "of_real",
        lambda: [tf.math.real(positive), tf.math.imag(positive), tf.math.conj(positive)],
    )
    yield "invert_permutation", lambda: tf.math.invert_permutation([3, 4, 0, 2, 1])
    for name, options in {
        "plain": {},
        "min": {"minlength": 7},
        "max": {"maxlength": 3},
        "weights": {"weights": [0.5, 1.0, 2.0, 4.0]},
    }.items():
        yield f"bincount/{name}", lambda o=options: tf.math.bincount([1, 1, 2, 4], **o)
    yield "scalar_mul", lambda: tf.scalar_mul(2, positive)
    yield "reverse_sequence", lambda: tf.reverse_sequence(_wave(3, 4), [2, 4, 0], 1, 0)
    yield (
        "reverse_sequence/axes",
        _with_gradient(
            tf, lambda x: tf.reverse_sequence(x, [2, 1], seq_axis=0, batch_axis=2), _wave(3, 4, 2)
        ),
    )


@scenario("old_names.linalg", GROUP, NONE)
def matrices(s: Setting) -> Iterator[Case]:
    tf, linalg = s.tf, s.tf.linalg
    a = _wave(2, 3, 3)
    definite = f32(a @ a.transpose(0, 2, 1) + 2 * np.eye(3))
    right = _wave(2, 3, 2, phase=1.0)
    yield "cholesky", _with_gradient(tf, linalg.cholesky, definite)
    yield "cholesky_solve", lambda: linalg.cholesky_solve(linalg.cholesky(definite), right)
    for lower in (True, False):
        for adjoint in (True, False):
            yield (
                f"triangular_solve/{lower}{adjoint}",
                _with_gradient(
                    tf,
                    lambda m, r, lo=lower, ad=adjoint: linalg.triangular_solve(m, r, lo, ad),
                    *(definite, right),
                ),
            )
    yield "logdet", _with_gradient(tf, linalg.logdet, definite)
    yield "slogdet", lambda: list(linalg.slogdet(definite))
    yield "inv", _with_gradient(tf, linalg.inv, definite)
    yield "solve", _with_gradient(tf, linalg.solve, definite, right)
    yield "det", _with_gradient(tf, linalg.det, definite)
    yield "eigvalsh", _with_gradient(tf, linalg.eigvalsh, definite)

    def rebuilt(x: Any) -> Any:
        s, u, v = linalg.svd(x)
        return u @ linalg.diag(s) @ linalg.matrix_transpose(v)

    yield "svd", lambda: [linalg.svd(definite, compute_uv=False), rebuilt(definite)]
    yield "svd/wide", lambda: [list(one.shape) for one in linalg.svd(right, full_matrices=True)]
    yield "qr", lambda: [linalg.qr(right).q @ linalg.qr(right).r, list(linalg.qr(right).q.shape)]
    yield "eigh", lambda: linalg.eigh(definite)[0]
    yield "lstsq", lambda: linalg.lstsq(definite, right)
    yield "lstsq/wide", lambda: linalg.lstsq(right.transpose(0, 2, 1), right[:, :2], 0.1)
    yield "matvec", lambda: linalg.matvec(a, right[:, :, 0], transpose_a=True)
    yield "expm", lambda: linalg.expm(a)
    yield "pinv", lambda: linalg.pinv(right)
    yield "cross", lambda: linalg.cross(a[0], a[1])
    yield "adjoint", lambda: [linalg.adjoint(right), linalg.matrix_transpose(right)]
    yield (
        "tensor_diag",
        lambda: [
            linalg.tensor_diag([1, 2]),
            linalg.tensor_diag_part(linalg.tensor_diag([[1, 2], [3, 4]])),
        ],
    )


@scenario("old_names.signal", GROUP, NONE)
def signals(s: Setting) -> Iterator[Case]:
    tf, signal = s.tf, s.tf.signal
    x = _wave(2, 8)
    z = tf.complex(x, _wave(2, 8, phase=1.0))

    def parts(z: Any) -> Any:
        return [tf.math.real(z), tf.math.imag(z)]

    for name in ("fft", "ifft", "fft2d", "ifft2d"):
        transform = getattr(signal, name)
        yield name, lambda f=transform: parts(f(z))
    yield "rfft", lambda: parts(signal.rfft(x))
    yield "rfft/length", lambda: parts(signal.rfft(x, [6]))
    yield "rfft/gradient", _with_gradient(tf, lambda x: tf.abs(signal.rfft(x)), x)
    yield "irfft", lambda: signal.irfft(z)
    yield "irfft/length", lambda: signal.irfft(z, [5])
    yield "rfft2d", lambda: parts(signal.rfft2d(x))
    for size in (1, 6, 7):
        for periodic in (True, False):
            yield (
                f"windows/{size}{periodic}",
                lambda n=size, p=periodic: [
                    signal.hann_window(n, p),
                    signal.hamming_window(n, p),
                ],
            )
    yield "frame", lambda: [signal.frame(x, 3, 2), signal.frame(x, 3, 2, pad_end=True)]
    yield "frame/axis", lambda: signal.frame(x, 2, 1, axis=0)
    yield "stft", lambda: parts(signal.stft(x, 5, 2))
