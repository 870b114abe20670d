"""Values and datasets that scripts distribute by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from frontends import tf
from tests.frontends.tf.distribute.replicas import lists, mirrored


def test_values_from_function():
    strategy, seen = mirrored(), []

    def value_fn(context):
        seen.append((context.replica_id_in_sync_group, context.num_replicas_in_sync))
        r = context.replica_id_in_sync_group
        return {"a": np.full((2,), r, np.float32), "b": (r, r * 0.5), "c": jnp.int32(r)}

    value = strategy.experimental_distribute_values_from_function(value_fn)
    assert seen == [(0, 2), (1, 2)]
    assert lists(value) == {"a": [[0.0, 0.0], [1.0, 1.0]], "b": ([0, 1], [0.0, 0.5]), "c": [0, 1]}
    assert lists(strategy.run(lambda value: value["b"][1] * 2, args=(value,))) == [0.0, 1.0]
    assert [v.devices() for v in value["c"].values] == [{d} for d in jax.devices("cpu")[:2]]


def test_values_from_function_of_several_shapes_can_be_gathered_but_not_used():
    strategy = mirrored()
    value = strategy.experimental_distribute_values_from_function(
        lambda context: np.full((1, context.replica_id_in_sync_group + 1), 2.0, np.float32)
    )
    gathered = tf.function(lambda value: strategy.gather(value, axis=1))
    assert strategy.gather(value, axis=1).tolist() == gathered(value).tolist() == [[2.0, 2.0, 2.0]]
    assert [one.tolist() for one in strategy.experimental_local_results(value)] == [
        [[2.0]],
        [[2.0, 2.0]],
    ]
    with pytest.raises(TypeError, match="one value for each of 2 replicas"):
        strategy.run(lambda x: x + 1, args=(value,))
    with pytest.raises(TypeError, match="of the shapes"):
        strategy.reduce("SUM", value, axis=None)


@pytest.mark.parametrize("replicas", [1, 2])
def test_values_from_function_inside_a_function(replicas):
    strategy = mirrored(replicas)
    with strategy.scope():
        weight = tf.Variable(2.0, aggregation=tf.VariableAggregation.SUM)

    def step(value):
        with tf.GradientTape() as tape:
            loss = value * weight
        weight.assign_add(tape.gradient(loss, weight))
        return loss

    @tf.function
    def program(x):
        value = strategy.experimental_distribute_values_from_function(
            lambda context: x + float(context.replica_id_in_sync_group)
        )
        result = strategy.run(step, args=(value,))
        return strategy.reduce("SUM", result, axis=None), strategy.experimental_local_results(
            result
        )

    for start, expected in (
        (1.0, [2.0, 4.0]),
        (3.0, [9.0, 20.0] if replicas == 1 else [15.0, 20.0]),
    ):
        total, each = program(tf.constant(start))
        assert [float(value) for value in each] == expected[:replicas]
        assert total == sum(expected[:replicas])
    assert program.experimental_get_tracing_count() == 1


def test_values_from_function_inside_a_function_have_one_shape():
    strategy = mirrored()

    @tf.function
    def program():
        return strategy.experimental_distribute_values_from_function(
            lambda context: tf.zeros([context.replica_id_in_sync_group + 1])
        )

    with pytest.raises(ValueError, match="one shape inside of a step"):
        program()


@pytest.mark.parametrize(
    "name", ["experimental_make_numpy_dataset", "make_experimental_numpy_dataset"]
)
def test_numpy_datasets(name):
    strategy = mirrored()
    arrays = (np.arange(6.0, dtype=np.float32).reshape(3, 2), np.arange(3))
    for owner in (strategy, strategy.extended):
        make = getattr(owner, name)
        dataset = make(arrays)
        assert isinstance(dataset, tf.data.Dataset)
        found = [(x.tolist(), int(y)) for x, y in dataset]
        assert found == [([0.0, 1.0], 0), ([2.0, 3.0], 1), ([4.0, 5.0], 2)]
        (batch,) = strategy.experimental_distribute_dataset(dataset.batch(4))
        assert lists(batch) == ([[[0.0, 1.0], [2.0, 3.0]], [[4.0, 5.0]]], [[0, 1], [2]])
        assert [row["x"].tolist() for row in make({"x": arrays[1]}, session=None)] == [0, 1, 2]


def test_values_are_made_outside_of_replicas():
    strategy = mirrored()
    with pytest.raises(RuntimeError, match="outside"):
        strategy.run(
            lambda: strategy.experimental_distribute_values_from_function(lambda _: 1.0) and None
        )


def test_a_replica_may_distribute_a_dataset_but_not_read_it():
    strategy = mirrored()
    dataset = tf.data.Dataset.range(4).batch(2)
    made = []
    for make in (
        lambda: strategy.experimental_distribute_dataset(dataset),
        lambda: strategy.distribute_datasets_from_function(lambda _: dataset),
    ):
        strategy.run(lambda make=make: made.append(make()))
        assert len(list(made[-1])) in (1, 2)
        with pytest.raises(ValueError, match="Iterate outside"):
            strategy.run(lambda make=make: len(list(make())))


@pytest.mark.parametrize(("drops", "expected"), [(True, 1), (False, 2)])
def test_central_storage_leaves_out_a_step_that_is_not_for_all_replicas(drops, expected):
    devices = ["cpu:0", "cpu:1"]
    strategy = tf.distribute.experimental.CentralStorageStrategy(devices) if drops else mirrored()
    dataset = tf.data.Dataset.range(5).batch(2)
    batches = strategy.distribute_datasets_from_function(lambda _: dataset)
    assert len(list(batches)) == len(batches) == expected
    # A short batch is no reason, if each replica has one.
    short = strategy.distribute_datasets_from_function(lambda _: tf.data.Dataset.range(3).batch(2))
    assert [strategy.gather(batch, axis=0).tolist() for batch in short] == [[0, 1, 2]]
    assert len(list(strategy.experimental_distribute_dataset(dataset))) == 3


@pytest.mark.parametrize("replicas", [1, 2])
def test_texts_travel_with_a_batch(replicas):
    strategy = mirrored(replicas)
    rows = {"name": ["a", "bb", "c"], "x": np.arange(3.0, dtype=np.float32)}
    dataset = tf.data.Dataset.from_tensor_slices(rows).batch(2)
    step = tf.function(lambda batch: strategy.run(lambda one: one["x"] * 2, args=(batch,)))
    names, values = [], []
    for batch in strategy.experimental_distribute_dataset(dataset):
        assert isinstance(batch["name"], tf.distribute.DistributedValues)
        values += strategy.gather(step(batch), axis=0).tolist()
        names += strategy.gather(batch["name"], axis=0).numpy().tolist()
        local = strategy.experimental_local_results(batch["name"])
        assert np.concatenate(local).tolist() == names[-sum(map(len, local)) :]
    assert (names, values) == (["a", "bb", "c"], [0.0, 2.0, 4.0])
    assert step.experimental_get_tracing_count() == 1


def test_elements_without_a_batch_axis():
    numbers = tf.data.Dataset.range(5)
    one = mirrored(1)
    assert [int(n) for n in one.experimental_distribute_dataset(numbers)] == [0, 1, 2, 3, 4]
    pairs = one.experimental_distribute_dataset(numbers.batch(2).enumerate())
    assert [(int(i), x.numpy().tolist()) for i, x in pairs] == [(0, [0, 1]), (1, [2, 3]), (2, [4])]
    two = mirrored(2)
    # The last step, which is not for all replicas, is left out, as in TensorFlow.
    found = [
        [int(n) for n in two.experimental_local_results(step)]
        for step in two.distribute_datasets_from_function(lambda _: numbers)
    ]
    assert found == [[0, 1], [2, 3]]
    with pytest.raises(ValueError, match="Batch it first"):
        next(iter(two.experimental_distribute_dataset(numbers)))
