"""Arguments of functions of the host."""

import jax.numpy as jnp
import numpy as np
import pytest

from frontends import tf
from frontends.tf.data.host_arrays import host_array, integers, single_text, text_array


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        ([1, 2], np.int32),
        ([2**40], np.int64),
        ([1.5], np.float32),
        (np.array([1]), np.int64),
        (jnp.zeros(2), np.float32),
        (tf.Variable([1.0]), np.float32),
        (True, np.bool_),
        (["a", b"b"], object),
        (np.array(["a"]), object),
    ],
)
def test_dtypes(value, dtype):
    assert host_array(value, "f").dtype == dtype


def test_texts_are_whole():
    assert host_array([b"a\0", "é"], "f").tolist() == [b"a\0", "é".encode()]
    assert single_text("a", "f") == b"a"


def test_what_it_takes_not():
    with pytest.raises(TypeError, match="f: x must be text"):
        text_array([1], "f: x")
    with pytest.raises(ValueError, match="must be integers"):
        integers([1.5], "f")
    with pytest.raises(ValueError, match="must be scalar"):
        single_text(["a", "b"], "f")
    with pytest.raises(ValueError, match="must be text"):
        host_array([1], "f", tf.string)
    with pytest.raises(ValueError, match="must be int32"):
        host_array(["a"], "f", tf.int32)


def test_a_step_is_told_to_call_it_before():
    strategy = tf.distribute.MirroredStrategy(["CPU:0"])
    with pytest.raises(ValueError, match="works on the host"):
        strategy.run(lambda x: tf.strings.as_string(x), (tf.constant([1]),))
