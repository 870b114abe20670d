"""`RemoteValue`: results in the form in which scripts want them."""

import jax
import numpy as np

from frontends import tf
from frontends.tf.distribute.coordinator import RemoteValue
from spmd import servers


def test_fetch_gives_numpy_and_get_gives_tensors():
    value = servers.RemoteValue()
    remote = RemoteValue(value)
    value.set({"loss": tf.constant(1.5), "rows": tf.constant([1, 2]), "name": "a"})
    fetched = remote.fetch()
    assert isinstance(fetched["loss"], np.float32)
    assert isinstance(fetched["rows"], np.ndarray)
    assert fetched["name"] == "a"
    assert isinstance(remote.get()["loss"], jax.Array)
