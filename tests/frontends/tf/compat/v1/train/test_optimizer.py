"""`minimize` and its parts: at once, in model functions, in replicas, and on parameter servers."""

import keras
import numpy as np
import pytest

from frontends import tf
from frontends.tf.graph import Graph, Operation
from spmd.state import backing_of
from tests.frontends.tf.compat.v1.train.models import Model, X, Y, linear, run
from tests.frontends.tf.distribute.coordinator.clusters import strategy as servers
from tests.frontends.tf.distribute.replicas import mirrored

v1 = tf.compat.v1
train = v1.train


def by_hand(steps, rate, replicas=1, momentum=0.0):
    """Gradient descent in NumPy; `replicas` sums the gradients of equal parts of the batch."""
    w, b = np.zeros((3, 1)), np.zeros(1)
    moved_w, moved_b = w * 0, b * 0
    for step in range(steps):
        error = X @ w + b - Y
        moved_w = momentum * moved_w + replicas * 2 * X.T @ error / len(X)
        moved_b = momentum * moved_b + replicas * 2 * error.mean(0)
        w, b = w - rate(step) * moved_w, b - rate(step) * moved_b
    return w, b


@pytest.mark.parametrize("replicas", [1, 2])
@pytest.mark.parametrize("scales_loss", [False, True])
def test_gradients_of_replicas_are_summed_and_an_estimator_divides_the_loss(replicas, scales_loss):
    rate = 0.05
    model = Model(linear(lambda: train.GradientDescentOptimizer(rate)), scales_loss=scales_loss)
    losses = run(model, replicas, 4)
    w, b = by_hand(4, lambda step: rate, 1 if scales_loss else replicas)
    np.testing.assert_allclose(model.value("dense/kernel"), w, rtol=1e-5)
    np.testing.assert_allclose(model.value("dense/bias"), b, rtol=1e-5)
    assert model.value("global_step") == 4
    assert losses[0] > losses[-1]


def test_a_sum_is_not_divided():
    reduction = v1.losses.Reduction.SUM
    function = linear(lambda: train.GradientDescentOptimizer(0.01), reduction=reduction)
    one, two = Model(function, scales_loss=True), Model(function, scales_loss=True)
    run(one, 1, 3)
    run(two, 2, 3)
    np.testing.assert_allclose(one.value("dense/kernel"), two.value("dense/kernel"), rtol=1e-5)


