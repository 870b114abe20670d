"""Distributed datasets and iterators, beyond what the golden cases compare with TensorFlow."""

import threading

import numpy as np
import pytest

from frontends import tf
from frontends.tf.data.iterator import OutOfRangeError


def strategy_of(count=2):
    return tf.distribute.MirroredStrategy([f"cpu:{index}" for index in range(count)])


def batches(strategy, total=5, size=4, **options):
    dataset = tf.data.Dataset.range(total).batch(size, **options)
    return strategy.experimental_distribute_dataset(dataset)


def test_get_next_ends_with_an_index_error_that_names_the_way_out():
    iterator = iter(batches(strategy_of(), total=4))
    assert [v.tolist() for v in iterator.get_next().values] == [[0, 1], [2, 3]]
    with pytest.raises(OutOfRangeError, match="get_next_as_optional"):
        iterator.get_next()
    assert issubclass(OutOfRangeError, IndexError)


def test_optionals_tell_the_end():
    iterator = iter(batches(strategy_of(), total=4))
    optional = iterator.get_next_as_optional()
    assert bool(optional.has_value().numpy())
    assert len(optional.get_value().values) == 2
    ended = iterator.get_next_as_optional()
    assert not ended.has_value()
    with pytest.raises(ValueError, match="has_value"):
        ended.get_value()


def test_a_dataset_is_not_iterated_in_a_replica():
    strategy = strategy_of()
    found = batches(strategy)
    with pytest.raises(ValueError, match="Iterate outside"):
        strategy.run(lambda: len(list(found)))


def test_an_iterator_that_is_left_stops_its_thread():
    with iter(batches(strategy_of(), total=100, size=2)) as iterator:
        next(iterator)
    assert not [one for one in threading.enumerate() if one.name.startswith("spmd-")]


@pytest.mark.parametrize(
    ("dataset", "expected"),
    [
        (tf.data.Dataset.range(7).batch(2), 4),
        (tf.data.Dataset.range(7).batch(2).repeat(), -1),
        (tf.data.Dataset.range(7).batch(2).filter(lambda x: x[0] > 1), -2),
    ],
)
def test_cardinality(dataset, expected):
    found = strategy_of().experimental_distribute_dataset(dataset)
    assert int(found.cardinality) == expected
    assert int(found.cardinality.numpy()) == expected


def test_cardinality_of_a_function_counts_steps():
    found = strategy_of().distribute_datasets_from_function(
        lambda context: tf.data.Dataset.range(7).batch(2)
    )
    assert int(found.cardinality) == 2


def test_the_spec_of_a_batch_that_does_not_divide_has_no_fixed_rows():
    specs = batches(strategy_of(), size=3, drop_remainder=True).element_spec.value_specs
    assert [spec.shape for spec in specs] == [(None,), (None,)]
    assert repr(batches(strategy_of()).element_spec).startswith("PerReplicaSpec(TensorSpec(")


def test_other_sources_have_no_spec():
    found = strategy_of().experimental_distribute_dataset([np.zeros(4)])
    with pytest.raises(TypeError, match=r"Distribute a tf\.data\.Dataset"):
        _ = found.element_spec
    assert int(found.cardinality) == 1


def test_what_is_distributed_is_not_distributed_again():
    strategy = strategy_of()
    with pytest.raises(TypeError, match="distributed already"):
        strategy.experimental_distribute_dataset(batches(strategy))


def test_reduce_passes_over_all_elements():
    strategy = strategy_of()
    total = batches(strategy).reduce(0, lambda s, x: s + strategy.reduce("SUM", x, axis=0))
    assert int(total) == 10


def test_a_pipeline_for_each_replica():
    strategy = strategy_of()
    calls = []

    def make(context):
        calls.append(context.num_replicas_in_sync)
        offset = 10 * len(calls)
        return tf.data.Dataset.range(4).batch(2).map(lambda x: x + offset)

    options = tf.distribute.InputOptions(
        experimental_replication_mode=tf.distribute.InputReplicationMode.PER_REPLICA
    )
    found = strategy.distribute_datasets_from_function(make, options)
    assert [[v.tolist() for v in batch.values] for batch in found] == [
        [[10, 11], [20, 21]],
        [[12, 13], [22, 23]],
    ]
    assert calls == [2, 2]
    with pytest.raises(NotImplementedError, match="distribute_datasets_from_function"):
        strategy.experimental_distribute_dataset(tf.data.Dataset.range(4).batch(2), options)


def test_it_has_no_public_fields():
    dataset = strategy_of().experimental_distribute_dataset(tf.data.Dataset.range(4).batch(2))
    assert all(name.startswith("_") for name in vars(dataset))
