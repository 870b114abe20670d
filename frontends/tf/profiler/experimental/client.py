"""`tf.profiler.experimental.client`: traces of other processes, which JAX has no function for."""

from typing import Any, NoReturn

from frontends.tf._names import attributes


def trace(
    service_addr: str,
    logdir: str,
    duration_ms: int,
    worker_list: str = "",
    num_tracing_attempts: int = 3,
    options: Any = None,
) -> NoReturn:
    """Raises an error that says what to do instead.

    Raises:
        NotImplementedError: always.

    Source: `tf.profiler.experimental.client.trace`.
    """
    _refuse("trace", service_addr)


def monitor(service_addr: str, duration_ms: int, level: int = 1) -> NoReturn:
    """Raises an error that says what to do instead.

    Raises:
        NotImplementedError: always.

    Source: `tf.profiler.experimental.client.monitor`.
    """
    _refuse("monitor", service_addr)


def _refuse(name: str, address: str) -> NoReturn:
    raise NotImplementedError(
        f"tf.profiler.experimental.client.{name}({address!r}, ...) is not part of jaxtribute: JAX profiles its own process. "
        "Trace there: with tf.profiler.experimental.Profile(logdir):, or start a server in that process, "
        "tf.profiler.experimental.server.start(6009), and capture from TensorBoard, or with "
        "python -m jax.collect_profile 6009 2000."
    )


__getattr__, __dir__ = attributes(
    "tf.profiler.experimental.client", {"trace": trace, "monitor": monitor}
)
