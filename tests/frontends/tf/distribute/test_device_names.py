"""Names of devices as TensorFlow spells them in a cluster."""

import jax

from frontends.tf.distribute.device_names import long_name


def test_names_of_a_process_alone() -> None:
    names = [long_name(device) for device in jax.local_devices(backend="cpu")[:2]]
    assert names == [f"/job:localhost/replica:0/task:0/device:CPU:{index}" for index in range(2)]
