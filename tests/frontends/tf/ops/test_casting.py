"""`tf.cast` in map functions."""

import jax
import numpy as np

from frontends import tf
from frontends.tf.data.host_tensors import HostTensor


def test_arrays_stay_with_numpy_in_a_map_that_runs_on_elements():
    seen = []

    def scale(data):
        seen.append(tf.cast(tf.io.decode_png(data), tf.float32) / 255.0)
        return seen[-1]

    files = [tf.io.encode_png(np.full((2 + n, 2, 1), 51, np.uint8)) for n in range(2)]
    found = list(tf.data.Dataset.from_tensor_slices(files).map(scale))
    assert all(type(each) is HostTensor for each in seen)
    assert found[1].dtype == tf.float32
    np.testing.assert_allclose(found[1], np.full((3, 2, 1), 0.2), rtol=1e-6)


def test_elsewhere_arrays_are_jaxs():
    assert isinstance(tf.cast(np.ones(2), tf.int32), jax.Array)
    assert tf.cast([1.7], tf.int32).tolist() == [1]
