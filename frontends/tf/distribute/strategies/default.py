"""The strategy that is in force when the user chose none: one replica on the default device."""

import functools

import jax

import spmd
from frontends.tf.distribute.scope import register_default
from frontends.tf.distribute.strategy import Strategy


class DefaultStrategy(Strategy):
    """One replica on the default device.

    Source: what `tf.distribute.get_strategy()` returns outside of any scope.
    """

    def __init__(self) -> None:
        """Makes the strategy; starts the backend."""
        super().__init__(spmd.make_mesh(jax.local_devices()[:1]), is_default=True)


@functools.cache
def default_strategy() -> DefaultStrategy:
    """Returns the one default strategy.

    Examples:
        >>> default_strategy() is default_strategy()
        True
    """
    return DefaultStrategy()


register_default(default_strategy)
