"""`get_concrete_function`: what it takes, what it is called with, and what can be looked at."""

import jax.numpy as jnp
import numpy as np
import pytest

from frontends import tf


@pytest.fixture
def affine():
    @tf.function
    def affine(x, scale, offset=1.0, *, square=False):
        result = x * scale + offset
        return {"y": result**2 if square else result, "rank": (x.ndim,)}

    return affine


def test_any_size_that_fits(affine):
    concrete = affine.get_concrete_function(tf.TensorSpec([None, 2]), tf.TensorSpec([]))
    for rows in (1, 3):
        assert concrete(jnp.ones((rows, 2)), 2)["y"].tolist() == [[3.0, 3.0]] * rows
    for wrong in (jnp.ones((2, 3)), jnp.ones(2), jnp.ones((2, 2), jnp.int32)):
        with pytest.raises(TypeError, match=r"'x' of affine does not fit this concrete function"):
            concrete(wrong, 2)
    with pytest.raises(ValueError, match=r"sizes that are not declared.*Declare all"):
        _ = concrete.hlo


def test_known_sizes_are_a_program_that_calls_use():
    function = tf.function(lambda x: {"y": x * 2, "sum": tf.reduce_sum(x)})
    concrete = function.get_concrete_function(tf.TensorSpec([4], tf.float32))
    assert "multiply" in concrete.hlo
    assert "stablehlo" in concrete.stablehlo
    assert concrete.cost["flops"] > 0
    assert concrete.memory.argument_size_in_bytes == 16
    assert concrete.collectives == []
    assert concrete.state_names == ()
    assert concrete.structured_outputs == {
        "y": tf.TensorSpec([4], tf.float32),
        "sum": tf.TensorSpec([], tf.float32),
    }
    assert concrete.outputs == [tf.TensorSpec([]), tf.TensorSpec([4])]
    assert float(concrete(jnp.ones(4))["sum"]) == float(function(jnp.ones(4))["sum"]) == 4
    assert function.experimental_get_tracing_count() == 1


def test_python_values_are_fixed(affine):
    concrete = affine.get_concrete_function(tf.TensorSpec([1]), 3.0, square=True)
    assert concrete.structured_input_signature == (
        (tf.TensorSpec([1], tf.float32, "x"), 3.0, 1.0),
        {"square": True},
    )
    assert concrete.inputs == [tf.TensorSpec([1])]
    x = jnp.ones(1)
    calls = [concrete(x), concrete(x, 3.0), concrete(x=x, scale=3.0, square=True)]
    assert [float(result["y"][0]) for result in calls] == [16.0] * 3
    for wrong in ({"scale": 4.0}, {"square": False}, {"scale": 3}, {"unknown": 1}):
        with pytest.raises(TypeError):
            concrete(x, **wrong)
    with pytest.raises(TypeError, match="without its argument 'x'"):
        concrete()


def test_tensors_alone_in_order():
    @tf.function
    def mixed(flag, pair, name="n"):
        return pair["a"] - pair["b"] if flag else pair["b"]

    concrete = mixed.get_concrete_function(True, {"a": tf.TensorSpec([2]), "b": tf.TensorSpec([2])})
    a, b = jnp.full(2, 5.0), jnp.full(2, 3.0)
    assert concrete(a, b).tolist() == concrete(True, {"a": a, "b": b}).tolist() == [2.0, 2.0]


def test_arrays_stand_for_their_shapes(affine):
    concrete = affine.get_concrete_function(np.ones((2, 2), np.float32), jnp.float32(1))
    assert concrete.inputs == [tf.TensorSpec([2, 2]), tf.TensorSpec([])]
    assert concrete(jnp.zeros((2, 2)), 5)["y"].tolist() == [[1.0, 1.0]] * 2


def test_an_input_signature_needs_no_arguments():
    function = tf.function(lambda x: x + 1, input_signature=[tf.TensorSpec([None, 3], tf.float32)])
    assert function.get_concrete_function()(np.zeros((1, 3))).tolist() == [[1.0] * 3]
    assert function.get_concrete_function(tf.TensorSpec([2, 3])).inputs == [tf.TensorSpec([2, 3])]
    with pytest.raises(TypeError, match="input_signature"):
        function.get_concrete_function(tf.TensorSpec([2, 4]))


def test_methods_and_state():
    class Counter:
        def __init__(self):
            self.total = tf.Variable(0.0, name="total")

        @tf.function
        def add(self, x):
            return self.total.assign_add(tf.reduce_sum(x))

    counter = Counter()
    concrete = counter.add.get_concrete_function(tf.TensorSpec([2]))
    assert float(counter.total) == 0
    assert concrete.state_names == ("total:0",)
    assert [float(concrete(jnp.ones(2))) for _ in range(2)] == [2.0, 4.0]


def test_distributed_batches():
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    rows = np.arange(8, dtype=np.float32)
    dataset = strategy.experimental_distribute_dataset(
        tf.data.Dataset.from_tensor_slices((rows, rows)).batch(4, drop_remainder=True)
    )

    @tf.function
    def total(batch):
        add = strategy.run(lambda x, y: tf.reduce_sum(x + y), args=batch)
        return strategy.reduce("SUM", add, axis=None)

    concrete = total.get_concrete_function(dataset.element_spec)
    assert {one.name for one in concrete.collectives} == {"psum"}
    assert [float(concrete(batch)) for batch in dataset] == [12.0, 44.0]
    assert total.experimental_get_tracing_count() == 1


@pytest.mark.filterwarnings("ignore:twice runs as Python")
def test_texts():
    @tf.function
    def twice(text, times=2):
        return tf.strings.join([text] * times)

    for spec in (tf.TensorSpec([], tf.string), tf.constant("a")):
        concrete = twice.get_concrete_function(spec)
        assert concrete(tf.constant("b")).numpy() == b"bb"
        assert concrete.inputs == [tf.TensorSpec([], tf.string)]
        with pytest.raises(TypeError):
            concrete(tf.constant(1))
        with pytest.raises(ValueError, match="takes what is on the host, so it runs as Python"):
            concrete.as_text()


def test_no_graph(affine):
    with pytest.raises(AttributeError, match=r"no graph of TensorFlow.*\.jaxpr"):
        affine.get_concrete_function(tf.ones([2]), 2.0).graph  # noqa: B018


@pytest.mark.filterwarnings("ignore:increment runs as Python")
def test_ragged_tensors():
    @tf.function
    def increment(x):
        return x + 1

    rows = tf.ragged.constant([[1, 2], [], [3]])
    for given in (rows, tf.RaggedTensorSpec([None, None], tf.int32)):
        concrete = increment.get_concrete_function(given)
        assert concrete(rows).to_list() == [[2, 3], [], [4]]
        with pytest.raises(TypeError, match=r"RaggedTensorSpec\(shape=\(N|3"):
            concrete(tf.constant([1]))
