"""Optimizers in the way of Keras 2; their numbers are compared with TensorFlow's in tests/golden/scenarios/own_optimizers.py."""

from typing import Any

import numpy as np
import pytest

from frontends import tf
from tests.frontends.tf.keras.strategies import mirrored
from tests.golden.scenarios.own_optimizers import optimizers as make_optimizers

legacy = tf.keras.optimizers.legacy
_TF: Any = tf
AdamWeightDecay, LARS, Lion = make_optimizers(_TF).values()


class Momentum(tf.keras.optimizers.Optimizer):
    """As scripts for TensorFlow up to 2.10 write it: its base is not legacy's."""

    def __init__(self, learning_rate=0.5, name="Momentum", **kwargs):
        self.seen = []
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", learning_rate)
        self._set_hyper("momentum", 0.5)

    def _create_slots(self, var_list):
        for var in var_list:
            self.add_slot(var, "m")

    def _resource_apply_dense(self, grad, var, apply_state=None):
        self.seen.append(var.name)
        m = self.get_slot(var, "m")
        m.assign(m * self._get_hyper("momentum", var.dtype) + grad)
        return var.assign_sub(self._decayed_lr(var.dtype) * m)

    def get_config(self):
        rate = self._serialize_hyperparameter("learning_rate")
        return {**super().get_config(), "learning_rate": rate}


def negative(y_true, y_pred):
    """A loss whose gradient of the weight is -1, whatever the weight."""
    return -y_pred


def dense(optimizer, replicas=1):
    with mirrored(replicas).scope():
        layer = tf.keras.layers.Dense(1, use_bias=False, kernel_initializer="zeros", name="dense")
        model = tf.keras.Sequential([tf.keras.Input((1,)), layer])
        model.compile(optimizer(), negative)
    return model


def fit(model, epochs=1, **options):
    ones = np.ones((4, 1), np.float32)
    model.fit(ones, ones, batch_size=4, epochs=epochs, verbose=0, **options)
    return float(model.get_weights()[0].squeeze())


def test_subclasses_of_the_newer_classes_get_the_older_ones_as_bases():
    assert issubclass(Momentum, legacy.Optimizer)

    class Own(tf.keras.optimizers.Adam):
        def _resource_apply_dense(self, grad, var, apply_state=None):
            return super()._resource_apply_dense(grad * 2, var, apply_state)

    class New(tf.keras.optimizers.Optimizer):
        def update_step(self, gradient, variable, learning_rate):
            variable.assign_sub(gradient * learning_rate)

        def _resource_apply_dense(self, grad, var, apply_state=None):
            raise AssertionError("update_step is for this")

    assert issubclass(Own, legacy.Adam)
    assert not issubclass(New, legacy.Optimizer)
    weight = tf.Variable(1.0)
    New(0.5).apply_gradients([(tf.constant(1.0), weight)])
    assert weight.numpy() == 0.5
    own, other = Own(0.5), legacy.Adam(0.5)
    expected = tf.Variable(0.5)
    own.apply_gradients([(tf.constant(1.0), weight)])
    other.apply_gradients([(tf.constant(2.0), expected)])
    np.testing.assert_allclose(weight.numpy(), expected.numpy(), rtol=1e-6)


@pytest.mark.parametrize("replicas", [1, 2])
def test_it_trains_in_fit_and_hyperparameters_change_between_epochs(replicas):
    model = dense(Momentum, replicas)

    def change(epoch, logs):
        model.optimizer.learning_rate = 0.25
        model.optimizer.momentum = 1.0

    callback = tf.keras.callbacks.LambdaCallback(on_epoch_end=change)
    assert fit(model, epochs=2, callbacks=[callback]) == 0.5 * 1 + 0.25 * 2
    assert model.optimizer.seen[0].endswith("dense/kernel:0")
    assert model.layers[-1].kernel.name == "kernel"


def test_callbacks_of_keras_read_and_set_the_rate():
    model = dense(Momentum)
    halve = tf.keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate / 2)
    assert fit(model, epochs=2, callbacks=[halve]) == 0.25 * 1 + 0.125 * 1.5


