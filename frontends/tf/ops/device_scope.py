"""`tf.device`: where code outside of programs runs."""

import contextlib
from collections.abc import Generator
from typing import Any

import jax

from frontends.tf.device_spec import DeviceSpec
from frontends.tf.graph import current_graph
from spmd import _jax_internals
from spmd.errors import MeshError
from spmd.topology import find_devices

# Whether devices that there are not are passed over.
SOFT = {"placement": True}
# Types that JAX has no device of.
_LOCAL_JOBS = (None, "localhost", "worker", "chief", "master")


@contextlib.contextmanager
def device(device_name: object) -> Generator[None]:
    """Runs what stands in a `with` block, outside of programs, on a device.

    In a program (`tf.function`, `strategy.run`) it does nothing: the strategy's devices all run it. Arrays that are made in
    the block go to the device, and move on to other devices when they are used there.

    Args:
        device_name: a device string, a `tf.DeviceSpec`, a `tf.config.LogicalDevice`, or None for the default device. An
            unknown device is passed over while `tf.config.get_soft_device_placement()` is True. In a model function it may
            be a function that chooses devices, which is not called.

    Raises:
        ValueError: it is no device string; it names another process; or there is no such device, and soft placement is
            off.
        RuntimeError: it is a function, and this is no model function.

    Examples:
        >>> from frontends import tf
        >>> with tf.device("/cpu:0"):
        ...     x = tf.zeros([2])
        >>> [one.platform for one in x.devices()]
        ['cpu']

    Source: `tf.device`.
    """
    if callable(device_name):
        if current_graph() is None:
            raise RuntimeError(
                "tf.device does not support functions. Name the device: with tf.device('/gpu:0'):"
            )
        yield  # such as TensorFlow 1's replica_device_setter
        return
    spec = None if device_name is None else _spec(device_name)
    if _jax_internals.is_tracing():
        yield
        return
    with jax.default_device(None if spec is None else _found(spec)):
        yield


def _spec(device_name: object) -> DeviceSpec:
    if isinstance(device_name, DeviceSpec):
        return device_name
    name = getattr(device_name, "name", device_name)
    if not isinstance(name, str):
        raise ValueError(
            f"Expecting a string device name. Got {type(device_name)}({device_name!r})"
        )
    return DeviceSpec.from_string(name)


def _found(spec: DeviceSpec) -> Any:
    """Finds the device; None leaves the choice to JAX."""
    if spec.job not in _LOCAL_JOBS or (spec.task and jax.process_count() == 1):
        raise ValueError(
            f"{spec.to_string()} unknown device: code here runs in this process, on its devices "
            f"{jax.local_devices()}. Leave job and task out, or let a strategy place the code."
        )
    if spec.device_type is None or ((spec.task or spec.job) and jax.process_count() > 1):
        return None
    index = 0 if spec.device_index is None else spec.device_index
    try:
        return find_devices([f"{spec.device_type}:{index}"])[0]
    except MeshError as error:
        if SOFT["placement"]:
            return None
        raise ValueError(
            f"Could not satisfy device specification {spec.to_string()!r}, and soft placement is off. {error}"
        ) from None
