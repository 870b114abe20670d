"""Does a step on N replicas do what it does on one? Run both, compare, and say what is wrong.

The engine proves that replicas stay equal. It cannot prove that a loss is divided by the right number:
averaged over a replica's rows instead of the global batch's, it gives gradients that are N times too
large, and training that is merely worse. So the step is run on one device and on N, with a full batch and
with partial ones, from the same state, and everything that comes out is compared.
"""

import contextlib
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh
from jax.tree_util import keystr, tree_leaves_with_path

from spmd.errors import (
    BatchError,
    MeshError,
    PaddedBatchError,
    Remedy,
    ReplicaDivergenceError,
)
from spmd.input import distribute
from spmd.replica import PerReplica, collected, is_per_replica
from spmd.state import Kind, discover
from spmd.step import Step, StepOptions
from spmd.topology import make_mesh, num_replicas, spans_processes

# Batches of other sizes are what verify is for.
_QUIET = StepOptions(warn_after=1000)

Around = Callable[[Mesh], contextlib.AbstractContextManager[Any]]


@dataclasses.dataclass(frozen=True)
class Verification:
    """What `verify` found.

    Attributes:
        replicas: how many there were.
        rows: the sizes of the batches that were tried.
        differences: what differs from one device, in words, the most telling first; empty if nothing.
        notes: what differs by design, and was not compared.
    """

    replicas: int
    rows: tuple[int, ...]
    differences: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the step does the same on one device and on all."""
        return not self.differences

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        sizes = ", ".join(map(str, self.rows))
        same = f"The step does the same on 1 device and on {self.replicas}, with {sizes} rows."
        lines = [*self.differences[:1]] or [same]
        others = len(self.differences) - 1
        if others > 0:
            lines.append(f"{others} more, in `differences`; most follow from this one.")
        return "\n".join([*lines, *(f"Note: {note}" for note in self.notes)])


def verify(
    step: Callable[[Any], Any],
    batch: Any,
    mesh: Mesh | None = None,
    *,
    around: Around | None = None,
    rtol: float = 1e-4,
    atol: float = 1e-5,
) -> Verification:
    """Compares a step on one device with the same step on all devices of a mesh.

    The state (models, optimizers, metrics, random streams) is as before when it returns. What the step
    writes to random streams, and statistics over rows such as batch normalization's, differ by design.

    Args:
        step: what one replica does; takes a batch.
        batch: one global batch in host memory, a pytree of arrays with a first axis of rows; or a
            distributed batch.
        mesh: where to run it; None takes all devices of the default platform.
        around: makes a context for running the step on a mesh; for front ends.
        rtol: how much numbers may differ, as a share of the largest one beside them.
        atol: how much numbers may differ in any case.

    Returns:
        What was found; `print` it.

    Raises:
        BatchError: the batch has no rows.
        MeshError: the mesh has one device, or devices of other processes.

    Examples:
        >>> import numpy as np, spmd
        >>> weight = spmd.Variable(1.0)
        >>> def step(x):
        ...     return spmd.all_reduce(spmd.average_loss(x * weight.value))
        >>> print(spmd.verify(step, np.ones(4, np.float32), spmd.make_mesh(["cpu:0", "cpu:1"])))
        The step does the same on 1 device and on 2, with 4, 3, 2, 1 rows.
    """
    mesh = make_mesh() if mesh is None else mesh
    if num_replicas(mesh) == 1:
        raise MeshError(
            "verify compares one device with several, but the mesh has one. Simulate some: "
            "spmd.simulate_devices(2), first of all."
        )
    if spans_processes(mesh):
        raise MeshError(
            "verify compares one device with several of this process, but the mesh has devices of "
            f"{jax.process_count()} processes. Run the script without a cluster (no TF_CONFIG), on as many "
            "simulated devices."
        )
    host = jax.tree.map(_on_host, batch, is_leaf=is_per_replica)
    leaves = jax.tree.leaves(host)
    if not leaves or not all(np.ndim(leaf) for leaf in leaves) or not len(leaves[0]):
        raise BatchError(
            "verify needs one batch with rows, such as (x, y) with x of shape (64, 784), but got "
            f"{jax.tree.map(np.shape, host)}."
        )
    around = around or (lambda _: contextlib.nullcontext())
    return _Comparison(step, host, len(leaves[0]), mesh, around, rtol, atol).run()


def _on_host(leaf: Any) -> Any:
    if isinstance(leaf, PerReplica):
        return np.concatenate([np.asarray(value) for value in leaf.values])
    return np.asarray(leaf)


@dataclasses.dataclass
class _Outcome:
    """What one run left behind: gradients after their sum, the state, the results of all replicas."""

    gradients: list[np.ndarray]
    state: list[np.ndarray]
    results: list[tuple[str, list[np.ndarray]]]


class _Comparison:
    def __init__(
        self,
        step: Callable[[Any], Any],
        batch: Any,
        size: int,
        mesh: Mesh,
        around: Around,
        rtol: float,
        atol: float,
    ) -> None:
        self.batch, self.size, self.around = batch, size, around
        self.rtol, self.atol = rtol, atol
        self.replicas = num_replicas(mesh)

        def probe(batch: Any) -> Any:  # state is searched for in what it closes over
            with collected() as sums:
                out = step(batch)
            return {"out": out, "sums": list(sums)}

        probe.__name__ = probe.__qualname__ = getattr(step, "__name__", "step")
        self._steps = [
            Step(probe, one, keep_per_replica=True, options=_QUIET)
            for one in (make_mesh([mesh.devices.flat[0]]), mesh)
        ]
        # Makes what is made at first use, without running anything.
        for prepared in self._steps:
            with around(prepared.mesh):
                prepared.lower(self._placed(size, prepared.mesh))
        self._table, _ = discover(step)

    def run(self) -> Verification:
        sizes = _sizes(self.size, self.replicas)
        # In order, each once.
        notes: dict[str, None] = {}
        differences: dict[str, None] = {}
        tried: list[int] = []
        before = list(map(_copied, self._table.read()))
        try:
            for rows in sizes:
                try:
                    one, many = (self._outcome(rows, step, before) for step in self._steps)
                except (BatchError, PaddedBatchError, ReplicaDivergenceError):
                    # Replicas with different numbers of rows cannot run it; those with as many were checked.
                    notes[_refused()] = None
                    continue
                tried.append(rows)
                differences.update(dict.fromkeys(self._compare(rows, one, many, notes)))
        finally:
            self._table.write(before)
        if sizes[0] not in tried:  # the batch as it was given
            differences = {_refused(): notes.pop(_refused()), **differences}
        return Verification(self.replicas, tuple(tried), tuple(differences), tuple(notes))

    def _placed(self, rows: int, mesh: Mesh) -> Any:
        part = jax.tree.map(lambda leaf: leaf[:rows], self.batch)
        return next(iter(distribute(part, mesh, batch_size=self.size)))

    def _outcome(self, rows: int, step: Step[..., Any], before: Sequence[Any]) -> _Outcome:
        self._table.write(list(map(_copied, before)))
        with self.around(step.mesh):
            result = step(self._placed(rows, step.mesh))
        sums = jax.tree.leaves(result["sums"], is_leaf=is_per_replica)
        results = [
            (keystr(path), _every(leaf))
            for path, leaf in tree_leaves_with_path(result["out"], is_leaf=is_per_replica)
        ]
        state = list(map(_plain, self._table.read()))
        return _Outcome([_every(leaf)[0] for leaf in sums], state, results)

    def _compare(
        self, rows: int, one: _Outcome, many: _Outcome, notes: dict[str, None]
    ) -> list[str]:
        full = rows == self.size
        batch = "a full batch" if full else f"a partial batch ({rows} of {self.size} rows)"
        if len(one.gradients) != len(many.gradients):
            return [
                f"The step sums {len(one.gradients)} gradients on one device, and {len(many.gradients)} on "
                f"{self.replicas} replicas. It asks how many there are: the two cannot be compared."
            ]
        found: list[str] = []
        kinds = self._table.kinds
        statistics = Kind.MEAN in kinds
        if statistics:
            note = "batch statistics are each replica's own, averaged; they were not compared."
            notes[note] = None
        gradients = zip(one.gradients, many.gradients, strict=True)
        wrong = [self._ratio(a, b) for a, b in gradients if not self._close(a, b)]
        if wrong:
            found.append(self._about_gradients(wrong, len(one.gradients), batch, full, statistics))
        else:
            names = self._table.leaf_names
            for name, kind, a, b in zip(names, kinds, one.state, many.state, strict=True):
                if kind in (Kind.MIRRORED, Kind.SUM, Kind.ROWS) and not self._close(a, b):
                    what = "metric" if kind is Kind.SUM else "variable"
                    found.append(
                        f"With {batch} on {self.replicas} replicas, the {what} {name} ends as "
                        f"{_short(b)}, on one device as {_short(a)}. If it counts rows, count the valid "
                        "ones: spmd.valid_rows().sum()."
                    )
        for (name, a), (_, b) in zip(one.results, many.results, strict=True):
            total: np.ndarray = np.sum(b, axis=0)
            mean = np.asarray(total / len(b))
            if a[0].shape != total.shape or self._close(a[0], total):
                continue  # an entry for each row: each replica has its own; or what can be summed
            where = f"the result{name and ' at ' + name}"
            if not self._close(a[0], mean):
                found.append(
                    f"With {batch}, {where} is {_short(a[0])} on one device; "
                    f"on {self.replicas} replicas its sum is {_short(total)} and its mean "
                    f"{_short(mean)}. Return what can be summed: a part divided by the global batch."
                )
            elif full and not wrong and not self._close(a[0], b[0]):
                notes[f"{where} is to be averaged over replicas."] = None
        return found

    def _about_gradients(
        self, wrong: list[float | None], gradients: int, batch: str, full: bool, statistics: bool
    ) -> str:
        ratios = {None if ratio is None else round(ratio, 3) for ratio in wrong}
        ratio = ratios.pop() if len(ratios) == 1 else None
        head = f"With {batch} on {self.replicas} replicas, the gradients"
        if ratio is not None:
            times = f"{head} are {ratio:g} times those on one device"
            if abs(ratio - self.replicas) < 1e-2 * self.replicas:
                return (
                    f"{times}: the loss is averaged per replica. "
                    f"Divide by the global batch size: {Remedy.AVERAGE_LOSS.spelled()}."
                )
            return f"{times}. Look at what the loss is divided by."
        differ = f"{head} differ from those on one device ({len(wrong)} of {gradients})"
        if statistics:
            return (
                f"{differ}: batch normalization sees other rows. "
                "That is TensorFlow's rule; synchronized=True in Keras makes them equal."
            )
        if not full:
            return (
                f"{differ}: replicas with fewer rows count as much as the others. Divide by the number of "
                "all valid rows: spmd.average_loss(per_example_loss)."
            )
        return (
            f"{differ}. If the loss holds a penalty on the weights, every replica adds it: "
            f"{Remedy.SCALE_PENALTY.spelled()}. If the step draws random numbers (dropout), turn them off to "
            "compare."
        )

    def _close(self, a: np.ndarray, b: np.ndarray) -> bool:
        if a.shape != b.shape:
            return False
        if a.dtype.kind not in "fc":
            return bool(np.array_equal(a, b))
        scale = float(np.max(np.abs(a), initial=0, where=np.isfinite(a)))
        return bool(np.allclose(a, b, rtol=0, atol=self.atol + self.rtol * scale, equal_nan=True))

    def _ratio(self, a: np.ndarray, b: np.ndarray) -> float | None:
        """The one number that `b` is as many times as large as `a`, if there is one."""
        if a.shape != b.shape or not np.any(a):
            return None
        ratio = float(np.vdot(a, b) / np.vdot(a, a))
        return ratio if self._close(a * ratio, b) else None


def _sizes(size: int, replicas: int) -> list[int]:
    """Batch sizes to try: all, if they are few; else those in which replicas get unlike numbers."""
    if size <= 2 * replicas:
        return list(range(size, 0, -1))
    few = {size, size - 1, size // 2 + 1, *range(1, replicas + 2)}
    return sorted((rows for rows in few if 0 < rows <= size), reverse=True)


def _every(leaf: Any) -> list[np.ndarray]:
    return list(map(_plain, leaf.values if isinstance(leaf, PerReplica) else (leaf,)))


def _copied(leaf: Any) -> Any:
    # A step takes the memory of what it writes.
    return jnp.copy(leaf) if isinstance(leaf, jax.Array) else leaf


def _plain(leaf: Any) -> np.ndarray:
    if isinstance(leaf, jax.Array) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        leaf = jax.random.key_data(leaf)
    array = np.array(leaf)
    # Types that NumPy does not know (bfloat16) cannot be compared there.
    return array.astype(np.float32) if array.dtype.kind == "V" else array


def _short(value: np.ndarray) -> str:
    return f"{value:.6g}" if value.ndim == 0 else np.array2string(value, precision=4, threshold=6)


def _refused() -> str:
    return (
        "partial batches are refused that replicas cannot share evenly, because padding would count in the step, and "
        "it cannot be traced for fewer rows; that is well if every batch is full (drop_remainder=True). Otherwise average with "
        f"{Remedy.AVERAGE_LOSS.spelled()}."
    )