def test_a_rate_of_the_global_step_changes_between_steps():
    def make():
        step = train.get_global_step()
        return train.MomentumOptimizer(train.exponential_decay(0.1, step, 2, 0.5, True), 0.9)

    model = Model(linear(make))
    run(model, 1, 5)
    w, b = by_hand(5, lambda step: 0.1 * 0.5 ** (step // 2), momentum=0.9)
    np.testing.assert_allclose(model.value("dense/kernel"), w, rtol=1e-4)
    np.testing.assert_allclose(model.value("dense/bias"), b, rtol=1e-4)


def test_slots_have_the_names_of_tensorflow_1_and_outlive_the_call():
    model = Model(linear(lambda: train.AdamOptimizer(0.1)))
    run(model, 1, 1)
    # Adam's first step is the rate, against the gradient.
    downhill = np.sign(by_hand(1, lambda step: 1.0)[0])
    np.testing.assert_allclose(model.value("dense/kernel"), 0.1 * downhill, rtol=1e-4)
    slots = [f"dense/{name}/Adam{end}" for name in ("kernel", "bias") for end in ("", "_1")]
    others = ["beta1_power", "beta2_power", "dense/bias", "dense/kernel", "global_step"]
    assert model.names() == sorted([*slots, *others])
    moment = model.value("dense/kernel/Adam")
    run(model, 1, 1)
    assert (model.value("dense/kernel/Adam") != moment).all()
    np.testing.assert_allclose(model.value("beta1_power"), 0.9**3, rtol=1e-6)
    assert model.names() == sorted([*slots, *others])


def test_two_optimizers_of_one_name_have_slots_of_their_own():
    def model_fn(x):
        names = ("generator/w", "discriminator/w")
        ones = [v1.get_variable(name, [2], initializer=tf.ones_initializer()) for name in names]
        optimizers = [train.AdamOptimizer(0.1), train.AdamOptimizer(0.2)]
        operations = [
            optimizer.minimize(tf.reduce_sum(x * one), var_list=[one])
            for optimizer, one in zip(optimizers, ones, strict=True)
        ]
        both = optimizers[0].minimize(tf.reduce_sum(sum(ones)), var_list=ones)
        assert [str(one.name) for one in optimizers[0].variables()] == [
            *("beta1_power:0", "beta2_power:0", "discriminator/w/Adam_2:0"),
            *("discriminator/w/Adam_3:0", "generator/w/Adam:0", "generator/w/Adam_1:0"),
        ]
        assert optimizers[0].get_slot(ones[1], "m").name == "discriminator/w/Adam_2:0"
        return x, [*operations, both]

    model = Model(model_fn)
    tf.function(model)(tf.ones(2))
    np.testing.assert_allclose(model.value("generator/w"), [0.8, 0.8], rtol=1e-5)
    assert {"beta1_power", "beta1_power_1"} < set(model.names())


def test_an_operation_that_is_not_run_changes_nothing():
    def model_fn(x):
        w = v1.get_variable("w", [2], initializer=tf.ones_initializer())
        operation = train.AdamOptimizer(0.1).minimize(tf.reduce_sum(w * x))
        assert isinstance(operation, Operation)
        assert v1.get_collection("train_op") == [operation]
        return x, []

    model = Model(model_fn)
    tf.function(model)(tf.ones(2))
    np.testing.assert_array_equal(model.value("w"), [1, 1])
    assert model.value("beta1_power") == np.float32(0.9)


def test_gradients_can_be_changed_between_the_two_parts():
    def model_fn(x):
        w = v1.get_variable("w", [2], initializer=tf.zeros_initializer())
        unused = v1.get_variable("unused", [2], initializer=tf.zeros_initializer())
        optimizer = train.GradientDescentOptimizer(1.0)
        pairs = optimizer.compute_gradients(tf.reduce_sum(w * x))
        assert [one for _, one in pairs] == [w, unused]
        assert pairs[1][0] is None
        clipped, norm = tf.clip_by_global_norm([gradient for gradient, _ in pairs], 1.0)
        variables = [one for _, one in pairs]
        return norm, optimizer.apply_gradients(zip(clipped, variables, strict=True))

    model = Model(model_fn)
    norm = tf.function(model)(tf.constant([3.0, 4.0]))
    assert float(norm) == 5
    np.testing.assert_allclose(model.value("w"), [-0.6, -0.8], rtol=1e-6)


def test_a_model_function_that_does_not_train_gets_zeros_and_an_operation_that_cannot_run():
    kept = []

    def model_fn(x):
        w = v1.get_variable("w", [2], initializer=tf.ones_initializer())
        optimizer = train.AdamOptimizer(0.1)
        ((gradient, variable),) = optimizer.compute_gradients(tf.reduce_sum(w * x))
        assert variable is w
        np.testing.assert_array_equal(gradient, [0, 0])
        kept.append(optimizer.apply_gradients([(tf.clip_by_value(gradient, -1.0, 1.0), w)]))
        return x, []

    Model(model_fn, trains=False)(tf.ones(2))
    with pytest.raises(RuntimeError, match=r"ModeKeys\.TRAIN only"):
        Graph().run(kept[0])


def test_variables_of_keras_are_trained_beside_those_of_the_collection():
    layer = keras.layers.Dense(1, kernel_initializer="zeros")
    layer.build((None, 2))

    def model_fn(x):
        scale = v1.get_variable("scale", [], initializer=tf.ones_initializer())
        frozen = v1.get_variable("frozen", [], initializer=tf.ones_initializer(), trainable=False)
        loss = tf.reduce_mean(layer(x) * scale + frozen)
        return loss, train.MomentumOptimizer(0.5, 0.9).minimize(loss)

    model = Model(model_fn)
    model.layer = layer
    tf.function(model)(tf.constant([[2.0, 4.0]]))
    np.testing.assert_allclose(layer.kernel.numpy(), [[-1.0], [-2.0]])
    assert model.value("frozen") == 1
    assert sum(name.endswith("/Momentum") for name in model.names()) == 3


def test_a_weight_of_the_loss_and_a_constraint():
    w = tf.Variable([1.0, 1.0], constraint=lambda value: tf.clip_by_value(value, 0.0, 1.0))
    optimizer = train.GradientDescentOptimizer(1.0)
    model = Model(
        lambda x: (x, optimizer.minimize(w * x, var_list=[w], grad_loss=tf.constant([0.5, -1.0])))
    )
    model.w = w
    tf.function(model)(tf.constant([1.0, 1.0]))
    np.testing.assert_array_equal(w.numpy(), [0.5, 1.0])
    slices = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]), dense_shape=[2])
    with pytest.raises(RuntimeError, match="constraint function on a sparse variable"):
        optimizer.apply_gradients([(slices, w)])


