"""Functions that read batches in their loops, as programs: one dispatch for `for _ in tf.range(steps): next(iterator)`.

The batches that the loops will read are taken from the iterators first, and given to the program. See
`frontends.tf.data.feeding` for the loops themselves.
"""

import logging
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh

from frontends.tf._typing import Nested
from frontends.tf.data.feeding import FedIterator, Feeding, Read, UnknownRead, fed
from frontends.tf.data.tracing import DatasetReadDuringTrace
from frontends.tf.distribute.dataset import DistributedIterator
from frontends.tf.ops.gradients import TapeNeeded
from spmd.replica import is_per_replica
from spmd.step import CrossReplicaStep, are_alike

# The batches of all turns are in the devices' memory at once, as arguments of the program.
_MOST_BYTES = 1 << 28
_MOST_BATCHES = 1024
# Programs for other numbers of turns; more mean that the number changes all the time.
_MOST_PROGRAMS = 4
# The first call may make variables, which a loop cannot do.
_MOST_FAILURES = 2

_LOG = logging.getLogger(__name__)
NOT_FED = object()

_Make = Callable[[Callable[..., Any]], CrossReplicaStep[..., Any]]


def mesh_of_iterators(args: Nested, kwargs: Nested) -> Mesh | None:
    """Returns the mesh that iterators among arguments split batches over; None if there is no such iterator, or several."""
    leaves = jax.tree.leaves((args, kwargs), is_leaf=is_per_replica)
    meshes = {leaf.dataset.mesh for leaf in leaves if type(leaf) is DistributedIterator}
    return meshes.pop() if len(meshes) == 1 else None


class FedLoops:
    """The programs of one function on one mesh."""

    def __init__(self, function: Callable[..., Any], make_step: _Make) -> None:
        """Makes it; nothing is traced yet.

        Args:
            function: what is traced.
            make_step: makes a step of a function.
        """
        self._function, self._make_step = function, make_step
        self._programs: dict[Any, _Program] = {}
        self._failures = 0

    @property
    def trace_count(self) -> int:
        """How often the function was traced into a program."""
        return sum(program.step.trace_count for program in self._programs.values())

    def call(self, args: Nested, kwargs: Nested) -> Any:
        """Runs the function as a program, if it is one for these arguments and there is enough data.

        Returns:
            Its result; `NOT_FED` if it has to run as Python, and nothing was read.
        """
        if self._failures >= _MOST_FAILURES:
            return NOT_FED
        leaves, structure = jax.tree.flatten((args, kwargs), is_leaf=is_per_replica)
        iterators = {i: leaf for i, leaf in enumerate(leaves) if type(leaf) is DistributedIterator}
        if not iterators or len({id(leaf) for leaf in iterators.values()}) < len(iterators):
            return NOT_FED
        fixed = {i: leaf for i, leaf in enumerate(leaves) if i not in iterators and _is_fixed(leaf)}
        try:
            key = structure, tuple(iterators), *((i, _value(leaf)) for i, leaf in fixed.items())
            program = self._programs.get(key)
        except TypeError:  # an argument that is no array, and not hashable
            return NOT_FED
        if program is None:
            if len(self._programs) >= _MOST_PROGRAMS:
                return NOT_FED
            program = _Program(self._function, self._make_step, structure, leaves, iterators, fixed)
            self._programs[key] = program
        before = program.step.trace_count
        try:
            return program.call(leaves, iterators)
        except TapeNeeded:
            self._programs.pop(key, None)
            raise
        except (DatasetReadDuringTrace, Exception) as error:
            if program.works or program.step.trace_count > before:
                raise
            self._programs.pop(key, None)
            _LOG.info("A function with loops that read iterators runs as Python: %r", error)
            self._failures += 1 if isinstance(error, Exception) else _MOST_FAILURES
            return NOT_FED


