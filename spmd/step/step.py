"""`Step`: a Python function of one replica, run as one compiled program on all replicas.

A *step* is called like the function. The first call with new shapes traces the function and compiles
a *program*; later calls with the same shapes dispatch it. Models, optimizers, metrics, random streams
and variables that the function closes over, or receives, are its *state*: they are read before the
program runs, and hold their new values after it.
"""

import dataclasses
import functools
import threading
import warnings
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Generic, ParamSpec, TypeVar

from jax.sharding import Mesh

from spmd import _jax_internals
from spmd.cluster import progress
from spmd.errors import BatchError, MeshError, PaddedBatchError, RecompilationWarning
from spmd.replica import current_frame
from spmd.source_lines import user_stacklevel
from spmd.step.arguments import Arguments, Shortcut, shortcut, take_apart
from spmd.step.garbage import held_back
from spmd.step.padding import without_padding
from spmd.step.program import Program, StaleProgramError
from spmd.step.state_views import run_in_replicas
from spmd.topology import make_mesh, num_replicas, spans_processes

P = ParamSpec("P")
R = TypeVar("R")

NO_SHORTCUT: Any = object()

# How many programs a step keeps, of those for one set of shapes, whose models were replaced.
_MAX_REPLACED = 2

# Two steps on two threads may share a model; one at a time may read, donate and write it.
_STATE_LOCK = threading.RLock()


@dataclasses.dataclass(frozen=True)
class StepOptions:
    """How a step is compiled.

    Attributes:
        max_programs: how many programs a step keeps; the one unused for longest is dropped.
        warn_after: number of programs after which each doubling warns that shapes keep changing.
        compiler_options: options for XLA, such as `{"xla_cpu_enable_fast_math": True}`.

    Raises:
        ValueError: `max_programs` or `warn_after` is below 1.

    Examples:
        >>> import spmd
        >>> options = spmd.StepOptions(max_programs=2)
        >>> step = spmd.Step(lambda x: x * 2, spmd.make_mesh(["cpu:0"]), options=options)
        >>> for number in (1, 2.0, 3j):
        ...     result = step(number)
        >>> step
        Step(<lambda>, programs=2)
    """

    max_programs: int = 16
    warn_after: int = 4
    compiler_options: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        for name in ("max_programs", "warn_after"):
            if getattr(self, name) < 1:
                raise ValueError(
                    f"StepOptions.{name} must be at least 1, but is {getattr(self, name)}."
                )


