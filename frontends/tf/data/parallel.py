"""What `num_parallel_calls` asks for."""

import os

from frontends.tf.data.constants import AUTOTUNE


def worker_count(num_parallel_calls: int | None) -> int:
    """Returns how many threads `num_parallel_calls` asks for; 0 means the caller's own.

    Args:
        num_parallel_calls: None, a positive count, or `AUTOTUNE` for one thread per usable core.

    Raises:
        ValueError: A count below 1 that is not `AUTOTUNE`.
    """
    if num_parallel_calls is None:
        return 0
    if num_parallel_calls == AUTOTUNE:
        affinity = getattr(os, "sched_getaffinity", None)  # Linux: honours containers and taskset
        usable = len(affinity(0)) if affinity else os.cpu_count() or 1
        return usable if usable > 1 else 0
    if num_parallel_calls < 1:
        raise ValueError(
            "map: num_parallel_calls must be None, tf.data.AUTOTUNE or at least 1, "
            f"got {num_parallel_calls}.\nFix: map(fn, num_parallel_calls=tf.data.AUTOTUNE)"
        )
    return num_parallel_calls if num_parallel_calls > 1 else 0
