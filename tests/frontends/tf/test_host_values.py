"""Functions of `tf` on texts, ragged and sparse tensors; tests/golden compares their results with TensorFlow's."""

import numpy as np
import pytest

from frontends import tf


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (tf.constant(["a", "b"]), r"tf\.matmul: expected numbers, got str32\[2\]"),
        (tf.ragged.constant([[1], [2, 3]]), r"(?s)RaggedTensor is in host.*x\.to_tensor\(\)"),
        (tf.SparseTensor([[0]], [1], [2]), r"(?s)SparseTensor is in host.*tf\.sparse\.to_dense"),
    ],
)
def test_what_has_no_meaning_raises_the_error_of_arrays(value, message):
    with pytest.raises(TypeError, match=message):
        tf.matmul(value, value)


def test_a_function_that_is_compiled_runs_as_python_with_texts():
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [7]), -1)

    @tf.function
    def number(x):
        return table.lookup(tf.strings.as_string(x)), x + 1

    with pytest.warns(UserWarning, match="runs as Python"):
        found, after = number(tf.constant([1, 2]))
    np.testing.assert_array_equal(found, [-1, -1])
    np.testing.assert_array_equal(after, [2, 3])


@pytest.mark.parametrize(
    "call",
    [
        lambda: tf.ensure_shape(tf.ones([2]), [3], name="x"),
        lambda: tf.reshape(tf.ones([2]), [3, 7], name="flat"),
        lambda: tf.function(lambda x: tf.reshape(x, [3, 7], name="flat"))(tf.ones([2])),
    ],
)
def test_a_name_is_no_text_to_work_on(call):
    with pytest.raises((TypeError, ValueError), match=r"shape|size") as raised:
        call()
    assert "texts" not in str(raised.value)


def test_a_block_outside_of_an_array_stays_an_error_with_a_name():
    with pytest.raises(ValueError, match="slice"):
        tf.slice(tf.ones([2]), [0], [100], name="s")
