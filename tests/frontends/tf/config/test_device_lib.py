"""Devices, as TensorFlow's internals list them."""

from frontends import tf
from frontends.tf.config import device_lib


def test_devices_are_those_that_programs_run_on() -> None:
    listed = device_lib.list_local_devices()
    assert [one.name for one in listed] == [one.name for one in tf.config.list_logical_devices()]
    assert {one.device_type for one in listed} == {"CPU"}
