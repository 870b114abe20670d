"""Steps of which each process has a share, from a source of its own.

The processes tell each other the rows of their replicas, through the coordination service. So each
batch has the same shape everywhere, and all end at the same step: a process whose source is exhausted
goes on, with no rows, until the last one's is.
"""

import itertools
import json
from collections.abc import Iterator, Sequence
from typing import Any

from spmd.agreement import exchange
from spmd.errors import BatchError
from spmd.input.placement import BatchPlacer, Share

_PASSES = itertools.count()


class SharedPass:
    """One pass over the sources of all processes; all begin their passes in the same order."""

    def __init__(self, placer: BatchPlacer, drop_remainder: bool, *, spans: bool) -> None:
        """Begins a pass.

        Args:
            placer: places the shares.
            drop_remainder: whether to leave out steps of which some process has not a full share.
            spans: whether there are other processes.
        """
        self._placer = placer
        self._drop_remainder = drop_remainder
        self._spans = spans
        self._number = next(_PASSES)

    def steps(self, shares: Iterator[Share], *, x64: bool) -> Iterator[Any]:
        """Places the shares of this process, step by step.

        Args:
            shares: what this process has.
            x64: whether 64-bit types stay as they are.

        Yields:
            The step's batch, with a `PerReplica` for every array.

        Raises:
            BatchError: some process has no batch at all, and others do.
            ClusterWaitError: another process does not read in time.
        """
        last: Share | None = None
        for step in itertools.count():
            mine = next(shares, None)
            each, block, full = self._agree(step, mine)
            counts = tuple(itertools.chain.from_iterable(each))
            if not any(counts):
                return
            last = mine or last
            empty = [str(process) for process, rows in enumerate(each) if not any(rows)]
            if last is None or (step == 0 and empty):
                # In all processes, since none would get an answer from one that has stopped.
                raise BatchError(
                    f"Process {', '.join(empty)} has no batch, while others have: its part of the data is "
                    "empty. Give each process a part: as many files as processes at least, or rows of the "
                    "same batches (per_process=False; AutoShardPolicy.DATA)."
                )
            if self._drop_remainder and not full:
                continue
            share = last if mine else last._replace(counts=(0,) * self._placer.own_replicas)
            yield self._placer.put_share(share, counts, block, x64=x64)

    def _agree(self, step: int, mine: Share | None) -> tuple[Sequence[Sequence[int]], int, bool]:
        """Returns the rows of the replicas of each process, of a block, and whether all are full."""
        counts = mine.counts if mine else (0,) * self._placer.own_replicas
        block, full = (mine.rows_per_replica, mine.full) if mine else (0, False)
        if not self._spans:
            return [counts], block, full
        key = f"spmd/input/{self._number}/{step}"
        texts = exchange(key, json.dumps([counts, block, full]))
        of_all, blocks, fulls = zip(*map(json.loads, texts), strict=True)
        return of_all, max(blocks), all(fulls)
