"""Checks, before reading, that all processes will read the same batches."""

import json
from collections.abc import Callable, Iterable

from spmd.cluster import all_gather_small
from spmd.errors import ProcessMismatchError
from spmd.typing import Json


def agree_on_order(
    name: str, position: Json, batches: int | None, wanted: Callable[[], bool] | None = None
) -> None:
    """Compares what a pass depends on. All processes must call it before they read, and it blocks.

    The content of batches is not compared: random augmentation may make it differ.

    Args:
        name: of the pass, the same in all processes.
        position: what its order depends on; see `Source.position`.
        batches: how many it has; None if that is not known.
        wanted: tells whether the pass is still wanted; None if it is.

    Raises:
        ProcessMismatchError: the processes would read different batches, or in different orders.
        ClusterWaitError: a process does not read.
    """
    told = all_gather_small(name, json.dumps([position, batches]), wanted=wanted)
    if len(set(told)) == 1:
        return
    positions, counts = zip(*map(json.loads, told), strict=True)
    if len(set(counts)) > 1:
        raise ProcessMismatchError(
            f"The processes would read different data: a pass over it has {_listed(counts)} batches in processes "
            f"0 to {len(told) - 1}. All must read the same batches, of which each trains on its own rows. If each "
            "has data of its own, say so: AutoShardPolicy.OFF, or distribute(..., per_process=True)."
        )
    raise ProcessMismatchError(
        "The processes would read the data in different orders, because the states of its shuffles "
        f"are {_listed(map(json.dumps, positions))} in processes 0 to {len(told) - 1}. All processes must "
        "make the same datasets and read them as often; look for an `if` over the task's type or index."
    )


def _listed(values: Iterable[object]) -> str:
    return ", then ".join("unknown" if value is None else str(value) for value in values)
