"""Which rows go to which replica: TensorFlow's rules, over a grid of sizes, and recorded cases."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import spmd
from frontends import tf
from spmd.replica import is_per_replica

Dataset = tf.data.Dataset


def mirrored(count=2):
    return tf.distribute.MirroredStrategy([f"cpu:{index}" for index in range(count)])


def lists(tree):
    return jax.tree.map(
        lambda leaf: [np.asarray(value).tolist() for value in leaf.values],
        tree,
        is_leaf=is_per_replica,
    )


def placed(total, size, replicas, drop):
    """TensorFlow's rule: ceil(L / N) rows each, first replicas first."""
    steps = []
    for start in range(0, total, size):
        batch = list(range(start, min(start + size, total)))
        if drop and len(batch) < size:
            continue
        each = -(-len(batch) // replicas)
        steps.append([batch[r * each : (r + 1) * each] for r in range(replicas)])
    return steps


def dealt(total, size, replicas, drop):
    """TensorFlow's rule for batches per replica: each takes the next; none is dropped in part."""
    batches = [list(range(i, min(i + size, total))) for i in range(0, total, size)]
    if drop:
        batches = [batch for batch in batches if len(batch) == size]
    groups = [batches[i : i + replicas] for i in range(0, len(batches), replicas)]
    if drop:
        groups = [group for group in groups if len(group) == replicas]
    return [group + [[]] * (replicas - len(group)) for group in groups]


def test_the_rules_are_those_of_the_recording():
    assert placed(9, 4, 2, False) == [[[0, 1], [2, 3]], [[4, 5], [6, 7]], [[8], []]]
    assert placed(4, 3, 2, False) == [[[0, 1], [2]], [[3], []]]
    assert placed(4, 3, 2, True) == [[[0, 1], [2]]]
    assert placed(2, 1, 2, True) == [[[0], []], [[1], []]]
    assert dealt(7, 2, 2, False) == [[[0, 1], [2, 3]], [[4, 5], [6]]]
    assert dealt(9, 3, 2, False) == [[[0, 1, 2], [3, 4, 5]], [[6, 7, 8], []]]
    assert dealt(9, 3, 2, True) == [[[0, 1, 2], [3, 4, 5]]]
    assert dealt(5, 3, 2, True) == []


@pytest.mark.parametrize("replicas", [1, 2, 4])
@pytest.mark.parametrize("drop", [False, True])
def test_global_batches(replicas, drop):
    strategy = mirrored(replicas)
    for total in (0, 1, 2, 3, 4, 5, 6, 8, 9, 12):
        for size in (1, 2, 3, 4, 5, 6, 8):
            dataset = Dataset.range(total).batch(size, drop_remainder=drop)
            found = lists(list(strategy.experimental_distribute_dataset(dataset)))
            assert found == placed(total, size, replicas, drop), (total, size)


@pytest.mark.parametrize("replicas", [1, 2, 4])
@pytest.mark.parametrize("drop", [False, True])
def test_batches_for_each_replica(replicas, drop):
    strategy = mirrored(replicas)
    for total in (0, 1, 2, 3, 4, 5, 6, 8, 9, 12):
        for size in (1, 2, 3):

            def make(context, total=total, size=size):
                return Dataset.range(total).batch(size, drop_remainder=drop)

            batches = strategy.distribute_datasets_from_function(make)
            expected = dealt(total, size, replicas, drop)
            assert lists(list(batches)) == expected, (total, size)
            assert lists(list(batches)) == expected, "second pass"


STRUCTURES = {
    "tuple": (
        lambda x, y: (x, y),
        ([[[0.0, 0.5]], [[1.0, 1.5]]], [[0], [10]]),
        ([[[2.0, 2.5]], []], [[20], []]),
    ),
    "dict": (
        lambda x, y: {"x": x, "y": y},
        {"x": [[[0.0, 0.5]], [[1.0, 1.5]]], "y": [[0], [10]]},
        {"x": [[[2.0, 2.5]], []], "y": [[20], []]},
    ),
    "nested": (
        lambda x, y: {"a": (x, y), "b": {"c": y}},
        {"a": ([[[0.0, 0.5]], [[1.0, 1.5]]], [[0], [10]]), "b": {"c": [[0], [10]]}},
        {"a": ([[[2.0, 2.5]], []], [[20], []]), "b": {"c": [[20], []]}},
    ),
    "one tuple": (lambda x, y: (y,), ([[0], [10]],), ([[20], []],)),
    "array": (lambda x, y: y, [[0], [10]], [[20], []]),
}


@pytest.mark.parametrize("name", STRUCTURES)
@pytest.mark.parametrize("from_function", [False, True])
def test_structures(name, from_function):
    build, first, last = STRUCTURES[name]
    x = np.array([[0.0, 0.5], [1.0, 1.5], [2.0, 2.5]], np.float32)
    y = np.array([0, 10, 20], np.int32)
    dataset, strategy = Dataset.from_tensor_slices(build(x, y)), mirrored()
    if from_function:
        batches = strategy.distribute_datasets_from_function(lambda context: dataset.batch(1))
    else:
        batches = strategy.experimental_distribute_dataset(dataset.batch(2))
    seen = list(batches)
    assert lists(seen) == [first, last]
    assert jax.tree.structure(seen[0], is_leaf=is_per_replica) == jax.tree.structure(build(0, 0))
    assert {leaf.dtype for leaf in jax.tree.leaves(seen)} <= {np.dtype("f4"), np.dtype("i4")}


def test_rows_lie_on_their_replicas_device():
    strategy = tf.distribute.MirroredStrategy(["cpu:3", "cpu:1"])
    (batch,) = strategy.experimental_distribute_dataset(Dataset.range(4).batch(4))
    devices = jax.devices("cpu")
    assert [value.devices() for value in batch.values] == [{devices[3]}, {devices[1]}]
    assert lists(batch) == [[0, 1], [2, 3]]


def test_passes_are_their_own():
    batches = mirrored().experimental_distribute_dataset(Dataset.range(6).batch(4))
    pairs = [(lists(a), lists(b)) for a, b in zip(batches, batches, strict=True)]
    assert pairs == [([[0, 1], [2, 3]],) * 2, ([[4], [5]],) * 2]
    iterator = iter(batches)
    assert iter(iterator) is iterator
    assert [lists(next(iterator)) for _ in range(2)] == [[[0, 1], [2, 3]], [[4], [5]]]
    with pytest.raises(StopIteration):
        next(iterator)
    assert next(iterator, "end") == "end"
    assert len(batches) == 2
    assert [index for index, _ in enumerate(batches)] == [0, 1]


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (
            lambda: Dataset.range(6).batch(4).repeat(2),
            [[[0, 1], [2, 3]], [[4], [5]], [[0, 1], [2, 3]], [[4], [5]]],
        ),
        (
            lambda: Dataset.range(6).repeat(2).batch(4),
            [[[0, 1], [2, 3]], [[4, 5], [0, 1]], [[2, 3], [4, 5]]],
        ),
        (lambda: Dataset.range(10).batch(4).skip(1), [[[4, 5], [6, 7]], [[8], [9]]]),
        (lambda: Dataset.range(10).batch(4).take(1), [[[0, 1], [2, 3]]]),
        (
            lambda: Dataset.range(10).batch(4).map(lambda x: x * 10),
            [[[0, 10], [20, 30]], [[40, 50], [60, 70]], [[80], [90]]],
        ),
        (
            lambda: Dataset.range(10).batch(4).unbatch().batch(3),
            [[[0, 1], [2]], [[3, 4], [5]], [[6, 7], [8]], [[9], []]],
        ),
        (
            lambda: Dataset.range(10).batch(2).batch(2),
            [[[[0, 1]], [[2, 3]]], [[[4, 5]], [[6, 7]]], [[[8, 9]], []]],
        ),
        (
            lambda: Dataset.range(5).batch(4).concatenate(Dataset.range(100, 103).batch(3)),
            [[[0, 1], [2, 3]], [[4], []], [[100, 101], [102]]],
        ),
        (lambda: Dataset.from_tensors(np.arange(6)), [[[0, 1, 2], [3, 4, 5]]]),
    ],
)
def test_unusual_datasets_as_recorded(make, expected):
    assert lists(list(mirrored().experimental_distribute_dataset(make()))) == expected


