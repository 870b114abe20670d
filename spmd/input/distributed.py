"""`distribute`: a data source becomes an iterable of batches on the devices."""

import contextlib
import functools
import itertools
import operator
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any, Literal, TypeAlias, final

import jax
from jax.sharding import Mesh

from spmd.errors import BatchError
from spmd.input.batch import in_groups
from spmd.input.device_map import DeviceMap
from spmd.input.order import agree_on_order
from spmd.input.placement import BatchPlacer, Share
from spmd.input.position import Position
from spmd.input.prefetch import PrefetchIterator, ResumableIterator
from spmd.input.shares import shared_steps
from spmd.input.sources.base import AnySource, Source, closing, count_batches
from spmd.input.sources.registry import find_source
from spmd.replica import share
from spmd.topology import make_mesh, num_replicas, spans_processes
from spmd.typing import Json, PyTree

# Batches, each with how many batches of the source it took.
_Steps: TypeAlias = Generator[tuple[int, PyTree], None, None]

_INPUTS = itertools.count()


def distribute(
    source: AnySource,
    mesh: Mesh | None = None,
    *,
    batch_size: int | None = None,
    drop_remainder: bool = False,
    per_replica: bool = False,
    per_process: bool = False,
    prefetch: int = 2,
    map_on_devices: Callable[[PyTree], PyTree] | DeviceMap | None = None,
    scalars: bool = False,
) -> "DistributedInput":
    """Splits the batches of a data source over the replicas, on the devices ahead of use.

    A batch of L rows goes to N replicas by `ceil(L / N)` rows each, the first replicas first, the rest
    fewer or none. Every replica's block has as many rows as its share of a full batch, so that one
    program fits all; padding rows repeat the batch's last row, and `PerReplica.mask` tells them apart
    (see `valid_rows`). A batch that is larger than any before it raises the size of a full one.

    The sources, and what `batch_size` means for them:

    * NumPy or JAX arrays, and tuples, dicts and other pytrees of them, all with one row per example:
      `batch_size` is needed. (A list is one only if `batch_size` is given, else it is a list of
      batches.)
    * Data with random access to its rows, by `len()` and `[index]`, such as `tfds.data_source`:
      `batch_size` is needed; the rows are stacked.
    * Grain's `MapDataset`, `IterDataset` and `DataLoader`: `batch_size` if they give single rows,
      which are then stacked; none if they give batches.
    * A `tf.data.Dataset` or a Keras `PyDataset`: they give batches, so no `batch_size`.
    * Any other iterable of batches, or a function that returns an iterator over batches and is called
      anew for every pass: no `batch_size`. An iterator can be passed over once.
    * Other kinds by `spmd.input.register_source`.

    Several processes all read the same source, and each places the rows of its own replicas; so the
    source must give the same batches in all of them. If each has a source of its own (`per_process`,
    `per_replica`), the processes exchange how many rows they have, and those that end early continue
    without rows.

    Starts the backend, but reads nothing of the source yet. Each pass runs the source on a thread named
    `spmd-input`, unless `prefetch` is 0.

    Args:
        source: where batches come from; each is a pytree of arrays of shape `(rows, ...)`.
        mesh: whose replicas share a batch; None takes all devices of the default platform.
        batch_size: rows of a full batch, over all replicas, for a source of single rows.
        drop_remainder: drop batches of fewer rows than a full one.
        per_replica: the source's batches are one replica's, not global: each replica takes the next.
            At the end of a pass the last replicas may get none; `drop_remainder` drops such a step.
        per_process: the source's batches are this process's part of the global ones, to be dealt out to
            its replicas.
        prefetch: how many batches may wait on the devices; 0 makes each when it is asked for.
        map_on_devices: a function that JAX can trace. It takes one replica's rows of a batch, as they came to
            the device, padding included, and returns a batch of as many rows, which the loop gets. It must treat
            each row by itself, without collectives. Pixels travel as bytes if it converts them to floats.
        scalars: whether batches may hold scalars, where a batch is one replica's: with `per_replica`, or on a mesh
            of one.

    Returns:
        An iterable; every iteration is a new pass over the source. It yields the source's batches, with
        a `PerReplica` for every array; texts stay in host memory, in a `HostPerReplica`. Reading raises
        `BatchError` for a batch that cannot be split: an array without a batch axis, of other elements than
        numbers and texts, with integers that do not fit into 32 bits while JAX's 64-bit types are off, with
        another number of rows than the others; or a structure that changes. Errors of the source itself come
        out of the loop as they are.

    Raises:
        BatchError: the source is of no known kind, or `batch_size` is missing, below 1, or given for a
            source of batches.
        TypeError: `batch_size` or `prefetch` is not an integer, or `map_on_devices` cannot be called.
        ValueError: `prefetch` is negative, both `per_replica` and `per_process` are given, or
            `map_on_devices` for devices of several processes.

    Examples:
        >>> import numpy as np, spmd
        >>> mesh = spmd.make_mesh(["cpu:0"])
        >>> data = {"x": np.arange(5, dtype=np.float32), "y": np.arange(5)}
        >>> for batch in spmd.distribute(data, mesh, batch_size=4):
        ...     print(batch["y"], batch["y"].mask.counts)
        [0 1 2 3] (4,)
        [4] (1,)

    Source: `tf.distribute.Strategy.experimental_distribute_dataset`.
    """
    batch_size = None if batch_size is None else operator.index(batch_size)
    if batch_size is not None and batch_size < 1:
        raise BatchError(f"batch_size must be 1 at least, but is {batch_size}.")
    if operator.index(prefetch) < 0:
        raise ValueError(f"prefetch must be 0 (no thread) or more, but is {prefetch}.")
    if per_replica and per_process:
        raise ValueError(
            "A batch is one replica's or one process's: give per_replica or per_process."
        )
    found = find_source(source, batch_size)
    mesh = make_mesh() if mesh is None else mesh
    if map_on_devices is not None:
        if not callable(map_on_devices):
            raise TypeError(
                f"map_on_devices must be a function of a batch, but is {map_on_devices!r} of type "
                f"{type(map_on_devices).__name__}."
            )
        if spans_processes(mesh):
            # All processes must run a program over their devices in one order with the steps, which a
            # thread that makes batches ahead cannot keep.
            raise ValueError(
                "map_on_devices needs all devices in one process, but the mesh is of several. Call the "
                "function at the beginning of the step."
            )
        if not isinstance(map_on_devices, DeviceMap):
            map_on_devices = DeviceMap(map_on_devices, mesh)
    return DistributedInput(
        found,
        mesh,
        batch_of="replica" if per_replica else "process" if per_process else "all",
        drop_remainder=drop_remainder,
        prefetch=prefetch,
        finish=map_on_devices,
        scalars=scalars,
    )


