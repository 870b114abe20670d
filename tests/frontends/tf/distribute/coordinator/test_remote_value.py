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


def test_what_one_replica_computed_is_its_value_and_what_several_did_is_theirs():
    for strategy, kind in (
        (tf.distribute.OneDeviceStrategy("cpu:0"), np.float32),
        (tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"]), tf.distribute.DistributedValues),
    ):
        value = servers.RemoteValue()
        value.set({"loss": strategy.run(lambda: tf.constant(1.5))})
        assert isinstance(RemoteValue(value).fetch()["loss"], kind)


def test_fetch_gives_the_value_of_a_variable():
    value = servers.RemoteValue()
    value.set({"ours": tf.Variable([1.0, 2.0]), "keras": tf.keras.Variable(3.0)})
    fetched = RemoteValue(value).fetch()
    assert fetched["ours"].tolist() == [1.0, 2.0]
    assert isinstance(fetched["keras"], np.float32)
