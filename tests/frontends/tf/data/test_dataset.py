"""What every dataset is: defined without a backend, read again and again, with a length and settings."""

import json

import jax
import numpy as np
import pytest

from frontends.tf.data import (
    AUTOTUNE,
    INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY,
    Dataset,
    Options,
    experimental,
)
from frontends.tf.data.spec import TensorSpec


def test_a_definition_starts_no_backend_and_needs_no_tensorflow(run_python):
    run_python(
        "-c",
        """if True:
        import sys
        sys.modules["tensorflow"] = None  # importing it raises
        import numpy as np
        from frontends.tf.data import Dataset
        from jax._src import xla_bridge
        import jax.numpy as jnp

        rows = Dataset.from_tensor_slices((np.zeros((8, 2)), np.arange(8)))
        dataset = rows.shuffle(8).map(lambda x, y: (jnp.sin(x), y)).batch(2).repeat().prefetch(1)
        dataset.cardinality(), dataset.options(), repr(dataset)
        Dataset.zip(rows, rows).concatenate(Dataset.zip(rows, rows)).filter(lambda *x: True)
        assert not xla_bridge.backends_are_initialized()
        next(iter(dataset))
        assert xla_bridge.backends_are_initialized()
        """,
    )


def test_constants():
    assert (AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY) == (-1, -1, -2)


def test_every_loop_is_a_fresh_pass():
    dataset = Dataset.range(3)
    first, second = iter(dataset), dataset.as_numpy_iterator()
    assert [next(first), next(second), next(first)] == [0, 0, 1]
    assert list(dataset) == [0, 1, 2]


def test_elements_are_numpy():
    element = next(
        iter(Dataset.from_tensor_slices({"a": np.ones((2, 3)), "b": ([1, 2], [3.0, 4.0])}))
    )
    assert isinstance(element["a"], np.ndarray)
    assert element["a"].dtype == np.float64
    assert isinstance(element["b"], tuple)
    assert isinstance(element["b"][0], np.int32)
    assert isinstance(element["b"][1], np.float32)
    mapped = next(iter(Dataset.range(3).map(lambda x: (x, [x, x]))))
    assert isinstance(mapped[0], np.int32)
    assert isinstance(mapped[1], np.ndarray)


def test_length():
    assert len(Dataset.range(5).batch(2)) == 3
    assert isinstance(Dataset.range(5).cardinality(), np.int64)
    with pytest.raises(TypeError, match="infinite"):
        len(Dataset.range(5).repeat())
    with pytest.raises(TypeError, match="unknown"):
        len(Dataset.range(5).filter(lambda x: x > 1))


def test_a_dataset_is_true_even_if_empty_or_infinite():
    assert Dataset.range(0)
    assert Dataset.range(1).repeat()


def test_missing_method_names_what_exists():
    with pytest.raises(AttributeError, match=r"Dataset\.sparse_batch exists in TensorFlow and not"):
        Dataset.range(3).sparse_batch(2)  # pyright: ignore[reportCallIssue]
    with pytest.raises(AttributeError, match="from_tensor_slices, from_tensors"):
        Dataset.from_tensor_slices_with_options("x")  # pyright: ignore[reportCallIssue]
    with pytest.raises(AttributeError, match="no attribute 'bacth'"):
        Dataset.range(3).bacth(2)  # pyright: ignore[reportCallIssue]
    assert not hasattr(Dataset.range(3), "sparse_batch")


def test_element_spec():
    rows = Dataset.from_tensor_slices({"x": np.zeros((6, 4), np.uint8), "y": np.arange(6)})
    assert rows.element_spec == {"x": TensorSpec((4,), np.uint8), "y": TensorSpec((), np.int64)}
    assert rows.batch(4).element_spec["x"] == TensorSpec((None, 4), np.uint8)
    assert rows.batch(4, drop_remainder=True).element_spec["x"] == TensorSpec((4, 4), np.uint8)
    assert rows.batch(4).unbatch().element_spec == rows.element_spec


