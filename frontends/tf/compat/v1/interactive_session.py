"""`tf.compat.v1.InteractiveSession`, which scripts for TensorFlow 2 make for its configuration alone."""

from typing import Any, NoReturn

from frontends.tf._names import explained_error, unknown_name


def _refuse(name: str) -> NoReturn:
    raise explained_error(name, unknown_name("tf.InteractiveSession", name, ()))


class _RunsNothing(type):
    """Says so of the class, too, for `jaxtribute check`."""

    def __getattr__(cls, name: str) -> NoReturn:
        _refuse(name)


class InteractiveSession(metaclass=_RunsNothing):
    """Takes a configuration, and runs nothing.

    Scripts for TensorFlow 2 make one so that TensorFlow does not take all of a GPU's memory. JAX has
    XLA_PYTHON_CLIENT_PREALLOCATE=false for that.

    Raises:
        AttributeError: anything but `close` is asked for, such as `run`.

    Source: `tf.compat.v1.InteractiveSession`.
    """

    def __init__(self, target: str = "", graph: Any = None, config: Any = None) -> None:
        """Makes one; without effect.

        Args:
            target: accepted; not used.
            graph: accepted; not used.
            config: a `ConfigProto`; not used.
        """

    def close(self) -> None:
        """Ends the session; without effect."""

    def __getattr__(self, name: str) -> NoReturn:
        _refuse(name)
