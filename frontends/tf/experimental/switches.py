"""Switches of TensorFlow's eager execution, which have nothing to switch here: JAX dispatches asynchronously already."""

import contextlib
from collections.abc import Generator


@contextlib.contextmanager
def async_scope() -> Generator[None]:
    """Has no effect: an error is raised where the array that it concerns is read, which may be after the block.

    Source: `tf.experimental.async_scope`.
    """
    yield


def async_clear_error() -> None:
    """Has no effect: an error belongs to the arrays that it concerns, and others can be computed.

    Source: `tf.experimental.async_clear_error`.
    """


def enable_strict_mode() -> None:
    """Has no effect: what is deprecated in TensorFlow is not an error here.

    Source: `tf.experimental.enable_strict_mode`.
    """