def test_element_spec_of_map():
    rows = Dataset.from_tensor_slices(np.zeros((6, 4), np.uint8))

    def scaled(x):
        return x / 255, x.sum()

    def eagerly(x):
        return np.asarray(x) / 255, int(np.asarray(x).sum())

    for function in scaled, eagerly:
        spec = rows.map(function).element_spec
        assert [leaf.shape for leaf in spec] == [(4,), ()]
        assert spec[0].dtype == np.float32
    for function in (lambda x: x / 255), (lambda x: np.asarray(x) / 255):
        assert rows.batch(4).map(function).element_spec == TensorSpec((None, 4), np.float32)


def test_element_spec_leaves_the_next_pass_alone():
    def looked_at(look):
        dataset = Dataset.range(9).shuffle(9, seed=1).map(lambda x: np.asarray(x) + 1)
        if look:
            assert dataset.element_spec == TensorSpec((), np.int32)
        return [int(x) for x in dataset]

    assert looked_at(True) == looked_at(False)


def test_element_spec_of_nothing():
    empty = Dataset.range(0).map(lambda x: np.asarray(x) + 1)
    with pytest.raises(ValueError, match="empty"):
        _ = empty.element_spec
    with pytest.raises(ValueError, match="output_signature"):
        _ = Dataset.from_generator(lambda: iter(())).element_spec


@pytest.mark.parametrize(
    ("make", "rows"),
    [
        (lambda d: d, None),
        (lambda d: d.batch(4), 4),
        (lambda d: d.batch(4).map(lambda x: x).take(2).skip(1).prefetch(1).cache(), 4),
        (lambda d: d.batch(4).shuffle(2).repeat().shard(2, 0).filter(lambda x: True), 4),
        (lambda d: d.batch(4).concatenate(d.batch(4)), 4),
        (lambda d: d.batch(4).concatenate(d.batch(3)), None),
        (lambda d: Dataset.zip(d.batch(4), d.batch(4)), 4),
        (lambda d: Dataset.zip(d.batch(4), d), None),
        (lambda d: d.batch(4).unbatch(), None),
        (lambda d: d.batch(4).batch(2), 2),
        (lambda d: d.batch(4).with_options(Options()), 4),
    ],
)
def test_full_batch_rows(make, rows):
    assert make(Dataset.range(10)).full_batch_rows == rows


def test_a_data_position_can_be_restored():
    def make():
        rows = Dataset.range(50).shuffle(50, seed=3).repeat(2)
        return Dataset.zip(rows, rows.map(lambda x: x * 2)).batch(8)

    dataset = make()
    list(dataset)
    position, third = dataset.position(), list(dataset)
    assert len(position) == 1  # the same shuffle, twice
    np.testing.assert_equal(list(make().resumed_at(position, 5)), third[5:])


def test_a_shuffle_without_a_seed_can_be_resumed():
    dataset = Dataset.range(50).shuffle(50)
    position, order = json.loads(json.dumps(dataset.position())), list(dataset)
    again = Dataset.range(50).shuffle(50).resumed_at(position, 3)
    np.testing.assert_equal(list(again), order[3:])


def test_options_travel():
    options = Options()
    options.experimental_distribute.auto_shard_policy = experimental.AutoShardPolicy.DATA
    dataset = Dataset.range(9).with_options(options)
    for derived in dataset.batch(2), Dataset.zip(Dataset.range(3), dataset), dataset.cache():
        policy = derived.options().experimental_distribute.auto_shard_policy
        assert policy is experimental.AutoShardPolicy.DATA
    with pytest.raises(TypeError, match=r"expected a tf\.data\.Options"):
        dataset.with_options({"deterministic": True})  # pyright: ignore[reportArgumentType]


def test_results_do_not_depend_on_x64_for_untouched_data():
    with jax.enable_x64(True):
        assert next(iter(Dataset.range(3).map(lambda x: x / 2))).dtype == np.float64
        eagerly = Dataset.range(3).map(lambda x: np.asarray(x) / 2)
        assert next(iter(eagerly)).dtype == np.float64
    assert next(iter(Dataset.range(3))).dtype == np.int64


def test_a_cardinality_has_numpy_as_a_tensor_has():
    count = Dataset.range(5).batch(2).cardinality()
    assert count.numpy() == count == 3
    assert experimental.cardinality(Dataset.range(5)).numpy() == 5