@final
class DistributedInput(Iterable[PyTree]):
    """Batches on the devices, split over the replicas; `distribute` makes it.

    Examples:
        >>> import numpy as np, spmd
        >>> batches = spmd.distribute(np.ones((10, 3)), spmd.make_mesh(["cpu:0"]), batch_size=4)
        >>> len(batches), batches.batch_size, batches.rows_per_replica
        (3, 4, 4)

    Source: `tf.distribute.DistributedDataset`.
    """

    def __init__(
        self,
        source: Source,
        mesh: Mesh,
        *,
        batch_of: Literal["all", "process", "replica"],
        drop_remainder: bool,
        prefetch: int,
        finish: DeviceMap | None = None,
        scalars: bool = False,
    ) -> None:
        """Makes the iterable; reads nothing yet.

        Args:
            source: where batches come from.
            mesh: whose replicas share a batch.
            batch_of: whose rows a batch of the source holds.
            drop_remainder: leave out batches of fewer rows than a full one.
            prefetch: how many batches may wait on the devices.
            finish: what the devices apply to batches.
            scalars: whether a replica's batch may hold scalars.
        """
        self._source = source
        self.mesh = mesh
        self._replicas = num_replicas(mesh)
        scalars = scalars and (batch_of == "replica" or self._replicas == 1)
        self._placer = BatchPlacer(mesh, source.full_batch_rows, drop_remainder, finish, scalars)
        processes = self._replicas // self._placer.own_replicas
        # How many batches of the source, over all processes, make a step.
        self._at_once = {"all": 1, "process": processes, "replica": self._replicas}[batch_of]
        self._batch_of = batch_of
        self._drop_remainder = drop_remainder
        self._prefetch = prefetch
        self._parts = 1 if batch_of == "all" else processes
        # Processes compare a pass under the number of the input and of the pass.
        self._name = f"spmd/input/{next(_INPUTS)}" if spans_processes(mesh) else None
        self._passes = itertools.count()
        self._progress: Position | None = None
        self._resumed: Position | None = None

    @property
    def batch_size(self) -> int | None:
        """Rows of a full batch over all replicas; None if that is known after the first batch only."""
        rows = self._placer.full_rows
        return rows if rows is None else rows * self._at_once

    @property
    def rows_per_replica(self) -> int | None:
        """Rows of a replica's block, padding included; None if unknown before the first batch."""
        rows = self._placer.full_rows
        return rows if rows is None else share(rows, self._replicas // self._at_once)

    def __iter__(self) -> ResumableIterator:
        resumed, self._resumed = self._resumed, None
        # Not the iterator itself: one without references must be collected.
        self._progress = resumed or self._new_pass()
        return ResumableIterator(
            self._progress,
            self._source.position,
            self._begin,
            resumed=resumed is not None,
            # A pass in parts that is begun and not read would keep other processes waiting.
            ahead=self._parts == 1,
        )

    def position(self) -> Json:
        """Returns what the next pass depends on, such as the state of a shuffle."""
        return self._source.position()

    def get_state(self) -> dict[str, Any]:
        """Returns how far the latest pass has come; see `ResumableIterator.get_state`."""
        return (self._progress or self._new_pass()).state()

    def set_state(self, state: dict[str, Any]) -> None:
        """Makes the next pass continue where another one was.

        Args:
            state: what `get_state` returned, in this process or an earlier one.

        Examples:
            >>> import numpy as np, spmd
            >>> batches = spmd.distribute(np.arange(6), spmd.make_mesh(["cpu:0"]), batch_size=2)
            >>> batches.set_state({"position": None, "batches": 2})
            >>> list(batches)
            [PerReplica(0: [4, 5])]
        """
        progress = Position(None, parts=self._parts)
        progress.go_to(state)
        self._progress = self._resumed = progress

    def _new_pass(self) -> Position:
        return Position(self._source.position(), parts=self._parts)

    def _begin(self, position: Json, skipped: int) -> PrefetchIterator | _Steps:
        # Numbered here: the thread that makes batches may start later than that of another pass.
        name = self._name and f"{self._name}/{next(self._passes)}"
        x64 = bool(jax.enable_x64.value)
        begin = functools.partial(self._batches, name, position, skipped, x64)
        return PrefetchIterator(begin, self._prefetch) if self._prefetch else begin()

    def __len__(self) -> int:
        of_all = self._batch_of == "all"
        count = self._source.num_batches(self._drop_remainder and of_all)
        if count is None or (self._name and not of_all):
            raise TypeError(
                "The number of batches is not known before they are read: the source does not tell it, "
                "or is endless, or drop_remainder=True may drop some; or other processes have more."
            )
        return count_batches(count, self._at_once, self._drop_remainder)

    def __repr__(self) -> str:
        return (
            f"DistributedInput({self._source!r}, batch_size={self.batch_size}, "
            f"rows_per_replica={self.rows_per_replica})"
        )

    def _batches(
        self,
        name: str | None,
        position: Json,
        skipped: int,
        x64: bool,
        wanted: Callable[[], bool] | None = None,
    ) -> _Steps:
        """Yields batches on the devices."""
        if name is not None and self._batch_of == "all":
            begins = self._source.position() if position is None else position
            count = self._source.num_batches(self._drop_remainder)
            agree_on_order(name, begins, count, wanted)
        with contextlib.ExitStack() as stack:
            if self._batch_of == "all":
                batches = self._opened(stack, position, skipped)
                steps = (self._placer.place(batch, x64=x64) for batch in batches)
            else:
                steps = shared_steps(
                    self._shares(stack, position, skipped),
                    self._placer,
                    first=lambda: next(self._shares(stack, position, 0), None) if skipped else None,
                    drop_remainder=self._drop_remainder,
                    x64=x64,
                    name=name,
                    wanted=wanted,
                )
            given = 0
            for step in steps:
                given += 1
                if step is not None:
                    yield given, step
                    given = 0

    def _opened(
        self, stack: contextlib.ExitStack, position: Json, skipped: int
    ) -> Iterator[PyTree]:
        if skipped or position is not None:
            iterator = self._source.resumed_at(position, skipped)
        else:
            iterator = self._source.batches()
        return stack.enter_context(closing(iterator))

    def _shares(self, stack: contextlib.ExitStack, position: Json, skipped: int) -> Iterator[Share]:
        """Yields what this process has of each step."""
        own = self._placer.own_replicas
        each = self._batch_of == "replica"
        opened = self._opened(stack, position, skipped * own if each else skipped)
        # Read at once, since a source may fill the same memory with its next batch.
        batches = (self._placer.read(batch).owned() for batch in opened)
        if each:
            shares = map(self._placer.share_of_each, in_groups(batches, [own]))
        else:
            shares = (self._placer.dealt(batch, own) for batch in batches)
        return (mine for mine in shares if mine is not None)