def test_a_batch_that_changes_size_between_full_and_less_reaches_one_program():
    strategy = mirrored()

    @tf.function
    def total(batch):
        return strategy.reduce("SUM", strategy.run(lambda x: x, args=(batch,)), axis=0)

    batches = strategy.experimental_distribute_dataset(Dataset.range(9).batch(4))
    assert [int(total(batch)) for batch in batches] == [6, 22, 8]
    assert total.experimental_get_tracing_count() == 1


def test_unbatched_rows_are_refused():
    with pytest.raises(spmd.errors.BatchError, match="batch"):
        list(mirrored().experimental_distribute_dataset(Dataset.range(4)))


def test_objects_are_refused():
    with pytest.raises(spmd.errors.BatchError, match="Devices hold numbers"):
        list(mirrored().experimental_distribute_dataset([np.array([{}, {}])]))


def test_other_sources_than_datasets():
    strategy = mirrored()
    batches = [np.arange(4, dtype=np.int32), np.arange(3, dtype=np.int32)]
    expected = [[[0, 1], [2, 3]], [[0, 1], [2]]]
    for source in (batches, tuple(batches) and list(batches), (lambda: iter(batches))):
        assert lists(list(strategy.experimental_distribute_dataset(source))) == expected


def test_the_input_context():
    for replicas in (1, 2, 4):
        contexts = []

        def make(context, contexts=contexts):
            contexts.append(context)
            return Dataset.range(8).batch(context.get_per_replica_batch_size(8))

        batches = mirrored(replicas).distribute_datasets_from_function(make)
        assert lists(list(batches)) == lists(list(batches)) == dealt(8, 8 // replicas, replicas, 0)
        (context,) = contexts  # called once, not for every pass
        assert isinstance(context, tf.distribute.InputContext)
        assert context.num_input_pipelines == 1
        assert context.input_pipeline_id == 0
        assert context.num_replicas_in_sync == replicas


def test_input_context_by_hand():
    context = tf.distribute.InputContext()
    assert (context.num_input_pipelines, context.input_pipeline_id) == (1, 0)
    assert context.num_replicas_in_sync == 1
    context = tf.distribute.InputContext(2, 1, 4)
    assert (context.num_input_pipelines, context.input_pipeline_id) == (2, 1)
    assert [context.get_per_replica_batch_size(size) for size in (0, 4, 8)] == [0, 1, 2]
    for size in (1, 3, 6, 10):
        with pytest.raises(ValueError, match=f"{size}.*4"):
            context.get_per_replica_batch_size(size)
    with pytest.raises(AttributeError):
        setattr(context, "num_replicas_in_sync", 2)  # noqa: B010


def test_sharding_by_the_input_context():
    def make(context):
        dataset = Dataset.range(8).shard(context.num_input_pipelines, context.input_pipeline_id)
        return dataset.batch(2)

    batches = mirrored().distribute_datasets_from_function(make)
    assert lists(list(batches)) == [[[0, 1], [2, 3]], [[4, 5], [6, 7]]]


def test_the_old_name_and_options():
    strategy = mirrored()
    options = tf.distribute.InputOptions(
        experimental_fetch_to_device=False, experimental_per_replica_buffer_size=2
    )
    dataset = Dataset.range(4).batch(2)
    old = strategy.experimental_distribute_datasets_from_function(lambda _: dataset, options)
    assert lists(list(old)) == [[[0, 1], [2, 3]]]
    new = strategy.experimental_distribute_dataset(dataset, options)
    assert lists(list(new)) == [[[0], [1]], [[2], [3]]]


def test_errors_of_the_function_come_out():
    def fails(context):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        mirrored().distribute_datasets_from_function(fails)


def test_short_last_steps_are_counted_right():
    """Blocks of three rows; the last step has four rows, in the first two of four replicas."""
    strategy = mirrored(4)
    batches = strategy.distribute_datasets_from_function(lambda _: Dataset.range(16).batch(3))

    @tf.function
    def mean(batch):
        result = strategy.run(lambda x: x.astype(jnp.float32), args=(batch,))
        return strategy.reduce("MEAN", result, axis=0)

    assert [float(mean(batch)) for batch in batches] == [5.5, 13.5]
    assert mean.experimental_get_tracing_count() == 1


def test_endless_datasets_are_read_as_far_as_asked():
    strategy = mirrored()
    endless = Dataset.range(3).repeat().batch(2)
    for batches in (
        strategy.experimental_distribute_dataset(endless),
        strategy.distribute_datasets_from_function(lambda _: endless),
    ):
        iterator = iter(batches)
        assert sum(lists(next(iterator))[0][0] for _ in range(30)) > 0
        iterator.close()
