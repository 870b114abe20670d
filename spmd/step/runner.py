"""What all kinds of steps share: a call finds the program that fits its arguments, or makes one, and runs it."""

from collections.abc import Mapping, Sequence
from typing import Final

from jax.sharding import Mesh

from spmd import _jax_internals
from spmd.cluster import progress
from spmd.errors import BatchError, PaddedBatchError
from spmd.step.arguments import Arguments, Shortcut, shortcut, take_apart
from spmd.step.build import build
from spmd.step.cache import ProgramCache
from spmd.step.dispatch import Executable, StaleProgramError
from spmd.step.garbage import held_back
from spmd.step.locks import TRACING
from spmd.step.options import StepOptions
from spmd.step.padding import without_padding
from spmd.step.trace import StepCode
from spmd.topology import make_mesh, spans_processes
from spmd.typing import PyTree, Stateful


class _NoShortcut:
    """The type of `NO_SHORTCUT`."""


NO_SHORTCUT: Final = _NoShortcut()


class StepRunner:
    """Runs one step; safe to use from several threads."""

    def __init__(
        self,
        code: StepCode,
        mesh: Mesh | None,
        state: Sequence[Stateful],
        options: StepOptions | None,
    ) -> None:
        """Prepares to run a step; nothing is traced or compiled yet.

        Args:
            code: the step.
            mesh: where it runs; None takes all devices of the default platform.
            state: more objects with state.
            options: how it is compiled.
        """
        self.code = code
        self.chosen_mesh = mesh
        self._mesh = mesh
        self._state = [(f"state[{index}]", one) for index, one in enumerate(state)]
        self._options = options or StepOptions()
        self.programs = ProgramCache(code.name, self._options)
        self._shortcut: tuple[Shortcut, Executable] | None = None

    @property
    def mesh(self) -> Mesh:
        """The mesh; asking for it starts the backend."""
        if self._mesh is None:
            self._mesh = make_mesh()
        return self._mesh

    def call(self, args: tuple[PyTree, ...], kwargs: Mapping[str, PyTree]) -> PyTree:
        """Runs the step; see `Step.__call__`."""
        if not kwargs:
            result = self.call_again(args)
            if result is not NO_SHORTCUT:
                return result
        try:
            return self._call(args, kwargs)
        except PaddedBatchError:
            # A program for the rows that there are, if all replicas have as many.
            cut = without_padding((args, kwargs))
            if cut is None:
                raise
            return self._call(*cut)

    def call_again(self, args: tuple[PyTree, ...]) -> PyTree | _NoShortcut:
        """Runs the step the short way, if the arguments are batches like those of the last call.

        Args:
            args: positional arguments.

        Returns:
            The step's result, or `NO_SHORTCUT`: then use `call`.
        """
        last = self._shortcut
        if last is None or _jax_internals.is_tracing():
            return NO_SHORTCUT
        short, program = last
        match = short.match(args)
        if match is not None and program.stale_because() is None:
            try:
                return program.dispatch(*match, ())
            except (StaleProgramError, PaddedBatchError):
                pass  # Fall through: the slow path detects this again and handles it.
        return NO_SHORTCUT

    def prepare(self, args: tuple[PyTree, ...], kwargs: Mapping[str, PyTree]) -> Executable:
        """Finds the program that fits some arguments, or makes it, without running it."""
        return self._program(self._take_apart(args, kwargs))

    def run(
        self, program: Executable, args: tuple[PyTree, ...], kwargs: Mapping[str, PyTree]
    ) -> PyTree:
        """Runs one program, on arguments that it must fit.

        Raises:
            BatchError: it does not fit them, or is stale.
        """
        parts = self._take_apart(args, kwargs)
        reason = program.stale_because()
        if parts.key != program.program.arguments.key:
            reason = "the arguments have other shapes, types or fixed values"
        if reason is None:
            try:
                return program.dispatch(parts.split, parts.masks, parts.whole)
            except StaleProgramError as stale:
                reason = str(stale)
        raise BatchError(
            f"The compiled program of the step {self.code.name!r} cannot run: {reason}. Call the step "
            "itself, which compiles another program, or lower it anew."
        )

    def _call(self, args: tuple[PyTree, ...], kwargs: Mapping[str, PyTree]) -> PyTree:
        if _jax_internals.is_tracing():
            raise BatchError(
                f"The step {self.code.name!r} was called inside jax.jit, jax.grad or another "
                "transformation. A step is a whole program: call it outside."
            )
        parts = self._take_apart(args, kwargs)
        program = self._program(parts)
        try:
            result = program.dispatch(parts.split, parts.masks, parts.whole)
        except StaleProgramError as stale:
            self.programs.forget(program)
            program = self._program(parts, str(stale))
            result = program.dispatch(parts.split, parts.masks, parts.whole)
        short = None if kwargs else shortcut(args, parts)
        self._shortcut = None if short is None else (short, program)
        return result

    def _take_apart(self, args: tuple[PyTree, ...], kwargs: Mapping[str, PyTree]) -> Arguments:
        own = self.code.in_replicas and spans_processes(self.mesh)
        return take_apart(args, kwargs, self.mesh, own=own)

    def _program(self, arguments: Arguments, stale: str | None = None) -> Executable:
        known, _ = self.programs.find(arguments.key)
        if known is not None:
            return known
        with TRACING:
            # Another thread may have made it; or it only seemed stale, while that one was tracing.
            known, reason = self.programs.find(arguments.key)
            if known is not None:
                return known
            with progress.busy(f"traces {self.code.name}"), held_back():
                program = build(self.code, self.mesh, arguments, self._state)
            made = Executable(program, self._options.compiler_options)
            self.programs.add(arguments, made, stale or reason)
        return made
