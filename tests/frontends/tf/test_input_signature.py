"""`tf.function(input_signature=...)`: what is declared, what that takes, and what it refuses."""

import pickle
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from frontends import tf

VECTOR = tf.TensorSpec([None], tf.float32)
SCALAR = tf.TensorSpec([], tf.float32)


def test_all_numbers_are_one_program():
    seen: list[Any] = []

    @tf.function(input_signature=[VECTOR, SCALAR])
    def scale(x, by):
        seen.append((type(x).__name__, by.dtype))
        return x * by

    for by in (1, 2.5, np.float64(3), np.float32(3), jnp.float32(4), True * 5):
        assert scale([1.0, 2.0], by).tolist() == [float(by), 2 * float(by)]
    assert scale(by=2, x=jnp.ones(2)).tolist() == [2, 2]
    assert scale.experimental_get_tracing_count() == len(seen) == 1
    assert scale(jnp.ones(3), 1).shape == (3,)
    assert scale.experimental_get_tracing_count() == 2


def test_wrong_arguments_are_named():
    @tf.function(input_signature=(VECTOR, {"rate": SCALAR}))
    def train(batch, options): ...

    cases: list[Any] = [
        ((jnp.ones((2, 2)), {"rate": 1.0}), r"'batch' of train"),
        (
            (jnp.ones(2, jnp.int32), {"rate": 1.0}),
            r"'batch' of train.*tf\.cast\(batch, tf\.float32\)",
        ),
        ((jnp.ones(2), {"rate": [1.0]}), r"options\['rate'\]"),
        ((jnp.ones(2), {"speed": 1.0}), r"'options' of train"),
        (
            (jnp.ones(2),),
            r"missing a required argument: 'options'.*train is called as \(batch: Tens",
        ),
        ((jnp.ones(2), {"rate": 1.0}, 3), "too many positional"),
    ]
    for args, message in cases:
        with pytest.raises(TypeError, match=message):
            train(*args)
    with pytest.raises(TypeError, match="unexpected keyword argument 'wrong'"):
        train(jnp.ones(2), options={"rate": 1.0}, wrong=1)
    assert train.experimental_get_tracing_count() == 0


@pytest.mark.parametrize(
    ("declared", "function", "message"),
    [
        (VECTOR, lambda x: x, "tuple or a list"),
        ([(2,)], lambda x: x, "possibly nested sequence of TensorSpec objects, got 2"),
        ([VECTOR], lambda x, y: x, "no spec for the parameter 'y'"),
        ([VECTOR, VECTOR], lambda x: x, "1 more specs"),
        ([VECTOR], lambda x, *, y: x, "keyword-only parameter 'y' needs a default"),
        ([], lambda x: x, "no spec for the parameter 'x'"),
    ],
)
def test_wrong_signatures_are_refused_at_once(declared, function, message):
    with pytest.raises(TypeError, match=message):
        tf.function(function, input_signature=declared)


def test_what_has_no_spec_keeps_its_default():
    @tf.function(input_signature=[VECTOR])
    def power(x, exponent=2, *, name="power"):
        return x**exponent

    assert power(jnp.full(1, 3.0)).tolist() == power([3.0], 2, name="power").tolist() == [9.0]
    for kwargs in ({"exponent": 3}, {"name": "other"}, {"exponent": 2.0}):
        with pytest.raises(TypeError, match="is always its default"):
            power([3.0], **kwargs)


def test_a_spec_for_a_default():
    @tf.function(input_signature=[VECTOR, SCALAR])
    def power(x, exponent=2):
        return x**exponent

    assert [power([3.0]).tolist(), power([3.0], 1).tolist()] == [[9.0], [3.0]]
    assert power.experimental_get_tracing_count() == 1


def test_any_number_of_arguments_has_a_spec_each():
    @tf.function(input_signature=[SCALAR, VECTOR, VECTOR])
    def total(first, *others):
        return first + sum(tf.reduce_sum(one) for one in others)

    assert float(total(1, [2.0], [3.0, 4.0])) == 10
    with pytest.raises(TypeError, match=r"takes 2 values for \*others.*got 1"):
        total(1, [2.0])
    with pytest.raises(TypeError, match="'others_1' of total"):
        total(1, [2.0], 3.0)


def test_methods_declare_without_self():
    class Model:
        def __init__(self, scale):
            self.scale = scale

        @tf.function(input_signature=[VECTOR])
        def __call__(self, x):
            return x * self.scale

    two, three = Model(2), Model(3)
    assert [model([1, 2]).tolist() for model in (two, three)] == [[2, 4], [3, 6]]
    with pytest.raises(TypeError, match="'x' of __call__"):
        two(1.0)


def test_inside_other_functions_and_strategies():
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])

    @tf.function(input_signature=[VECTOR, SCALAR])
    def half(x, by):
        assert by.dtype == tf.float32
        return x / by

    @tf.function
    def outer(x):
        return half(x, 2)

    assert outer(jnp.ones(2)).tolist() == [0.5, 0.5]
    with pytest.raises(TypeError, match="'x' of half"):
        outer(1.0)
    (local,) = strategy.run(half, args=(jnp.ones(2), 2)).values[:1]
    assert local.tolist() == [0.5, 0.5]
    with tf.GradientTape() as tape:
        x = tf.Variable([1.0, 2.0])
        loss = tf.reduce_sum(half(x, 4) ** 2)
    np.testing.assert_allclose(tape.gradient(loss, x), [0.125, 0.25])


def test_the_spec_of_a_distributed_dataset():
    for count in (1, 2):
        strategy = tf.distribute.MirroredStrategy([f"cpu:{index}" for index in range(count)])
        rows = np.arange(7, dtype=np.float32)
        dataset = strategy.experimental_distribute_dataset(
            tf.data.Dataset.from_tensor_slices((rows, rows)).batch(4)
        )

        @tf.function(input_signature=[dataset.element_spec])
        def total(batch, strategy=strategy):
            add = strategy.run(lambda batch: batch[0] + batch[1], args=(batch,))
            return strategy.reduce("SUM", add, axis=0)

        assert [float(total(batch)) for batch in dataset] == [12, 30]
        assert total.experimental_get_tracing_count() == 1


def test_copies_keep_the_signature():
    copied: Any = pickle.loads(pickle.dumps(DECLARED))  # noqa: S301
    assert copied([1.0]).tolist() == [2.0]
    with pytest.raises(TypeError, match="'x' of _double"):
        copied(1.0)


def _double(x):
    return 2 * x


DECLARED = tf.function(_double, input_signature=[VECTOR])