def test_rows_of_all_replicas_change():
    strategy = mirrored(2)
    with strategy.scope():
        w = tf.Variable(tf.ones([4, 1]))
        optimizer = train.MomentumOptimizer(0.1, 0.5)

    @tf.function
    def step(first):
        def replica():
            row = first + tf.distribute.get_replica_context().replica_id_in_sync_group
            slices = tf.IndexedSlices(tf.ones([1, 1]), tf.reshape(row, [1]), dense_shape=[4, 1])
            optimizer.apply_gradients([(slices, w)])

        strategy.run(replica)

    step(tf.constant(0))
    step(tf.constant(1))
    # Row 1 is moved by both steps, and rows that have no gradient keep their momentum.
    np.testing.assert_allclose(w.numpy()[:, 0], [0.9, 0.75, 0.9, 1.0], rtol=1e-6)
    np.testing.assert_allclose(optimizer.get_slot(w, "momentum").numpy()[:, 0], [1, 1.5, 1, 0])


def test_gradients_that_are_summed_already():
    strategy = mirrored(2)
    with strategy.scope():
        w = tf.Variable(1.0)
        optimizer = train.GradientDescentOptimizer(0.25)

    def replica():
        pairs = [(tf.constant(1.0), w)]
        optimizer.apply_gradients(pairs, skip_gradients_aggregation=True)
        optimizer.apply_gradients(pairs)

    strategy.run(replica)
    assert w.numpy() == 1 - 0.25 - 0.5
    with strategy.scope(), pytest.raises(RuntimeError, match="in a replica"):
        optimizer.apply_gradients([(tf.constant(1.0), w)])


@pytest.mark.parametrize(
    "make",
    [
        lambda: train.AdamOptimizer(0.1),
        lambda: train.FtrlOptimizer(0.1, l1_regularization_strength=0.01),
        lambda: train.AdagradOptimizer(0.1),
    ],
)
def test_parameter_servers_compute_what_a_step_computes(make):
    here, there = _trained(tf.distribute.get_strategy(), make), _trained(servers(1, 2), make)
    assert [str(one.name) for one in there] == [str(one.name) for one in here]
    for ours, expected in zip(there, here, strict=True):
        np.testing.assert_allclose(ours.numpy(), expected.numpy(), rtol=1e-5)
    assert int(there[1]) == 4


def _trained(strategy, make):
    """Trains for four steps; gives the variables."""
    with strategy.scope():
        w, count = tf.Variable(tf.ones([3, 1]), name="w"), tf.Variable(0, trainable=False)
        optimizer, averages = make(), train.ExponentialMovingAverage(0.9)

    def replica(x, y):
        optimizer.minimize(lambda: tf.reduce_mean((x @ w - y) ** 2), count, [w])
        averages.apply([w])

    step = tf.function(lambda x, y: strategy.run(replica, (x, y)))
    for _ in range(4):
        if strategy is tf.distribute.get_strategy():
            step(X, Y)
        else:
            coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
            coordinator.schedule(step, (X, Y))
            coordinator.join()
    return [w, count, averages.average(w), *optimizer.variables()]