def test_its_own_apply_gradients_runs_in_fit():
    class Twice(Momentum):
        def apply_gradients(self, grads_and_vars, name=None, **kwargs):
            pairs = [(2 * grad, variable) for grad, variable in grads_and_vars]
            return super().apply_gradients(pairs, name, **kwargs)

    model = dense(Twice)
    assert fit(model) == 1.0
    model.train_on_batch(np.ones((4, 1)), np.ones((4, 1)))
    assert float(model.get_weights()[0].squeeze()) == 1.0 + 0.5 * 3


def test_a_schedule_is_called_by_users_and_read_by_keras():
    schedule = tf.keras.optimizers.schedules.PiecewiseConstantDecay([0], [1.0, 0.5])
    for optimizer in (Momentum(schedule), legacy.SGD(schedule)):
        assert optimizer.learning_rate(0) == optimizer.lr(0) == 1.0
        assert optimizer.learning_rate(optimizer.iterations + 1) == 0.5
    model = dense(lambda: Momentum(schedule))
    assert fit(model, epochs=2) == 1.0 * 1 + 0.5 * 1.5
    model.optimizer.learning_rate = 0.25
    assert model.optimizer.learning_rate == 0.25
    assert legacy.SGD(0.5).learning_rate == 0.5


@pytest.mark.parametrize("replicas", [1, 2])
def test_rows_are_updated_alone_on_any_number_of_replicas(replicas):
    seen = []

    class Rows(Momentum):
        def _resource_apply_sparse(self, grad, var, indices, apply_state=None):
            seen.append(indices.shape)
            self._resource_scatter_add(var, indices, -self._decayed_lr(var.dtype) * grad)
            return self._resource_scatter_update(self.get_slot(var, "m"), indices, grad)

    strategy = mirrored(replicas)
    with strategy.scope():
        table, optimizer = tf.Variable(tf.zeros((4, 2))), Rows()

    @tf.function
    def run():
        def step():
            context = tf.distribute.get_replica_context()
            assert context is not None
            replica = context.replica_id_in_sync_group
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.gather(table, [3, replica, 3]))
            optimizer.apply_gradients([(tape.gradient(loss, table), table)])

        strategy.run(step)

    run()
    counts = np.array([[1.0], [replicas - 1], [0], [2 * replicas]])
    np.testing.assert_array_equal(table.numpy(), -0.5 * counts * np.ones((1, 2)))
    slot = optimizer.get_slot(table, "m")
    np.testing.assert_array_equal(slot.numpy(), counts * np.ones((1, 2)))
    assert seen


def test_rows_come_once_and_become_an_array_without_a_method_for_them():
    seen = []

    class Rows(Momentum):
        def _resource_apply_sparse(self, grad, var, indices):
            seen.append((np.asarray(grad).tolist(), np.asarray(indices).tolist()))

    table = tf.Variable(tf.zeros((3, 1)))
    slices = tf.IndexedSlices(tf.constant([[1.0], [2.0], [4.0]]), [2, 0, 2], (3, 1))
    Rows().apply_gradients([(slices, table)])
    assert seen == [([[2.0], [5.0]], [0, 2])]
    Momentum().apply_gradients([(slices, table)])
    np.testing.assert_array_equal(table.numpy(), [[-1.0], [0.0], [-2.5]])


@pytest.mark.parametrize("make", [AdamWeightDecay, LARS, Lion, Momentum])
def test_checkpoints_have_the_slots(make, tmp_path):
    def new():
        weight = tf.Variable([1.0, -2.0])
        optimizer = make(0.125)
        return weight, optimizer, tf.train.Checkpoint(weight=weight, optimizer=optimizer)

    def step(weight, optimizer):
        optimizer.apply_gradients([(tf.constant([0.5, 1.0]) + weight, weight)])
        return weight.numpy()

    weight, optimizer, checkpoint = new()
    step(weight, optimizer)
    path = checkpoint.save(str(tmp_path / "ckpt"))
    expected = step(weight, optimizer)
    again, other, checkpoint = new()
    checkpoint.restore(path)
    np.testing.assert_array_equal(step(again, other), expected)
    assert other.iterations == 2


