"""`tf.config.threading`: how many threads the processor's programs use."""

import operator

from frontends.tf._names import attributes, defined_in
from spmd import _jax_internals
from spmd.topology import limit_threads

_THREADS = {"inter": 0, "intra": 0}


def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """Says how many threads one operation may use on the processor: the size of XLA's pool of threads.

    What differs here: there is one pool for all operations. Simulated devices keep the threads that they need.

    Args:
        num_threads: how many; 0 leaves it to XLA, which takes as many as there are cores.

    Raises:
        RuntimeError: the backend runs already, with another number.
        TypeError: `num_threads` is not an integer.

    Source: `tf.config.threading.set_intra_op_parallelism_threads`.
    """
    if _note("intra", num_threads):
        limit_threads(num_threads)


def get_intra_op_parallelism_threads() -> int:
    """Returns what `set_intra_op_parallelism_threads` was given; 0 by default.

    Source: `tf.config.threading.get_intra_op_parallelism_threads`.
    """
    return _THREADS["intra"]


def set_inter_op_parallelism_threads(num_threads: int) -> None:
    """Notes how many operations may run at once: XLA schedules those of a program itself.

    Args:
        num_threads: how many; 0 leaves it to XLA.

    Raises:
        RuntimeError: the backend runs already, with another number.
        TypeError: `num_threads` is not an integer.

    Source: `tf.config.threading.set_inter_op_parallelism_threads`.
    """
    _note("inter", num_threads)


def get_inter_op_parallelism_threads() -> int:
    """Returns what `set_inter_op_parallelism_threads` was given; 0 by default.

    Source: `tf.config.threading.get_inter_op_parallelism_threads`.
    """
    return _THREADS["inter"]


def _note(kind: str, num_threads: int) -> bool:
    """Notes a number of threads; returns whether it is another one than before."""
    number = operator.index(num_threads)
    if number < 0:
        raise ValueError(f"A number of threads is 0 or more, but got {number}.")
    if number == _THREADS[kind]:
        return False
    if _jax_internals.backend_is_running():
        raise RuntimeError(
            f"{kind.capitalize()} op parallelism cannot be modified after initialization: the backend runs already. "
            f"Call tf.config.threading.set_{kind}_op_parallelism_threads({number}) at the top of the script, before "
            "anything that makes an array."
        )
    _THREADS[kind] = number
    return True


__getattr__, __dir__ = attributes("tf.config.threading", defined_in(__name__))
