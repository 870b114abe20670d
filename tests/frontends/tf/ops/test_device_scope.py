"""`tf.device`: where code outside of programs runs."""

import jax
import pytest

from frontends import tf
from frontends.tf.graph import Graph


@pytest.fixture(autouse=True)
def _several_devices(mesh_of):
    mesh_of(4)


def device_of(array):
    (found,) = array.devices()
    return found


@pytest.mark.parametrize(
    "name",
    [
        *("/cpu:3", "/device:CPU:3", "/job:localhost/replica:0/task:0/device:CPU:3"),
        *(
            tf.DeviceSpec(device_type="CPU", device_index=3),
            tf.config.LogicalDevice("/cpu:3", "CPU"),
        ),
    ],
)
def test_arrays_go_there(name):
    with tf.device(name):
        made = tf.ones([2]) * 2
    assert device_of(made) == jax.devices("cpu")[3]
    assert device_of(tf.ones([2])) == jax.devices("cpu")[0]


def test_inner_blocks():
    with tf.device("/cpu:1"):
        with tf.device(None):
            assert device_of(tf.ones([2])) == jax.devices("cpu")[0]
        assert device_of(tf.ones([2])) == jax.devices("cpu")[1]


def test_programs_are_left_alone():
    @tf.function
    def program(x):
        with tf.device("/gpu:7"):
            return x * 2

    assert float(program(tf.constant(2.0))) == 4.0


def test_devices_that_there_are_not():
    with tf.device("/gpu:0"):
        assert device_of(tf.ones([2])) == jax.devices("cpu")[0]
    tf.config.set_soft_device_placement(False)
    try:
        with (
            pytest.raises(
                ValueError, match="Could not satisfy device specification '/device:GPU:0'"
            ),
            tf.device("/gpu:0"),
        ):
            pass
    finally:
        tf.config.set_soft_device_placement(True)


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("/job:ps/task:0/cpu:0", ValueError, "unknown device: code here runs in this process"),
        ("/task:1/cpu:0", ValueError, "let a strategy place the code"),
        ("/shelf:0", ValueError, "Unknown attribute 'shelf'"),
        (3, ValueError, "Expecting a string device name"),
        (lambda op: "/cpu:0", RuntimeError, "does not support functions"),
    ],
)
def test_no_devices(name, error, message):
    with pytest.raises(error, match=message), tf.device(name):
        pass


def test_a_model_function_may_have_devices_be_chosen():
    with Graph().as_default(), tf.device(lambda operation: "/gpu:0"):
        assert float(tf.ones([])) == 1
