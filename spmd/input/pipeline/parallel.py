"""Several calls at once, results in order."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def map_in_order(function: Callable[[T], R], items: Iterable[T], workers: int) -> Iterator[R]:
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
    pending: deque[Future[R]] = deque()
    with ThreadPoolExecutor(workers, thread_name_prefix="spmd-map") as pool:
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
