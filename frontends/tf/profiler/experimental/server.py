"""`tf.profiler.experimental.server`: traces on request."""

import jax

from frontends.tf._names import attributes


def start(port: int) -> None:
    """Serves traces on a port, for TensorBoard's "capture profile".

    Source: `tf.profiler.experimental.server.start`; `jax.profiler.start_server`.
    """
    jax.profiler.start_server(port)


__getattr__, __dir__ = attributes("tf.profiler.experimental.server", {"start": start})
