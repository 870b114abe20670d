"""Losses, against numbers that TensorFlow 2.21 gave in graph mode."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from frontends import tf
from frontends.tf.graph import Graph

losses = tf.compat.v1.losses

LABELS = np.array([[1.0, 0, 1], [0, 0, 1], [1, 1, 0], [0, 1, 0]], np.float32)
OUTPUTS = np.array(
    [[0.9, 0.2, 0.4], [0.1, 0.6, 0.7], [0.3, 0.8, 0.5], [0.2, 0.35, 0.15]], np.float32
)
LOGITS = np.array([[2.0, -1, 0.5], [-0.3, 0, 1.5], [0.1, 3, -2], [1.2, 0.4, -0.6]], np.float32)
CLASSES = np.array([0, 2, 1, 1], np.int32)
ONE_HOT = np.eye(3, dtype=np.float32)[CLASSES]
OF_ROWS = np.array([[1.0], [0], [2], [0.5]], np.float32)
OF_ALL = np.array([[1.0, 0, 2], [0, 0, 0], [0.5, 1, 1], [3, 0, 1]], np.float32)


@pytest.fixture
def graph():
    with Graph().as_default() as made:
        yield made


@pytest.mark.parametrize(
    ("name", "labels", "predictions", "arguments", "unweighted", "weighted", "collected"),
    [
        ("absolute_difference", LABELS, OUTPUTS, {}, 0.3583333, 0.4666666, "value"),
        ("cosine_distance", LABELS, OUTPUTS, {"axis": 1}, 0.1375, -0.0583333, "value"),
        ("hinge_loss", LABELS, LOGITS, {}, 0.525, 0.4333333, "value"),
        ("huber_loss", LABELS, LOGITS, {"delta": 0.7}, 0.4045833, 0.7669444, "value"),
        ("log_loss", LABELS, OUTPUTS, {}, 0.5149056, 0.6892291, "value"),
        ("mean_pairwise_squared_error", LABELS, OUTPUTS, {}, 1.915, 2.0074999, "value_2"),
        ("mean_squared_error", LABELS, OUTPUTS, {}, 0.1779167, 0.2458333, "value"),
        ("sigmoid_cross_entropy", LABELS, LOGITS, {"label_smoothing": 0.1}, 0.5089067, 0.4934427, "value"),
        ("softmax_cross_entropy", ONE_HOT, LOGITS, {"label_smoothing": 0.1}, 0.6096295, 0.5602406, "value"),
        ("sparse_softmax_cross_entropy", CLASSES, LOGITS, {}, 0.4771295, 0.3335738, "value"),
    ],
)  # fmt: skip
def test_losses(graph, name, labels, predictions, arguments, unweighted, weighted, collected):
    loss = getattr(losses, name)
    first = loss(labels, predictions, **arguments)
    weights = OF_ROWS[:, 0] if "softmax" in name else OF_ROWS
    second = loss(labels, predictions, weights=weights, **arguments)
    np.testing.assert_allclose([first, second], [unweighted, weighted], rtol=1e-6)
    scope = f"{name}_loss" if name.endswith(("distance", "entropy")) else name
    assert graph.given == [f"{scope}/{collected}:0", f"{scope}_1/{collected}:0"]
    assert losses.get_losses() == [first, second]
    np.testing.assert_allclose(losses.get_total_loss(), unweighted + weighted, rtol=1e-6)


@pytest.mark.parametrize(
    ("reduction", "none", "zero", "rows", "each"),
    [
        ("SUM", 2.135, 0, 2.2125, 1.4075),
        ("MEAN", 0.1779167, 0, 0.2107143, 0.1481579),
        ("SUM_OVER_BATCH_SIZE", 0.1779167, 0, 0.184375, 0.1172917),
        ("SUM_BY_NONZERO_WEIGHTS", 0.1779167, 0, 0.2458333, 0.2010714),
        ("SUM_OVER_NONZERO_WEIGHTS", 0.1779167, 0, 0.2458333, 0.2010714),
    ],
)
def test_reductions(graph, reduction, none, zero, rows, each):
    key = getattr(losses.Reduction, reduction)
    found = [
        losses.mean_squared_error(LABELS, OUTPUTS, weights=weights, reduction=key)
        for weights in (1.0, 0.0, OF_ROWS, OF_ALL)
    ]
    np.testing.assert_allclose(found, [none, zero, rows, each], rtol=1e-6)
    assert graph.loss_reduction == key


def test_without_a_reduction_losses_stay_as_they_are():
    found = losses.mean_squared_error(LABELS, OUTPUTS, OF_ALL, reduction=losses.Reduction.NONE)
    expected = [[0.01, 0, 0.72], [0, 0, 0], [0.245, 0.04, 0.25], [0.12, 0, 0.0225]]
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_pairwise_errors_with_a_weight_for_each_element():
    found = losses.mean_pairwise_squared_error(LABELS, OUTPUTS, OF_ALL)
    np.testing.assert_allclose(found, 7.046666, rtol=1e-6)


def test_gradients():
    softmax = jax.grad(lambda x: losses.softmax_cross_entropy(ONE_HOT, x, OF_ROWS[:, 0], 0.1))
    huber = jax.grad(lambda x: losses.huber_loss(LABELS, x, OF_ALL))
    of_softmax = [
        [-0.049245, 0.001926, 0.047319],
        [0, 0, 0],
        [0.012326, 0.005665, -0.017992],
        [0.097667, -0.109174, 0.011507],
    ]
    of_huber = [
        [0.142857, 0, -0.142857],
        [0, 0, 0],
        [-0.064286, 0.142857, -0.142857],
        [0.428571, 0, -0.085714],
    ]
    np.testing.assert_allclose(softmax(LOGITS), of_softmax, atol=1e-6)
    np.testing.assert_allclose(huber(LOGITS), of_huber, atol=1e-6)


def test_collections_and_names(graph):
    v1 = tf.compat.v1
    losses.mean_squared_error(LABELS, OUTPUTS)
    losses.mean_squared_error(LABELS, OUTPUTS, scope="mine")
    losses.mean_squared_error(LABELS, OUTPUTS)
    losses.mean_squared_error(LABELS, OUTPUTS, loss_collection=None)
    losses.mean_squared_error(LABELS, OUTPUTS, loss_collection="others")
    with v1.variable_scope("tower"):
        losses.absolute_difference(LABELS, OUTPUTS, reduction=losses.Reduction.SUM)
    v1.get_variable(
        "w", [2], initializer=tf.ones_initializer(), regularizer=lambda w: tf.reduce_sum(w) / 2
    )
    totals = [
        losses.get_total_loss(),
        losses.get_regularization_loss(),
        losses.get_total_loss(False),
        losses.get_total_loss(scope="tower"),
        losses.get_losses(loss_collection="others")[0],
    ]
    np.testing.assert_allclose(totals, [5.83375, 1, 4.83375, 4.3, 0.1779167], rtol=1e-6)
    assert {
        "mine/value:0",
        "mean_squared_error_1/value:0",
        "tower/absolute_difference/Sum:0",
    } < set(graph.tensors)


def test_outside_of_a_model_function_nothing_is_collected():
    before = len(losses.get_losses())
    losses.mean_squared_error(LABELS, OUTPUTS)
    losses.add_loss(jnp.ones(()))
    assert len(losses.get_losses()) == before == 0
    assert float(losses.get_regularization_loss()) == 0
    with pytest.raises(ValueError, match="there are none"):
        losses.get_total_loss()


def test_the_dtype_is_that_of_the_losses():
    loss = losses.compute_weighted_loss(np.array([1, 2, 4], np.int32), [1.0, 0.0, 1.0])
    assert (int(loss), loss.dtype) == (2, jnp.int32)
    half = losses.sigmoid_cross_entropy(LABELS, LOGITS.astype(np.float16))
    assert half.dtype == jnp.float16


def test_sparse_labels_and_weights_may_have_an_axis_of_size_1():
    found = losses.sparse_softmax_cross_entropy(CLASSES[:, None], LOGITS, OF_ROWS)
    np.testing.assert_allclose(found, 0.3335738, rtol=1e-6)


@pytest.mark.parametrize("rows", [8, 7, 5])
def test_losses_of_replicas_leave_padding_out(rows):
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    labels = np.outer(np.arange(rows), [1, 3]).astype(np.float32)
    data = np.concatenate([np.full((8, 2), 9, np.float32), labels])
    traced = set()

    def replica(batch):
        traced.add(batch.shape[0])
        zeros = tf.zeros_like(batch)
        with Graph().as_default():
            return (
                losses.mean_squared_error(batch, zeros),
                losses.mean_squared_error(batch, zeros, reduction=losses.Reduction.SUM),
                losses.mean_pairwise_squared_error(batch, zeros),
            )

    dataset = tf.data.Dataset.from_tensor_slices(data).batch(8)
    *_, results = [
        strategy.run(replica, args=(batch,))
        for batch in strategy.experimental_distribute_dataset(dataset)
    ]
    first = -(-rows // 2)
    for each, block in enumerate((labels[:first], labels[first:])):
        found = [strategy.experimental_local_results(one)[each] for one in results]
        expected = [np.mean(block**2), np.sum(block**2), np.sum((block[:, 1] - block[:, 0]) ** 2)]
        np.testing.assert_allclose(found, expected, rtol=1e-5)
    # Of no program for fewer rows, which would be another one to compile.
    assert min(traced) == 4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: losses.mean_squared_error(LABELS, None), "Argument `predictions` must not be None"),
        (lambda: losses.mean_squared_error(LABELS, OUTPUTS[:, :2]), r"\(4, 2\) of predictions and \(4, 3\) of labels"),
        (lambda: losses.mean_squared_error(LABELS, OUTPUTS, OF_ROWS[:, 0]), "weights can not be broadcast to values"),
        (lambda: losses.mean_squared_error(LABELS, OUTPUTS, OF_ROWS[:2]), "weights can not be broadcast to values"),
        (lambda: losses.mean_squared_error(LABELS, OUTPUTS, reduction="sum"), "Invalid Reduction Key sum"),
        (lambda: losses.cosine_distance(LABELS, OUTPUTS), "You must specify argument `axis`"),
    ],
)  # fmt: skip
def test_arguments_that_do_not_fit(call, message):
    with pytest.raises(ValueError, match=message):
        call()
