"""What all kinds of steps share: a call finds the program that fits its arguments, or makes one, and runs it."""

import dataclasses
import enum
import functools
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, Generic, ParamSpec, TypeVar

from jax.sharding import Mesh

from spmd import _jax_internals
from spmd.cluster import progress
from spmd.errors import BatchError, MeshError, PaddedBatchError
from spmd.replica import Frame, RowMask, current_frame
from spmd.source_lines import shorten_traceback
from spmd.state import ReadAfterUpdateError
from spmd.step.arguments import Arguments, Shortcut, take_apart
from spmd.step.build import Program, build
from spmd.step.cache import ProgramCache
from spmd.step.dispatch import Executable, StaleProgramError
from spmd.step.explanation import Explanation, Path, explanation
from spmd.step.garbage import held_back
from spmd.step.locks import TRACING
from spmd.step.op_by_op import call_op_by_op, on_setting, runs_op_by_op
from spmd.step.options import StepOptions
from spmd.step.padding import without_padding
from spmd.step.python_numbers import Place, PythonNumbers, most_traced
from spmd.step.stages import Lowered, Traced
from spmd.step.trace import OnMade, StepCode
from spmd.step.unequal import build_unequal
from spmd.topology import make_mesh, num_replicas, spans_processes
from spmd.typing import PyTree, Stateful, TreeStructure

_LOG = logging.getLogger("spmd.step")

P = ParamSpec("P")
R = TypeVar("R")


class _NoShortcut(enum.Enum):
    TOKEN = "no shortcut"


NO_SHORTCUT: Final = _NoShortcut.TOKEN