class Step(Generic[P, R]):
    """A per-replica function, compiled for all devices of a mesh.

    The function sees one replica's block of every `PerReplica` argument, and all of any other. A
    result that is equal on all replicas (proven, not guessed) comes back as one array, any other as a
    `PerReplica`.

    The function is called once for each program. If a result may have an entry for each row of a batch,
    it is called once more, for blocks of one row more: what gets longer does have, and its padding is
    left out when it is read.

    Examples:
        >>> import numpy as np, spmd
        >>> mesh = spmd.make_mesh(["cpu"])
        >>> step = spmd.Step(lambda x: spmd.all_reduce(x.sum()), mesh)
        >>> for batch in spmd.distribute(np.ones((8, 3), np.float32), mesh, batch_size=8):
        ...     print(float(step(batch)))
        24.0

    Source: `tf.distribute.Strategy.run`, `tf.function`.
    """

    def __init__(
        self,
        function: Callable[P, R],
        mesh: Mesh | None = None,
        *,
        state: Sequence[Any] = (),
        options: StepOptions | None = None,
        per_replica: bool = True,
        keep_per_replica: bool = False,
    ) -> None:
        """Makes a step; nothing is traced or compiled yet.

        Args:
            function: what one replica does.
            mesh: where it runs; None takes all devices of the default platform.
            state: objects with state that the function reaches by ways that cannot be searched.
            options: how it is compiled.
            per_replica: False means that the function is not one replica's: it runs between the
                replicas and calls `run` for the parts that are. All parts become one program.
            keep_per_replica: return every result of a replica as a `PerReplica`, also where it is
                equal on all of them.

        Raises:
            TypeError: `function` cannot be called.
        """
        if not callable(function):
            raise TypeError(
                f"A step is made of a function, but got {function!r} of type "
                f"{type(function).__name__}."
            )
        self.__wrapped__ = function
        self.__name__ = getattr(function, "__name__", type(function).__name__)
        self.__doc__ = getattr(function, "__doc__", None)
        self._mesh = mesh
        self._state = [(f"state[{index}]", thing) for index, thing in enumerate(state)]
        self._options = options or StepOptions()
        self._per_replica = per_replica
        self._keep_per_replica = keep_per_replica
        # The one used last stands last.
        self._programs: list[tuple[Hashable, Program]] = []
        self._last_key: Any = None
        self._shortcut: tuple[Shortcut, Program] | None = None
        self.trace_count = 0

    @property
    def mesh(self) -> Mesh:
        """The mesh; asking for it starts the backend."""
        if self._mesh is None:
            self._mesh = make_mesh()
        return self._mesh

    @property
    def num_replicas(self) -> int:
        """How many replicas run the step."""
        return num_replicas(self.mesh)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        """Runs the step; does not wait for the devices.

        Across hosts, every process must call it, with the same shapes and in the same order. Inside
        another step that is being traced, becomes a part of that one's program.

        Args:
            *args: arguments of the function. A `PerReplica` is split over the replicas; any other
                array, a batch on the host too, goes whole to every replica: `spmd.distribute` it first.
            **kwargs: keyword arguments of the function, likewise.

        Returns:
            The function's result, see above.

        Raises:
            MeshError: inside another step, which runs on other devices.
            BatchError: a batch was split over another mesh, an argument does not fit into the types
                that JAX keeps, or the call stands inside of `jax.jit` or another transformation.
            PaddedBatchError: a batch is padded, and the state or a result would count its padding.
            ReplicaContextError: the step runs in a replica of another step.
            ReplicaDivergenceError: a variable, or what is returned as one value, would differ between
                replicas.
            StateError: a variable was not found, changes its shape, or lost its value in a step that
                failed. On several devices such a failure shows only when a result is read, as
                `jax.errors.JaxRuntimeError`, and the state is lost likewise.
            StepOutputError: the function returned something that is no array.

        Examples:
            >>> import numpy as np, spmd
            >>> mesh = spmd.make_mesh(["cpu:0", "cpu:1"])
            >>> rows = np.ones((8, 3), np.float32)
            >>> (batch,) = spmd.distribute(rows, mesh, batch_size=8)
            >>> step = spmd.Step(lambda x, y: x.shape[0] * 10 + y.shape[0], mesh)
            >>> int(step(batch, rows))
            48
        """
        frame = current_frame()
        if frame is not None:
            if self._mesh is not None and self._mesh != frame.mesh:
                raise MeshError(
                    f"The step {self.__name__!r} runs on {list(self._mesh.devices.flat)}, but was called in "
                    f"a program for {list(frame.mesh.devices.flat)}. A program runs on one mesh: make the "
                    "step for that one."
                )
            if self._per_replica:
                return run_in_replicas(frame, self.__wrapped__, args, kwargs)
            return self.__wrapped__(*args, **kwargs)
        if not kwargs:
            result = self.call_again(args)
            if result is not NO_SHORTCUT:
                return result
        with _STATE_LOCK:
            try:
                return self._call(args, kwargs)
            except PaddedBatchError:
                # A program for the rows that there are, if all replicas have as many.
                cut = without_padding((args, kwargs))
                if cut is None:
                    raise
                return self._call(*cut)

    def call_again(self, args: tuple[Any, ...]) -> Any:
        """Runs the step the short way, if the arguments are batches like those of the last call.

        Args:
            args: positional arguments.

        Returns:
            The step's result, or `NO_SHORTCUT`: then call the step.
        """
        if self._shortcut is None or _jax_internals.is_tracing():
            return NO_SHORTCUT
        short, program = self._shortcut
        match = short.match(args)
        if match is None:
            return NO_SHORTCUT
        with _STATE_LOCK:
            if program.stale_because() is None:
                try:
                    return program.dispatch(*match, ())
                except (StaleProgramError, PaddedBatchError):
                    pass  # The long way finds out again, and does something about it.
        return NO_SHORTCUT

    def _call(self, args: Any, kwargs: Any) -> Any:
        if _jax_internals.is_tracing():
            raise BatchError(
                f"The step {self.__name__!r} was called inside jax.jit, jax.grad or another "
                "transformation. A step is a whole program: call it outside."
            )
        parts = self._take_apart(args, kwargs)
        program = self._program(parts)
        try:
            result = program.dispatch(parts.split, parts.masks, parts.whole)
        except StaleProgramError as stale:
            self._forget(program)
            program = self._make(parts, str(stale))
            result = program.dispatch(parts.split, parts.masks, parts.whole)
        short = None if kwargs else shortcut(args, parts)
        self._shortcut = None if short is None else (short, program)
        return result

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self) -> str:
        return f"Step({self.__name__}, programs={len(self._programs)})"

    def lower(self, *args: P.args, **kwargs: P.kwargs) -> Program:
        """Traces and checks the step ahead of time, without running it.

        Args:
            *args: as for a call; `jax.ShapeDtypeStruct` may stand for whole arrays, and
                `spmd.abstract_batch` for batches.
            **kwargs: likewise.

        Returns:
            The program, to look at (`hlo`, `memory`, `cost`, `collectives`) or to compile early
            (`compile()`). A later call with the same shapes uses it.

        Raises:
            SpmdError: what a call would raise, before anything runs: `BatchError`,
                `ReplicaDivergenceError`, `StateError`, `StepOutputError`.

        Examples:
            >>> import jax, jax.numpy as jnp, spmd
            >>> weight = spmd.Variable(jnp.zeros(3), name="weight")
            >>> step = spmd.Step(lambda x: weight.value @ x, spmd.make_mesh(["cpu:0"]))
            >>> program = step.lower(jax.ShapeDtypeStruct((3,), jnp.float32))
            >>> program.state_names, step.trace_count
            (('weight',), 1)
            >>> float(step(jnp.ones(3))), step.trace_count
            (0.0, 1)
        """
        with _STATE_LOCK:
            return self._program(self._take_apart(args, kwargs))

    def _take_apart(self, args: Any, kwargs: Any) -> Arguments:
        spans = spans_processes(self.mesh)
        return take_apart(args, kwargs, self.mesh, own=spans and self._per_replica)

    def _program(self, arguments: Arguments) -> Program:
        key = arguments.key
        reason: str | None = None
        for index in reversed(range(len(self._programs))):
            known, program = self._programs[index]
            if known == key:
                reason = program.stale_because()
                if reason is None:
                    self._programs.append(self._programs.pop(index))
                    return program
        return self._make(arguments, reason)

    def _make(self, arguments: Arguments, reason: str | None) -> Program:
        with progress.busy(f"traces {self.__name__}"), held_back():
            program = self._trace(arguments)
        self.trace_count += 1
        doublings, rest = divmod(self.trace_count, self._options.warn_after)
        if rest == 0 and doublings.bit_count() == 1 and self._last_key is not None:
            self._warn(arguments, reason)
        self._last_key = arguments.key
        self._programs.append((arguments.key, program))
        self._drop_replaced(arguments.key)
        del self._programs[: -self._options.max_programs]
        return program

    def _trace(self, arguments: Arguments) -> Program:
        return Program(
            self.__wrapped__,
            self.mesh,
            arguments,
            name=self.__name__,
            state=self._state,
            per_replica=self._per_replica,
            keep_per_replica=self._keep_per_replica,
            compiler_options=self._options.compiler_options,
        )

    def _drop_replaced(self, key: Hashable) -> None:
        # A program keeps the model alive that it was traced for, so one for a model that was replaced
        # (a notebook's cell run again) must go. Not at once: models may take turns under one name. A
        # change of mode, as by eval(), replaces no object, and its programs count only among all.
        replaced = [
            program
            for known, program in self._programs
            if known == key and program.has_replaced_state()
        ]
        for program in replaced[:-_MAX_REPLACED]:
            self._forget(program)

    def _forget(self, program: Program) -> None:
        self._programs = [entry for entry in self._programs if entry[1] is not program]
        if self._shortcut is not None and self._shortcut[1] is program:
            self._shortcut = None

    def _warn(self, arguments: Arguments, reason: str | None) -> None:
        warnings.warn(
            f"The step {self.__name__!r} was compiled {self.trace_count} times. Last time because "
            f"{reason or _difference(self._last_key, arguments)}. Compiling takes far longer than a "
            "step: keep shapes the same (pad, or drop_remainder=True), pass what changes as an "
            "array, and make models once.",
            RecompilationWarning,
            stacklevel=user_stacklevel(),
        )


def _difference(last_key: Any, arguments: Arguments) -> str:
    """Says in words how arguments differ from those of another program."""
    structure, leaves = last_key
    if structure != arguments.structure:
        return f"the structure of the arguments changed from {structure} to {arguments.structure}"
    for index, (old, new) in enumerate(zip(leaves, arguments.leaves, strict=True)):
        if old != new:
            return f"argument leaf {index} changed from {_shown(old)} to {_shown(new)}"
    return "a program was dropped to make room for others"


def _shown(leaf: Any) -> str:
    if leaf.how == "thing":
        return "one object to another"
    if leaf.how == "fixed":
        return repr(leaf.key[1]) if isinstance(leaf.key, tuple) else "an object"
    shape, dtype = leaf.key[:2]
    return f"{dtype}{list(shape)}"