def test_a_model_function_trains_on_parameter_servers():
    here = Model(linear(lambda: train.AdamOptimizer(0.1)))
    run(here, 1, 4)
    strategy = servers(1, 2)
    with strategy.scope():
        there = Model(linear(lambda: train.AdamOptimizer(0.1)))
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    step = tf.function(lambda x, y: strategy.run(there, (x, y)))
    for _ in range(4):
        coordinator.schedule(step, (X, Y))
        coordinator.join()
    assert there.names() == here.names()
    for name in here.names():
        np.testing.assert_allclose(there.value(name), here.value(name), rtol=1e-5)
        assert backing_of(there.store.variables[name]) is not None


def test_parts_of_a_divided_variable_are_trained_as_one():
    strategy = servers(1, 2, variable_partitioner=lambda shape, dtype: [2, 1])
    with strategy.scope():
        w = tf.Variable(tf.ones([4, 1]))
    optimizer = train.AdagradOptimizer(0.1, 1.0)
    optimizer.minimize(lambda: tf.reduce_sum(w * tf.constant([[1.0], [2], [0], [0]])), var_list=[w])
    expected = 1 - 0.1 * np.array([1, 2 / 5**0.5 * 2**0.5, 0, 0]) / 2**0.5
    np.testing.assert_allclose(w.numpy()[:, 0], expected, rtol=1e-6)
    np.testing.assert_allclose(optimizer.get_slot(w, "accumulator").numpy()[:, 0], [2, 5, 1, 1])


def test_what_is_wrong_is_said():
    w = tf.Variable(1.0, name="w")
    with pytest.raises(ValueError, match="gate_gradients must be one of"):
        train.GradientDescentOptimizer(0.1).compute_gradients(lambda: w * w, gate_gradients=3)
    with pytest.raises(ValueError, match=r"No gradients provided for any variable, .*'w'"):
        train.GradientDescentOptimizer(0.1).minimize(lambda: tf.constant(1.0), var_list=[w])
    with pytest.raises(NotImplementedError, match="must override apply_gradients"):
        train.Optimizer(False, "Own").minimize(lambda: w * w, var_list=[w])
    with pytest.raises(ValueError, match="No variables to optimize"):
        Model(lambda: (0, train.GradientDescentOptimizer(0.1).minimize(tf.constant(1.0))))()


def test_a_name_and_slots():
    optimizer, w = (
        train.RMSPropOptimizer(0.1, centered=True, name="Own"),
        tf.Variable(1.0, name="w"),
    )
    assert (optimizer.get_name(), optimizer.get_slot_names()) == ("Own", [])
    assert optimizer.get_slot(w, "rms") is None
    optimizer.minimize(lambda: w * w, var_list=[w])
    assert optimizer.get_slot_names() == ["mg", "momentum", "rms"]
    assert [str(one.name) for one in optimizer.variables()] == ["w/Own:0", "w/Own_1:0", "w/Own_2:0"]
    assert optimizer.get_slot(w, "mg").name == "w/Own_1:0"
    assert optimizer.get_slot(w, "other") is None


def test_a_subclass_gets_arguments_by_their_names():
    given = []

    class Noted(v1.train.GradientDescentOptimizer):
        """Notes what it is called with."""

        def compute_gradients(self, loss, var_list=None, **kwargs):
            given.append(sorted(kwargs))
            return super().compute_gradients(loss, var_list, **kwargs)

    variable = tf.Variable(1.0)
    Noted(0.5).minimize(lambda: variable * 2.0, var_list=[variable])
    assert float(variable) == 0
    names = ["aggregation_method", "colocate_gradients_with_ops", "gate_gradients", "grad_loss"]
    assert given == [names]


def test_names_of_two_optimizers_are_numbered_alike():
    with Graph(tape=tf.GradientTape(persistent=True)).as_default() as graph, graph.tape:
        for name in ("a", "b"):
            variable = v1.get_variable(name, [])
            v1.train.AdamOptimizer().minimize(variable * 2.0, var_list=[variable])
        powers = {one.op.name for one in v1.global_variables() if "power" in one.op.name}
    assert powers == {f"beta{i}_power{end}" for i in (1, 2) for end in ("", "_1")}
