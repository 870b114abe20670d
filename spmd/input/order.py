"""That all processes are about to read the same batches, as far as it can be told before they do."""

import json
from collections.abc import Callable
from typing import Any

from spmd.cluster import all_gather_small
from spmd.errors import ProcessMismatchError


def agree_on_order(
    name: str, position: Any, batches: int | None, wanted: Callable[[], bool] | None = None
) -> None:
    """Compares what a pass depends on; all processes must call it before they read, and it blocks.

    What the batches hold is not compared: data that is changed at random before it is used may well differ.

    Args:
        name: of the pass, the same in all processes.
        position: what its order depends on, in JSON's types; see `Source.position`.
        batches: how many it has; None if that is not known.
        wanted: tells whether somebody still waits for the pass.

    Raises:
        ProcessMismatchError: it is not the same in all.
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


def _listed(values: Any) -> str:
    return ", then ".join("unknown" if value is None else str(value) for value in values)
