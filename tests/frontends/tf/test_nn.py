"""Averages over the global batch, against numbers that TensorFlow 2.21 gave for two replicas."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from frontends import tf

LOSS = [[1.0, 2.0, 0.0, -1.0], [2.0, 2.0, 0.5, -1.0]]
WEIGHT = [[1.0, 0.5, 0.0, 2.0], [1.0, 0.5, 1.0, 2.0]]


def mirrored(count=2):
    return tf.distribute.MirroredStrategy([f"cpu:{index}" for index in range(count)])


def per_replica(strategy, values):
    return strategy.experimental_distribute_values_from_function(
        lambda context: np.asarray(values[context.replica_id_in_sync_group], np.float32)
    )


def of_each(result):
    return [float(value) for value in result.values]


@pytest.mark.parametrize(
    ("weighted", "size", "expected"),
    [
        (False, None, [0.25, 0.4375]),
        (False, 8, [0.25, 0.4375]),
        (False, 10, [0.2, 0.35]),
        (True, None, [0.0, 0.1875]),
        (True, 10, [0.0, 0.15]),
        (2.0, None, [0.5, 0.875]),
    ],
)
@pytest.mark.parametrize("compiled", [False, True])
def test_average_loss(weighted, size, expected, compiled):
    strategy = mirrored()
    loss, weight = per_replica(strategy, LOSS), per_replica(strategy, WEIGHT)

    def replica(loss, weight):
        sample_weight = {False: None, True: weight}.get(weighted, weighted)
        return tf.nn.compute_average_loss(loss, sample_weight, size)

    def program(loss, weight):
        result = strategy.run(replica, args=(loss, weight))
        return result, strategy.reduce("SUM", result, axis=None)

    each, total = (tf.function(program) if compiled else program)(loss, weight)
    np.testing.assert_allclose(of_each(each), expected, rtol=1e-6)
    np.testing.assert_allclose(float(total), sum(expected), rtol=1e-6)


def test_the_batch_size_may_be_an_array():
    strategy = mirrored()
    loss = per_replica(strategy, LOSS)
    result = strategy.run(
        lambda loss, size: tf.nn.compute_average_loss(loss, global_batch_size=size),
        args=(loss, jnp.int32(10)),
    )
    np.testing.assert_allclose(of_each(result), [0.2, 0.35], rtol=1e-6)


@pytest.mark.parametrize(
    ("size", "expected"),
    # TensorFlow's default is [0.5, 1.25], whose sum 1.75 is no mean of 1, 2, 3; ours is the mean.
    [(3, [1 / 3, 5 / 3]), (None, [1 / 3, 5 / 3]), (4, [0.25, 1.25])],
)
def test_uneven_rows(size, expected):
    strategy = mirrored()
    blocks = [np.array([1.0], np.float32), np.array([2.0, 3.0], np.float32)]
    (batch,) = strategy.distribute_datasets_from_function(lambda context: blocks)
    result = strategy.run(
        lambda loss: tf.nn.compute_average_loss(loss, global_batch_size=size), args=(batch,)
    )
    np.testing.assert_allclose(of_each(result), expected, rtol=1e-6)


@pytest.mark.parametrize("replicas", [1, 2, 4])
@pytest.mark.parametrize("total", [1, 2, 5, 7, 8])
def test_shares_add_up_to_the_mean_of_a_partial_batch(replicas, total):
    strategy = mirrored(replicas)
    data = np.arange(1.0, total + 1, dtype=np.float32)
    weights = np.where(np.arange(total) % 2, 0.5, 2.0).astype(np.float32)
    (batch,) = strategy.experimental_distribute_dataset(
        tf.data.Dataset.from_tensor_slices((data, weights)).batch(8)
    )

    @tf.function
    def mean(batch):
        def replica(batch):
            plain = tf.nn.compute_average_loss(batch[0])
            return plain, tf.nn.compute_average_loss(batch[0], sample_weight=batch[1])

        return strategy.reduce("SUM", strategy.run(replica, args=(batch,)), axis=None)

    plain, weighted = mean(batch)
    np.testing.assert_allclose(plain, data.mean(), rtol=1e-6)
    np.testing.assert_allclose(weighted, (data * weights).mean(), rtol=1e-6)


def test_infinite_losses_of_padding_do_not_count():
    strategy = mirrored(4)
    full, partial = strategy.experimental_distribute_dataset(
        [np.ones(8, np.float32), np.array([2.0, 4.0], np.float32)]
    )

    @tf.function
    def mean(batch):
        def replica(x):
            # Padding repeats the last row: make a loss that is infinite for all but its first.
            row = jnp.arange(len(x))
            return tf.nn.compute_average_loss(jnp.where((x > 1) & (row > 0), jnp.inf, x))

        return strategy.reduce("SUM", strategy.run(replica, args=(batch,)), axis=None)

    assert float(mean(full)) == 1.0
    assert float(mean(partial)) == 3.0


def test_axes_after_the_first_are_added_up():
    """TensorFlow's rule: one example's loss is the sum of all of its entries."""
    loss = np.arange(6.0, dtype=np.float32).reshape(3, 2)
    assert float(tf.nn.compute_average_loss(loss)) == 5.0
    weight = np.array([1.0, 0.0, 2.0], np.float32)
    assert float(tf.nn.compute_average_loss(loss, weight)) == pytest.approx((1 + 18) / 3)
    assert float(tf.nn.compute_average_loss(loss, weight[:, None])) == pytest.approx(19 / 3)
    each = np.array([[1.0, 2.0]] * 3, np.float32)
    assert float(tf.nn.compute_average_loss(loss, each)) == pytest.approx((6 + 18) / 3)


def test_weights_in_a_column_are_weights_of_rows():
    """TensorFlow squeezes the last axis; multiplying as NumPy does would make a square."""
    loss, weight = jnp.array([1.0, 2.0, 3.0]), jnp.array([1.0, 0.0, 2.0])
    assert float(tf.nn.compute_average_loss(loss, weight)) == pytest.approx(7 / 3)
    assert float(tf.nn.compute_average_loss(loss, weight[:, None])) == pytest.approx(7 / 3)


def test_outside_of_any_strategy():
    assert float(tf.nn.compute_average_loss(LOSS[0])) == 0.5
    assert float(tf.nn.compute_average_loss(LOSS[0], None, 10)) == pytest.approx(0.2)
    assert float(tf.nn.compute_average_loss(LOSS[0], global_batch_size=10)) == pytest.approx(0.2)


def test_a_scalar_is_refused():
    with pytest.raises(ValueError, match=r"per_example_loss.*at least rank 1.*reduction='none'"):
        tf.nn.compute_average_loss(3.0)
    with pytest.raises(ValueError, match=r"per_example_loss.*at least rank 1.*reduction='none'"):
        mirrored().run(lambda: tf.nn.compute_average_loss(jnp.float32(3.0)))


@pytest.mark.parametrize(
    ("size", "error", "found"),
    [
        ("8", TypeError, "integer.*string"),
        (8.0, TypeError, "integer.*float32"),
        (True, TypeError, "integer.*bool"),
        (np.float32(8), TypeError, r"integer.*int\(size\)"),
        ([8], ValueError, r"scalar.*\(1,\)"),
        (np.array([4, 4]), ValueError, "scalar"),
        (-1, ValueError, "non-negative.*-1"),
        (np.int64(-8), ValueError, "non-negative"),
    ],
)
def test_sizes_that_tensorflow_refuses(size, error, found):
    def average():
        return tf.nn.compute_average_loss(LOSS[0], global_batch_size=size)

    for run in (average, tf.function(average), lambda: mirrored().run(average)):
        with pytest.raises(error, match=f"global_batch_size must be.*{found}"):
            run()


@pytest.mark.parametrize("size", [None, 0, 4, tf.constant(0)])
def test_no_rows_and_no_size_give_zero(size):
    def average(loss):
        return tf.nn.compute_average_loss(loss, global_batch_size=size)

    none = np.zeros((0,), np.float32)
    assert float(average(none)) == float(tf.function(average)(none)) == 0
    if size is not None and int(size) == 0:
        assert float(average(np.ones(3, np.float32))) == 0  # as `tf.math.divide_no_nan`
        assert jax.grad(average)(jnp.ones(3)).tolist() == [0, 0, 0]


def test_weights_that_do_not_fit():
    loss = np.ones((2, 3), np.float32)
    for shape in ((4, 1), (2, 3, 2), (3, 3)):
        with pytest.raises(ValueError, match=r"sample_weight of shape .* does not fit"):
            tf.nn.compute_average_loss(loss, np.ones(shape, np.float32))
    half = tf.nn.compute_average_loss(tf.cast(loss, tf.bfloat16), [0.5, 1.5])
    assert half.dtype == tf.bfloat16
    assert float(half) == 3
    assert float(tf.nn.compute_average_loss([1, 2], [0.5, 0.5])) == 0.75


def test_between_the_replicas_it_needs_the_batch_size():
    with mirrored().scope():
        with pytest.raises(RuntimeError, match=r"compute_average_loss.*cross replica context"):
            tf.nn.compute_average_loss(LOSS[0])
        # As in TensorFlow: with the size, no replica needs to be asked.
        assert float(tf.nn.compute_average_loss(LOSS[0], global_batch_size=8)) == 0.25


def test_gradients_of_shares_add_up():
    strategy = mirrored(4)
    data = np.arange(1.0, 7.0, dtype=np.float32)
    (batch,) = strategy.experimental_distribute_dataset([data])

    def replica(x):
        return jax.grad(lambda w: tf.nn.compute_average_loss((w * x) ** 2))(3.0)

    total = strategy.reduce("SUM", strategy.run(replica, args=(batch,)), axis=None)
    np.testing.assert_allclose(total, jax.grad(lambda w: ((w * data) ** 2).mean())(3.0), rtol=1e-6)


REGULARIZATION = [
    (np.float32(6), 6.0),
    ([np.float32(2), np.float32(4)], 6.0),
    (np.array([1.0, 2.0], np.float32), 3.0),
    (6.0, 6.0),
    ([], 0.0),
    (6, 6.0),
    ([np.ones(2, np.float32), np.full(2, 2, np.float32)], 6.0),
]


@pytest.mark.parametrize(("value", "expected"), REGULARIZATION)
@pytest.mark.parametrize("replicas", [1, 2, 4])
def test_scale_regularization_loss(value, expected, replicas):
    strategy = mirrored(replicas)
    result = strategy.run(lambda: tf.nn.scale_regularization_loss(value))
    assert of_each(result) == [expected / replicas] * replicas
    assert float(strategy.reduce("SUM", result, axis=None)) == expected


def test_scale_regularization_loss_of_different_shapes():
    with pytest.raises(ValueError, match=r"one shape, but got the shapes \[\(\), \(2,\)\]"):
        tf.nn.scale_regularization_loss([np.ones(2, np.float32), 4.0])


@pytest.mark.parametrize(("value", "expected"), REGULARIZATION)
def test_scale_regularization_loss_elsewhere(value, expected):
    assert float(tf.nn.scale_regularization_loss(value)) == expected
    with (
        mirrored().scope(),
        pytest.raises(RuntimeError, match=r"scale_regularization_loss.*cross replica context"),
    ):
        tf.nn.scale_regularization_loss(value)
