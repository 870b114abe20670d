"""Steps of which each process has a share, from a source of its own.

The processes exchange the numbers of rows of their replicas through the coordination service. So each batch has
the same shape everywhere, and all processes end at the same step: one whose source is exhausted continues
without rows until the last one ends.
"""

import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from spmd.cluster import all_gather_small
from spmd.errors import BatchError
from spmd.input.placement import BatchPlacer, Share
from spmd.typing import PyTree


def shared_steps(
    shares: Iterator[Share],
    placer: BatchPlacer,
    *,
    first: Callable[[], Share | None],
    drop_remainder: bool,
    x64: bool,
    name: str | None,
    wanted: Callable[[], bool] | None,
) -> Iterator[PyTree | None]:
    """Places the shares of this process, step by step; all processes begin their passes in the same order.

    Args:
        shares: what this process has.
        placer: places them.
        first: returns the first share of a resumed pass, for a process whose data has ended by then.
        drop_remainder: whether to drop steps of which a process lacks a full share.
        x64: whether 64-bit types stay as they are.
        name: of the pass, the same in all processes; None if there are no others.
        wanted: tells whether the steps are still wanted; None if they are.

    Yields:
        The step's batch, with a `PerReplica` for every array; None for a step that is dropped.

    Raises:
        BatchError: a process has no batch at all, and others do.
        ClusterWaitError: another process does not read in time.
    """
    nothing = (0,) * placer.own_replicas
    last: Share | None = None
    while True:
        mine = next(shares, None)
        last = mine or last or first()
        counts, block, full = (
            (mine.counts, mine.rows_per_replica, mine.full) if mine else (nothing, 0, False)
        )
        of_all = _told((counts, block, full, last is not None), name, wanted)
        each, blocks, fulls, known = zip(*of_all, strict=True)
        counts = tuple(itertools.chain.from_iterable(each))
        if not any(counts):
            return
        if last is None or not all(known):
            # In all processes: one that has stopped would answer no other.
            empty = [str(process) for process, knows in enumerate(known) if not knows]
            raise BatchError(
                f"Process {', '.join(empty)} has no batch, while others have: its part of the data is "
                "empty. Give each process a part: as many files as processes at least, or rows of the "
                "same batches (per_process=False; AutoShardPolicy.DATA)."
            )
        if drop_remainder and not all(fulls):
            yield None
            continue
        share = last if mine else last._replace(counts=nothing)
        yield placer.put_share(share, counts, max(blocks), x64=x64)


# Of a process: the rows of its replicas and of a block, whether its share is full, whether it has seen a batch.
_Told: TypeAlias = tuple[Sequence[int], int, bool, bool]


def _told(own: _Told, name: str | None, wanted: Callable[[], bool] | None) -> Sequence[_Told]:
    """Returns what all processes tell of a step."""
    if name is None:
        return [own]
    return [*map(json.loads, all_gather_small(name, json.dumps(own), wanted=wanted))]