class StepRunner(Generic[P, R]):
    """A function that runs as compiled programs; safe to use from several threads."""

    __name__: str

    def __init__(
        self,
        function: Callable[P, R],
        mesh: Mesh | None,
        state: Sequence[Stateful],
        options: StepOptions | None,
        *,
        in_replicas: bool,
        merges_results: bool,
        on_made: OnMade | None = None,
    ) -> None:
        """Makes a step with the name and docstring of its function; see `StepCode` for the last three."""
        if not callable(function):
            raise TypeError(
                f"A step is made of a function, but got {function!r} of type {type(function).__name__}."
            )
        named = function
        while isinstance(named, functools.partial):
            named = named.func
        name = getattr(named, "__name__", type(named).__name__)
        doc = getattr(function, "__doc__", None)
        vars(self).update(__wrapped__=function, __name__=name, __doc__=doc)
        self._code = StepCode(function, name, in_replicas, merges_results, on_made)
        self._chosen_mesh = self._mesh = mesh
        self._state = [(f"state[{index}]", one) for index, one in enumerate(state)]
        self._options = options or StepOptions()
        self._programs = ProgramCache(name, self._options)
        self._shortcut: tuple[Shortcut, Executable] | None = None
        # Of the last call: which kind of program ran, the batches' masks, and where padding would count.
        self._last: tuple[Path, Sequence[RowMask], str | None] | None = None
        self._logged: set[Path] = set()
        on_setting(self)

    @functools.cached_property
    def _own_arguments(self) -> bool:
        return self._code.in_replicas and spans_processes(self.mesh)

    @functools.cached_property
    def _numbers(self) -> PythonNumbers:
        # Processes may pass numbers of their own, and must trace the same programs all the same.
        return PythonNumbers(trace_first=self._options.trace_numbers or self._own_arguments)

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

    @property
    def trace_count(self) -> int:
        """How many programs were traced."""
        return self._programs.made

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        """Runs the step; does not wait for the devices.

        Across hosts, every process must call it, with the same shapes and in the same order. Inside
        another step that is being traced, becomes a part of that one's program. Several threads may call
        steps; those that share variables take turns.

        Args:
            *args: arguments of the function. A `PerReplica` is split over the replicas; any other
                array, a batch on the host too, goes whole to every replica: `spmd.distribute` it first.
                A Python number is one in the function as well, at first; once another one comes in its place,
                it is an array there, if the function can do with one, and else stays a number.
            **kwargs: keyword arguments of the function, likewise.

        Returns:
            The function's result, see above.

        Raises:
            MeshError: inside another step, which runs on other devices.
            BatchError: a batch was split over another mesh, an argument does not fit into the types
                that JAX keeps, or the call stands inside `jax.jit` or another transformation.
            PaddedBatchError: a batch is padded, the state or a result would count its padding, and the step
                cannot be traced for the rows that each replica has.
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
            return self._inline(frame, args, kwargs)
        if not kwargs:
            result = self.call_again(args)
            if result is not NO_SHORTCUT:
                return result
        try:
            try:
                return self._call(args, kwargs)
            except PaddedBatchError as refused:
                return self._call_unpadded(args, kwargs, refused)
        except Exception as error:
            shorten_traceback(error)
            raise

    def explain(self) -> Explanation | None:
        """Tells how the last call treated the rows of its batches: which program ran, and why.

        Returns:
            What can be asked and printed; None if the step has not run yet.

        Examples:
            >>> import numpy as np, spmd
            >>> mesh = spmd.make_mesh(["cpu:0", "cpu:1"])
            >>> step = spmd.Step(lambda x: spmd.all_reduce(spmd.average_loss(x)), mesh)
            >>> for batch in spmd.distribute(np.ones(5, np.float32), mesh, batch_size=4):
            ...     mean = step(batch)
            >>> step.explain().path, step.explain().why
            ('masked', 'padding does not change what it computes')
        """
        return None if self._last is None else explanation(self.__name__, *self._last)

    def call_again(self, args: tuple[PyTree, ...]) -> Any:
        """Runs the step the short way, if the arguments are batches like those of the last call.

        Args:
            args: positional arguments.

        Returns:
            The step's result, or `NO_SHORTCUT`: then call the step.
        """
        last = self._shortcut
        if last is None or _jax_internals.is_tracing():
            return NO_SHORTCUT
        short, program = last
        match = short.match(args)
        if match is not None and program.stale_because() is None:
            try:
                result = program.dispatch(*match, ())
                self._last = "masked", match[1], None
                return result
            except (StaleProgramError, PaddedBatchError):
                pass  # Fall through: the slow path detects this again and handles it.
        return NO_SHORTCUT

    def op_by_op(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        """Runs the step op by op, each replica in turn, for debugging; see `run_op_by_op`.

        Args:
            *args: as for a call.
            **kwargs: likewise.

        Returns:
            What a call returns.

        Raises:
            MeshError: the mesh spans several processes.
            SpmdError: as for a call.
        """
        return call_op_by_op(self._code, self.mesh, self._state, args, kwargs)

    def forget_shortcut(self) -> None:
        """Takes the long way at the next call, which asks how to run it."""
        self._shortcut = None

    def trace(self, *args: P.args, **kwargs: P.kwargs) -> Traced:
        """Traces and checks the step, without compiling or running it; a later call uses the trace.

        Args:
            *args: as for a call; `jax.ShapeDtypeStruct` may stand for whole arrays, and
                `spmd.input.abstract_batch` for batches.
            **kwargs: likewise.

        Returns:
            The program: look at its `jaxpr`, `collectives` and `state_names`, or `lower()` it.

        Raises:
            SpmdError: what a call would raise, before anything runs: `BatchError`,
                `ReplicaDivergenceError`, `StateError`, `StepOutputError`.

        Examples:
            >>> import jax, jax.numpy as jnp, spmd
            >>> weight = spmd.Variable(jnp.zeros(3), name="weight")
            >>> step = spmd.Step(lambda x: weight.value @ x, spmd.make_mesh(["cpu:0"]))
            >>> traced = step.trace(jax.ShapeDtypeStruct((3,), jnp.float32))
            >>> traced.state_names, step.trace_count
            (('weight',), 1)
            >>> compiled = traced.lower().compile()
            >>> float(step(jnp.ones(3))), step.trace_count
            (0.0, 1)

        Source: `jax.jit(f).trace`.
        """
        return Traced(self._program(args, kwargs)[1], self._run)

    def lower(self, *args: P.args, **kwargs: P.kwargs) -> Lowered:
        """Traces, checks and lowers the step, without running it: `trace(...).lower()`.

        Args:
            *args: as for `trace`.
            **kwargs: likewise.

        Returns:
            The program before XLA's optimisations, to look at or to `compile()`.

        Raises:
            SpmdError: as for `trace`.
        """
        return self.trace(*args, **kwargs).lower()

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        call: Any = self
        return self if instance is None else functools.partial(call, instance)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.__name__}, programs={len(self._programs)})"

    def _inline(self, frame: Frame, args: Sequence[Any], kwargs: Mapping[str, Any]) -> PyTree:
        """Becomes a part of another step's program."""
        mesh = self._chosen_mesh
        if mesh is not None and mesh != frame.mesh:
            raise MeshError(
                f"The step {self.__name__!r} runs on {list(mesh.devices.flat)}, but was called in "
                f"a program for {list(frame.mesh.devices.flat)}. A program runs on one mesh: make the "
                "step for that one."
            )
        return self._code.inline(frame, args, kwargs)

    def _call(self, args: Sequence[PyTree], kwargs: Mapping[str, PyTree]) -> PyTree:
        if runs_op_by_op():
            return call_op_by_op(self._code, self.mesh, self._state, args, kwargs)
        if _jax_internals.is_tracing():
            raise BatchError(
                f"The step {self.__name__!r} was called inside jax.jit, jax.grad or another "
                "transformation. A step is a whole program: call it outside."
            )
        parts, program, result = self._dispatch(args, kwargs)
        short = not kwargs and parts.have_shortcut
        self._shortcut = (Shortcut(args, parts), program) if short else None
        self._last = "masked", parts.masks, None
        return result

    def _call_unpadded(
        self, args: Sequence[PyTree], kwargs: Mapping[str, PyTree], refused: PaddedBatchError
    ) -> PyTree:
        """Runs the step on the rows that there are, because padding would count."""
        cut = without_padding((args, kwargs))
        if cut is not None:
            path, result = "exact", self._call(*cut)
            masks = self._last[1] if self._last else ()
        else:
            try:
                parts, _, result = self._dispatch(args, kwargs, unequal=True)
            except PaddedBatchError as error:
                if not refused.suspected:
                    raise
                # It has to run as it can: what is suspected need not be so.
                _LOG.warning("Padding may count in the step %r: %s", self.__name__, error)
                self._program(args, kwargs)[1].accept_padding()
                return self._call(args, kwargs)
            path, masks = "unequal", parts.masks
        self._last = path, masks, refused.reason
        if path not in self._logged:
            self._logged.add(path)
            _LOG.info("%s", self.explain())
        return result

    def _dispatch(
        self, args: Sequence[PyTree], kwargs: Mapping[str, PyTree], *, unequal: bool = False
    ) -> tuple[Arguments, Executable, PyTree]:
        """Runs the program that fits arguments; see `_program`."""
        parts, program = self._program(args, kwargs, unequal=unequal)
        try:
            result = program.dispatch(parts.split, parts.masks, parts.whole)
        except StaleProgramError as stale:
            self._programs.forget(program)
            parts, program = self._program(args, kwargs, str(stale), unequal=unequal)
            result = program.dispatch(parts.split, parts.masks, parts.whole)
        return parts, program, result

    def _run(
        self, program: Executable, args: Sequence[PyTree], kwargs: Mapping[str, PyTree]
    ) -> PyTree:
        """Runs one program, on arguments that it must fit; see `Compiled.__call__`."""
        known = program.program.arguments
        traced = [
            number for number, leaf in enumerate(known.leaves) if leaf.role in ("whole", "split")
        ]
        parts = self._take_apart(args, kwargs, lambda structure, index, kind: index in traced)
        reason = program.stale_because()
        if parts.key != known.key:
            reason = "the arguments have other shapes, types or fixed values"
        if reason is None:
            try:
                return program.dispatch(parts.split, parts.masks, parts.whole)
            except StaleProgramError as stale:
                reason = str(stale)
        raise BatchError(
            f"The compiled program of the step {self.__name__!r} cannot run: {reason}. Call the step "
            "itself, which compiles another program, or lower it anew."
        )

    def _take_apart(
        self,
        args: Sequence[PyTree],
        kwargs: Mapping[str, PyTree],
        is_traced: Callable[[TreeStructure, int, type], bool],
        unequal: bool = False,
    ) -> Arguments:
        own = self._own_arguments
        parts = take_apart(args, kwargs, self.mesh, own=own, is_traced=is_traced)
        parts.unequal = unequal
        return parts

    def _program(
        self,
        args: Sequence[PyTree],
        kwargs: Mapping[str, PyTree],
        stale: str | None = None,
        *,
        unequal: bool = False,
    ) -> tuple[Arguments, Executable]:
        """Finds or makes the program for some arguments, and takes these apart as it needs them.

        Args:
            args: positional arguments.
            kwargs: keyword arguments.
            stale: why another program for them is stale.
            unequal: whether it is to be made for the rows that each replica has.
        """
        parts = self._take_apart(args, kwargs, self._numbers.is_traced, unequal)
        known, _ = self._programs.find(parts.key)
        if known is not None:
            return parts, known
        with TRACING:
            # Another thread may have made it; or it only seemed stale, while that one was tracing.
            parts = self._take_apart(args, kwargs, self._numbers.is_traced, unequal)
            known, reason = self._programs.find(parts.key)
            if known is not None:
                return parts, known
            with progress.busy(f"traces {self.__name__}"), held_back():
                try:
                    fitting, program = self._build(args, kwargs, parts)
                except ReadAfterUpdateError:
                    self._code = dataclasses.replace(self._code, predicts=True)
                    fitting, program = self._build(args, kwargs, parts)
            made = Executable(program, self._options.compiler_options)
            # A program for all values of a number that had one of its own is no reason to warn.
            self._programs.add(fitting, made, stale or reason, is_new=fitting.key == parts.key)
        return fitting, made

    def _build(
        self, args: Sequence[PyTree], kwargs: Mapping[str, PyTree], parts: Arguments
    ) -> tuple[Arguments, Program]:
        """Builds a program, with as many of its numbers traced as can be."""
        numbers = self._numbers
        sure = [
            place for place, traced in parts.numbers.items() if traced and numbers.is_settled(place)
        ]
        maybe = [
            place
            for place, traced in parts.numbers.items()
            if not numbers.is_settled(place)
            and (traced or numbers.changes(place, parts.leaves[place[1]].key))
        ]

        def built(traced: Collection[Place]) -> tuple[Arguments, Program]:
            chosen = self._take_apart(args, kwargs, lambda *place: place in traced, parts.unequal)
            make = build_unequal if parts.unequal else build
            return chosen, make(self._code, self.mesh, chosen, self._state)

        made, traced = most_traced(built, sure, maybe)
        for place in (*sure, *maybe):
            numbers.settle(place, place in traced)
        return made