def test_files_have_the_slots(tmp_path):
    model = dense(Momentum)
    fit(model)
    path = str(tmp_path / "model.keras")
    model.save(path)
    found = tf.keras.models.load_model(path, custom_objects={"Momentum": Momentum}, compile=False)
    assert float(found.get_weights()[0].squeeze()) == 0.5
    model.save_weights(str(tmp_path / "a.weights.h5"))
    other = dense(Momentum)
    other.load_weights(str(tmp_path / "a.weights.h5"))
    assert fit(other) == fit(model) == 0.5 + 0.5 * 1.5


def test_gradients_are_transformed_and_minimized():
    weight = tf.Variable(1.0)
    double = [lambda pairs: [(2 * grad, variable) for grad, variable in pairs]]
    optimizer = LARS(0.5, gradient_transformers=double, weight_decay=0.0)
    optimizer.minimize(lambda: weight * 1.0, [weight], grad_loss=tf.constant(0.25))
    # The norm of the gradient is 0.5, so 0.5 * 1 / 0.5 times the gradient is the step.
    assert weight.numpy() == 1.0 - 0.5 * 1.0 * 0.5


def test_slots_have_initial_values_and_shapes():
    weight, optimizer = tf.Variable([1.0, 2.0]), Momentum()
    copied = optimizer.add_slot(weight, "slow", initializer=weight)
    factored = optimizer.add_slot(weight, "row", shape=[1], initializer="ones")
    assert copied.numpy().tolist() == [1.0, 2.0]
    assert factored.numpy().tolist() == [1.0]
    assert optimizer.add_slot(weight, "slow") is optimizer.get_slot(weight, "slow") is copied
    assert optimizer.get_slot_names() == ["slow", "row"]
    assert len(optimizer.weights) == 3


def test_keras_does_not_decay_weights_by_an_attribute_of_that_name():
    class Own(legacy.SGD):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self.weight_decay = 0.5

        def _resource_apply_dense(self, grad, var, apply_state=None):
            return super()._resource_apply_dense(grad, var, apply_state)

    weight, optimizer = tf.Variable(1.0), Own(0.5, 0.0, False, "Own")
    optimizer.apply_gradients([(tf.constant(1.0), weight)])
    assert weight.numpy() == 0.5
    assert optimizer.weight_decay == 0.5
    assert optimizer._name == optimizer.name == "Own"


def test_nadam_counts_its_steps_once_for_all_variables():
    class Own(legacy.Nadam):
        def _resource_apply_dense(self, grad, var, apply_state=None):
            return super()._resource_apply_dense(grad, var, apply_state)

    found = []
    for make in (Own, legacy.Nadam):
        variables, optimizer = [tf.Variable(1.0), tf.Variable(2.0)], make(0.1)
        for _ in range(3):
            optimizer.apply_gradients([(tf.constant(0.5), one) for one in variables])
        found.append([one.numpy() for one in variables])
    np.testing.assert_array_equal(*found)


def test_what_cannot_be():
    with pytest.raises(TypeError, match="foo=1"):
        legacy.Optimizer("name", foo=1)
    with pytest.raises(ValueError, match="clipnorm >= 0"):
        legacy.Optimizer("name", clipnorm=-1.0)
    with pytest.raises(TypeError, match="at most 4 arguments"):
        legacy.SGD(0.1, 0.9, True, "name", 1)
    with pytest.raises(NotImplementedError, match="_resource_apply_dense"):
        legacy.Optimizer("name").apply_gradients([(tf.constant(1.0), tf.Variable(1.0))])
    with pytest.raises(KeyError, match="after its first step"):
        Momentum().get_slot(tf.Variable(1.0), "m")
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = Momentum().nothing
