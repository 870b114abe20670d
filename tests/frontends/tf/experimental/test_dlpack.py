"""Arrays of other libraries."""

import numpy as np

from frontends import tf


def test_an_array_comes_back():
    dlpack = tf.experimental.dlpack
    assert dlpack.from_dlpack(dlpack.to_dlpack(tf.constant([1.0, 2.0]))).tolist() == [1, 2]
    assert dlpack.from_dlpack(np.arange(3.0, dtype=np.float32)).tolist() == [0, 1, 2]
