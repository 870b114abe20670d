"""Strategies whose replicas have several logical devices, simulated: the numbers of as many replicas of one device."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import keras
import numpy as np
import pytest
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

import spmd
from frontends import tf
from frontends.tf.distribute.strategy import Strategy
from spmd.topology import layout_of, mesh_of_cores

MeshOf = Callable[[int], Mesh]
DATA = np.random.RandomState(1).randn(23, 16).astype(np.float32)
WEIGHT = np.random.RandomState(0).randn(16, 32).astype(np.float32)


@pytest.fixture
def grouped() -> Strategy:
    return Strategy(spmd.make_mesh(model=2))


@pytest.fixture
def flat(mesh_of: MeshOf) -> Strategy:
    return Strategy(mesh_of(4))


def trained(strategy: Strategy, folder: Path) -> tuple[list[float], list[np.ndarray]]:
    """Trains a layer that is divided among logical devices, with a checkpoint half-way."""
    parts = [1, layout_of(strategy.mesh).devices_per_replica]
    with strategy.scope():
        weight = tf.Variable(strategy.experimental_split_to_logical_devices(WEIGHT, parts))
        momentum = tf.Variable(tf.zeros_like(weight))
        bias = tf.Variable(tf.zeros([32]))
        count = tf.Variable(
            0.0,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
        )

    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            hidden = tf.tanh(tf.matmul(x, weight) + bias)
            hidden = strategy.experimental_split_to_logical_devices(hidden, parts)
            hidden = strategy.experimental_replicate_to_logical_devices(hidden)
            loss = tf.nn.compute_average_loss(tf.reduce_sum(hidden**2, 1), global_batch_size=8)
        context = tf.distribute.get_replica_context()
        gradients = context.all_reduce("SUM", tape.gradient(loss, [weight, bias]))
        momentum.assign(0.9 * momentum + gradients[0])
        weight.assign_sub(0.01 * momentum)
        bias.assign_sub(0.01 * gradients[1])
        count.assign_add(tf.reduce_sum(x))
        return strategy.experimental_assign_to_logical_device(loss, 0)

    @tf.function
    def train(x: Any) -> Any:
        return strategy.reduce("SUM", strategy.run(step, args=(x,)), axis=None)

    dataset = tf.data.Dataset.from_tensor_slices(DATA).batch(8)
    losses = [float(train(x)) for x in strategy.experimental_distribute_dataset(dataset)]
    checkpoint = tf.train.Checkpoint(weight=weight, momentum=momentum, bias=bias, count=count)
    path = checkpoint.save(str(folder / "checkpoint"))
    again = [float(train(x)) for x in strategy.experimental_distribute_dataset(dataset)]
    checkpoint.restore(path)
    iterator = iter(strategy.experimental_distribute_dataset(dataset))
    outside = [
        float(strategy.reduce("SUM", strategy.run(step, args=(x,)), axis=None)) for x in iterator
    ]
    np.testing.assert_allclose(outside, again, rtol=1e-5)
    if parts[1] > 1:
        for variable in (weight, momentum):
            assert variable.value().sharding.spec == P(None, "model")
    return [*losses, *outside], [np.asarray(v) for v in (weight, momentum, bias, count)]


def test_a_custom_loop(grouped: Strategy, flat: Strategy, tmp_path: Path) -> None:
    losses, variables = trained(grouped, tmp_path / "grouped")
    expected, expected_variables = trained(flat, tmp_path / "flat")
    assert len(losses) == 6
    np.testing.assert_allclose(losses, expected, rtol=1e-5)
    for one, other in zip(variables, expected_variables, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


def test_keras_fit(grouped: Strategy, flat: Strategy) -> None:
    x = np.random.RandomState(0).randn(36, 6, 6, 1).astype(np.float32)
    y = (x.mean((1, 2, 3)) > 0).astype(np.int32)

    def fitted(strategy: Strategy) -> list[Any]:
        keras.utils.set_random_seed(1)
        with strategy.scope():
            layers = keras.layers
            model = keras.Sequential(
                [
                    layers.Input((6, 6, 1)),
                    layers.Conv2D(4, 3),
                    layers.BatchNormalization(),
                    layers.Flatten(),
                    layers.Dropout(0.2),
                    layers.Dense(2),
                ]
            )
            loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
            model.compile("adam", loss, metrics=["accuracy"])
        history = model.fit(x, y, batch_size=16, epochs=2, verbose=0)
        return [*history.history.values(), model.predict(x[:13], batch_size=8, verbose=0)]

    for one, other in zip(fitted(grouped), fitted(flat), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-5)


def test_replicas_are_counted_not_devices(grouped: Strategy) -> None:
    assert grouped.num_replicas_in_sync == 4
    name = "/job:localhost/replica:0/task:0/device:CPU:{}"
    assert grouped.extended.worker_devices == tuple(map(name.format, (0, 2, 4, 6)))
    assert grouped.extended.parameter_devices == grouped.extended.worker_devices
    values = grouped.experimental_distribute_values_from_function(
        lambda context: np.float32(context.replica_id_in_sync_group)
    )
    assert list(map(float, grouped.experimental_local_results(values))) == [0, 1, 2, 3]
    contexts = []

    def dataset_fn(context: Any) -> Any:
        contexts.append((context.num_input_pipelines, context.num_replicas_in_sync))
        return tf.data.Dataset.range(9).batch(2)

    batches = grouped.distribute_datasets_from_function(dataset_fn)
    assert [grouped.gather(batch, 0).tolist() for batch in batches] == [list(range(8)), [8]]
    assert contexts == [(1, 4)]


def test_several_steps_in_one_program_and_op_by_op(grouped: Strategy) -> None:
    def total(batch: Any) -> Any:
        def add(x: Any) -> Any:
            return tf.reduce_sum(grouped.experimental_split_to_logical_devices(x, [2]))

        return grouped.reduce("SUM", grouped.run(add, args=(batch,)), axis=None)

    dataset = grouped.experimental_distribute_dataset(tf.data.Dataset.range(32).batch(16))
    assert grouped.run_steps(total, iter(dataset), 2).tolist() == [120, 376]
    tf.config.run_functions_eagerly(True)
    try:
        assert [int(total(batch)) for batch in dataset] == [120, 376]
    finally:
        tf.config.run_functions_eagerly(False)


@pytest.mark.parametrize("cores", [2, 4])
def test_calls_of_the_host(cores: int, capfd: pytest.CaptureFixture[str]) -> None:
    strategy = Strategy(mesh_of_cores(np.array(jax.devices()).reshape(-1, cores)))
    calls: list[int] = []

    def double(value: np.ndarray) -> np.ndarray:
        calls.append(1)
        return 2 * value

    def step(x: Any) -> Any:
        tf.print("sum", tf.reduce_sum(x))
        return tf.reduce_sum(tf.numpy_function(double, [x], tf.TensorSpec(x.shape, tf.float32)))

    @tf.function
    def run(batch: Any) -> Any:
        return strategy.reduce("SUM", strategy.run(step, args=(batch,)), axis=None)

    replicas = 8 // cores
    dataset = tf.data.Dataset.from_tensor_slices(np.arange(replicas, dtype=np.float32))
    (batch,) = strategy.experimental_distribute_dataset(dataset.batch(replicas))
    assert float(run(batch)) == sum(range(replicas)) * 2
    assert len(calls) == replicas
    jax.effects_barrier()
    assert capfd.readouterr().err.count("sum") == replicas


def test_an_axis_of_rows_need_not_divide(grouped: Strategy) -> None:
    def step(x: Any) -> Any:
        return tf.reduce_sum(grouped.experimental_split_to_logical_devices(x, [2, 1]))

    dataset = tf.data.Dataset.from_tensor_slices(np.ones((13, 3), np.float32)).batch(8)
    sums = [
        float(grouped.reduce("SUM", grouped.run(step, args=(x,)), axis=None))
        for x in grouped.experimental_distribute_dataset(dataset)
    ]
    assert sums == [24, 15]


@pytest.mark.filterwarnings("ignore::spmd.errors.RecompilationWarning")
@pytest.mark.parametrize("cores", [1, 2, 4])
@pytest.mark.parametrize("in_step", [True, False])
def test_what_tensorflow_refuses(cores: int, in_step: bool) -> None:
    strategy = Strategy(mesh_of_cores(np.array(jax.devices()).reshape(-1, cores)))

    def call(method: Callable[..., Any], *args: Any) -> Any:
        return strategy.run(lambda: method(*args)) if in_step else method(*args)

    split = strategy.experimental_split_to_logical_devices
    assign = strategy.experimental_assign_to_logical_device
    tensor = tf.ones([4, 6])
    with pytest.raises(ValueError, match="one number for each axis"):
        call(split, tensor, [cores])
    with pytest.raises(ValueError, match="cannot be divided into 4 equal parts"):
        call(split, tensor, [1, 4])
    with pytest.raises(ValueError, match=f"logical devices of a replica, {cores}, but"):
        call(split, tensor, [1, 3])
    with pytest.raises(ValueError, match="1 or more"):
        call(split, tensor, [1, 0])
    for device in (-1, cores):
        with pytest.raises(ValueError, match=f"from 0 to {cores - 1}"):
            call(assign, tensor, device)
    call(assign, tensor, cores - 1)
    call(split, tensor, [cores, 1])
    strategy.partitions_spmd = True
    with pytest.raises(ValueError, match="SPMD mode"):
        call(assign, tensor, 0)


def test_one_device_for_each_replica_changes_nothing(flat: Strategy) -> None:
    tensor = tf.ones([4, 6])
    assert flat.experimental_split_to_logical_devices(tensor, [1, 1]) is tensor
    assert flat.experimental_replicate_to_logical_devices(tensor) is tensor
    assert flat.experimental_assign_to_logical_device(tensor, 0) is tensor


def test_outside_of_run_a_tensor_is_put_on_the_devices(grouped: Strategy) -> None:
    tensor = tf.ones([4, 6])
    divided = grouped.experimental_split_to_logical_devices(tensor, [2, 1])
    assert {shard.data.shape for shard in divided.addressable_shards} == {(2, 6)}
    whole = grouped.experimental_replicate_to_logical_devices({"a": divided})["a"]
    assert whole.sharding == layout_of(grouped.mesh).whole
    np.testing.assert_array_equal(whole, tensor)
