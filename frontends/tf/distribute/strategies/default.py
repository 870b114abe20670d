"""The strategy that is in force when the user chose none: one replica on the default device."""

import functools

import spmd
from frontends.tf.distribute.scope import register_default
from frontends.tf.distribute.strategy import Strategy
from spmd.servers import register_reducer


class DefaultStrategy(Strategy):
    """One replica on the default device.

    Source: what `tf.distribute.get_strategy()` returns outside of any scope.
    """

    is_default = True
    combines_values = False

    def __init__(self) -> None:
        """Makes the strategy; starts the backend."""
        super().__init__(spmd.make_mesh(spmd.topology.local_devices()[:1]))


# Returns the same one each time.
default_strategy = functools.cache(DefaultStrategy)
register_default(default_strategy)


def _here() -> DefaultStrategy:
    """Returns the process's own: what a worker has in place of the coordinator's."""
    return default_strategy()


register_reducer(DefaultStrategy, lambda _: (_here, ()))