class _Program:
    """A function as a program, for some number of turns of its loops.

    Attributes:
        step: the program.
        works: whether it has run.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        make_step: _Make,
        structure: Any,
        leaves: Sequence[Any],
        iterators: dict[int, Any],
        fixed: dict[int, Any],
    ) -> None:
        self.works = False
        self._reads: list[Read] = []
        datasets = {i: iterator.dataset for i, iterator in iterators.items()}
        self._free = [i for i in range(len(leaves)) if i not in iterators and i not in fixed]

        def with_batches(batches: Sequence[Sequence[Any]], free: Sequence[Any]) -> Any:
            values = {i: FedIterator(i, dataset) for i, dataset in datasets.items()} | fixed
            values |= dict(zip(self._free, free, strict=True))
            args, kwargs = jax.tree.unflatten(structure, [values[i] for i in range(len(values))])
            with fed(Feeding(self._reads, batches)):
                return function(*args, **kwargs)

        with_batches.__name__ = getattr(function, "__name__", with_batches.__name__)
        self.step = make_step(with_batches)

    def call(self, leaves: Sequence[Any], iterators: dict[int, Any]) -> Any:
        """Runs it; finds out what it reads while it is traced."""
        while True:
            taken = _Taken(iterators)
            batches = taken.take(self._reads)
            if batches is None:
                taken.give_back()
                if not self.works and self._reads:
                    raise DatasetReadDuringTrace  # too little data, or too much, to find out
                return NOT_FED
            try:
                result = self.step(batches, [leaves[i] for i in self._free])
            except UnknownRead as unknown:
                taken.give_back()
                self._reads.append(unknown.read)
                self._reads.sort(key=lambda read: read.site)
            except BaseException:
                if not self.works:
                    taken.give_back()
                raise
            else:
                self.works = True
                return result


class _Taken:
    """Batches that were taken from iterators, and may be given back."""

    def __init__(self, iterators: dict[int, DistributedIterator]) -> None:
        self._iterators = iterators
        self._batches: dict[int, list[Any]] = {i: [] for i in iterators}

    def take(self, reads: Sequence[Read]) -> list[list[Any]] | None:
        """Takes the batches that reads will read, turn after turn.

        Returns:
            For each read those of all turns; None if there are too few, if they are too many or too large for a program, or
            if they differ, as a partial batch does.
        """
        if sum(read.length for read in reads) > _MOST_BATCHES:
            return None
        found: list[list[Any]] = [[] for _ in reads]
        room = _MOST_BYTES
        for site in sorted({read.site for read in reads}):
            of = [
                (read, into) for read, into in zip(reads, found, strict=True) if read.site == site
            ]
            for turn in range(of[0][0].length):
                for read, into in of:
                    batch = self._next(read.iterator)
                    if batch is None or (turn == 0 and _bytes(batch) * read.length > room):
                        return None
                    room -= _bytes(batch)
                    into.append(batch)
        fits = all(map(are_alike, found)) and not any(map(_is_padded, found))
        return found if fits else None

    def give_back(self) -> None:
        """Gives all of them back, in order."""
        for index, batches in self._batches.items():
            self._iterators[index].give_back(batches)

    def _next(self, index: int) -> Any:
        batch = next(self._iterators[index], None)
        if batch is not None:
            self._batches[index].append(batch)
        return batch


def _is_fixed(leaf: Any) -> bool:
    """Tells whether a program is made for the value of an argument: it may be how many turns a loop has."""
    if isinstance(leaf, (jax.Array, np.ndarray, np.generic)):
        return leaf.ndim == 0 and np.issubdtype(leaf.dtype, np.integer)
    return not is_per_replica(leaf)


def _value(leaf: Any) -> Any:
    value = leaf.item() if isinstance(leaf, (jax.Array, np.ndarray, np.generic)) else leaf
    hash(value)
    return type(leaf), value


def _leaves(batches: Any) -> list[Any]:
    return jax.tree.leaves(batches, is_leaf=is_per_replica)


def _is_padded(batches: Sequence[Any]) -> bool:
    leaves = _leaves(batches)
    return not leaves or any(
        not is_per_replica(leaf) or leaf.mask is None or leaf.mask.padded for leaf in leaves
    )


def _bytes(batch: Any) -> int:
    return sum(getattr(getattr(leaf, "array", leaf), "nbytes", 0) for leaf in _leaves(batch))
