"""Steps of which each process has a share, from a source of its own.

The processes exchange the numbers of rows of their replicas through the coordination service. So each batch has
the same shape everywhere, and all processes end at the same step: one whose source is exhausted continues
without rows until the last one ends.
"""

import itertools
import json
from collections.abc import Callable, Iterator, Sequence

from spmd.cluster import all_gather_small
from spmd.errors import BatchError
from spmd.input.placement import BatchPlacer, Share
from spmd.typing import PyTree


class SharedPass:
    """One pass over the sources of all processes; all begin their passes in the same order."""

    def __init__(
        self,
        placer: BatchPlacer,
        drop_remainder: bool,
        name: str | None,
        first: Callable[[], Share | None],
        wanted: Callable[[], bool] | None,
    ) -> None:
        """Begins a pass.

        Args:
            placer: places the shares.
            drop_remainder: whether to drop steps of which a process lacks a full share.
            name: of the pass, the same in all processes; None if there are no others.
            first: returns the first share of a resumed pass, for a process whose data has ended by then.
            wanted: tells whether the steps are still wanted; None if they are.
        """
        self._placer = placer
        self._drop_remainder = drop_remainder
        self._name = name
        self._first = first
        self._wanted = wanted

    def steps(self, shares: Iterator[Share], *, x64: bool) -> Iterator[PyTree | None]:
        """Places the shares of this process, step by step.

        Args:
            shares: what this process has.
            x64: whether 64-bit types stay as they are.

        Yields:
            The step's batch, with a `PerReplica` for every array; None for a step that is dropped.

        Raises:
            BatchError: a process has no batch at all, and others do.
            ClusterWaitError: another process does not read in time.
        """
        last: Share | None = None
        while True:
            mine = next(shares, None)
            last = mine or last or self._first()
            each, block, full, known = self._agree(mine, last is not None)
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
            if self._drop_remainder and not full:
                yield None
                continue
            share = last if mine else last._replace(counts=(0,) * self._placer.own_replicas)
            yield self._placer.put_share(share, counts, block, x64=x64)

    def _agree(
        self, mine: Share | None, knows: bool
    ) -> tuple[Sequence[Sequence[int]], int, bool, Sequence[bool]]:
        """Exchanges what the processes have of a step.

        Returns:
            The rows of each process's replicas, the rows of a block, whether all shares are full, and which
            processes have seen a batch.
        """
        counts = mine.counts if mine else (0,) * self._placer.own_replicas
        block, full = (mine.rows_per_replica, mine.full) if mine else (0, False)
        if self._name is None:
            return [counts], block, full, [knows]
        texts = all_gather_small(
            self._name, json.dumps([counts, block, full, knows]), wanted=self._wanted
        )
        of_all, blocks, fulls, known = zip(*map(json.loads, texts), strict=True)
        return of_all, max(blocks), all(fulls), known
