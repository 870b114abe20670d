"""Several calls at once, results in order."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

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


def map_in_order(
    function: Callable[[Any], Any], items: Iterable[Any], workers: int
) -> Iterator[Any]:
    """Yields ``function(item)`` for every item, in order, computed on `workers` threads.

    `items` is read on the caller's thread, at most `workers` items ahead. The threads end with the
    iterator: when it is exhausted, closed or collected, or when a call raises.

    Args:
        function: Safe to call from several threads.
        items: What to call it with.
        workers: The number of threads; 0 calls it on the caller's thread.
    """
    if not workers:
        yield from map(function, items)
        return
    pending: deque[Future[Any]] = deque()
    with ThreadPoolExecutor(workers, thread_name_prefix="tf-data-map") as pool:
        try:
            for item in items:
                pending.append(pool.submit(function, item))
                if len(pending) > workers:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()
