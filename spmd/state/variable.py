"""`spmd.Variable`: mutable state of a step for code that uses no module library."""

import contextlib
import contextvars
import functools
from collections.abc import Generator, Iterable, Sequence
from typing import Any, Literal, get_args

import jax
import jax.numpy as jnp

from spmd._jax_internals import trace_state
from spmd.assigned import assigned
from spmd.errors import Remedy, StateError
from spmd.replica import current_frame, is_per_replica, replica_id
from spmd.state.adapter import Adapter
from spmd.state.backing import back_new, check_known, refreshed, undisturbed, written
from spmd.state.kinds import Kind
from spmd.state.observers import overwritten
from spmd.state.registry import register_adapter
from spmd.state.roles import Role
from spmd.state.watch import Watch
from spmd.topology import readable
from spmd.typing import LibraryVariable, PyTree, Stateful

VariableKind = Literal["mirrored", "mean", "sum", "key", "local"]


# Variables written while writes are to be undone, by id, with the values that they had before.
_UNDO: contextvars.ContextVar[dict[int, tuple[Any, PyTree]] | None] = contextvars.ContextVar(
    "undo", default=None
)


@contextlib.contextmanager
def writes_undone() -> Generator[None]:
    """Gives variables that are written inside the values back that they had, as inference of shapes needs it.

    Examples:
        >>> v = Variable(1.0)
        >>> with writes_undone():
        ...     v.value += 1
        >>> float(v.value)
        1.0
    """
    written: dict[int, tuple[Any, PyTree]] = {}
    try:
        with assigned(_UNDO, written):
            yield
    finally:
        for variable, value in written.values():
            variable._value = value


class Variable:
    """A pytree of arrays that a step may read and replace.

    Examples:
        >>> import jax.numpy as jnp, spmd
        >>> count = spmd.Variable(jnp.zeros((), jnp.int32), name="count")
        >>> def step():
        ...     count.value += 1
        >>> spmd.Step(step, spmd.make_mesh(["cpu:0"]))()
        >>> int(count.value)
        1

    Source: `tf.Variable`, `flax.nnx.Variable`.
    """

    __slots__ = ("__weakref__", "_frame", "_trace", "_value", "kind", "name")

    def __init__(
        self, value: PyTree, *, kind: VariableKind = "mirrored", name: str | None = None
    ) -> None:
        """Makes a variable.

        Args:
            value: pytree of arrays or numbers.
            kind: `"mirrored"` (one value, equal on all replicas), `"mean"` (averaged over replicas
                after a step wrote it), `"sum"` (each replica adds its part; reading gives the sum),
                `"key"` (a random key; each replica gets one of its own) or `"local"` (a value for
                each replica; outside of a step they are stacked along a new first axis).
            name: shown in messages; by default the name under which the step finds it.

        Raises:
            ValueError: unknown `kind`.
        """
        if kind not in get_args(VariableKind):
            raise ValueError(
                f"Unknown kind {kind!r} of variable {name or ''}. "
                f"Expected one of {', '.join(map(repr, get_args(VariableKind)))}."
            )
        self.kind: VariableKind = kind
        self.name = name
        self._value: Any = jax.tree.map(jnp.asarray, value, is_leaf=is_per_replica)
        self._frame: Any = None
        self._trace: Any = None
        back_new(self)

    @property
    def value(self) -> PyTree:
        """The current value.

        Raises:
            StateError: a step reads the variable, but did not find it before.
        """
        return self._get()

    @value.setter
    def value(self, value: PyTree) -> None:
        self._set(value)

    def _get(self) -> PyTree:
        self._check_lifted("reads")
        if current_frame() is not None:
            check_known(self, self._value)
            return self._value
        refreshed([self])
        with undisturbed(self):
            value = self._value
        return jax.tree.map(readable, value) if jax.distributed.is_initialized() else value

    def _set(self, value: PyTree) -> None:
        with undisturbed(self):
            self._check_lifted("writes")
            if self._frame is not None and self._trace != trace_state():
                raise StateError(
                    f"{self!r} is written inside a loop, branch or other transformation of the step (scan, cond, "
                    "grad, vmap), whose values do not live outside of it. Return the new value from there, and assign "
                    "it outside."
                )
            new = jax.tree.map(jnp.asarray, value, is_leaf=is_per_replica)
            undo = _UNDO.get()
            if undo is not None:
                undo.setdefault(id(self), (self, self._value))
            old = self._value
            new = self._value = overwritten(self, old, new)
        written(self, old, new)

    def __repr__(self) -> str:
        shown = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), self._value)
        name = f"{self.name!r}, " if self.name else ""
        return f"Variable({name}{shown}, kind={self.kind!r})"

    def _made_in_step(self, trace: object = None) -> None:
        """Lets the step that made the variable use it, and gives it its value back afterwards.

        If the step can reach the variable when it is over, it is traced again, with the variable lifted.

        Args:
            trace: the one that may write it; None for that of the caller.
        """
        frame = current_frame()
        if frame is not None and frame.turns is None:
            initial = self._value
            if self.kind == "local" and frame.in_replica:
                self._value = jax.tree.map(lambda each: each[replica_id()], initial)
            self._frame, self._trace = frame, trace_state() if trace is None else trace
            frame.made.append((self, functools.partial(self._leave_step, initial)))

    def _leave_step(self, value: PyTree) -> None:
        self._value, self._frame, self._trace = value, None, None

    def _check_lifted(self, verb: str) -> None:
        frame = current_frame()
        if frame is None or self._frame is frame:
            return
        if frame.turns is None:
            raise StateError(
                f"The step {verb} {self!r}, which it did not find among the objects that it can "
                "reach, so its value would be frozen into the program. "
                f"{Remedy.NAME_STATE.spelled(name='variable')}."
            )
        self._frame, self._trace = frame, trace_state()
        frame.turns.adopt(self, functools.partial(self._leave_step, None))


class _VariableAdapter(Adapter):
    """How `spmd.Variable` holds state."""

    # The descriptor of a slot: its methods are C functions.
    get = Variable.__dict__["_value"].__get__
    set = Variable.__dict__["_value"].__set__

    def owns(self, thing: Stateful) -> bool:
        return isinstance(thing, Variable)

    is_variable = owns

    def variables(self, thing: Stateful) -> Iterable[tuple[str, LibraryVariable]]:
        return [("", thing)]

    def kind(self, variable: LibraryVariable) -> Kind:
        return Kind(variable.kind)

    def roles(
        self, variables: Sequence[LibraryVariable], things: Sequence[Stateful]
    ) -> Sequence[Role]:
        return list(map(_role, variables))

    @contextlib.contextmanager
    def lifted(
        self, things: Sequence[Stateful], variables: Sequence[LibraryVariable]
    ) -> Generator[None]:
        frame, trace = current_frame(), trace_state()
        before = [(variable._frame, variable._trace) for variable in variables]
        try:
            for variable in variables:
                variable._frame, variable._trace = frame, trace
            yield
        finally:
            for variable, former in zip(variables, before, strict=True):
                variable._frame, variable._trace = former

    def in_replica(self, things: Sequence[Stateful]) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()

    def watch(self, things: Sequence[Stateful], watch: Watch) -> None:
        pass  # a variable has nothing but its value, which is read before every step


def _role(variable: Variable) -> Role:
    """Guesses what a variable is, which does not say: Optax's states are named tuples; floats are trained."""
    if variable.kind != "mirrored":
        return Role.OTHER
    nodes: list[Any] = []
    leaves = jax.tree.leaves(
        _VariableAdapter.get(variable), is_leaf=lambda node: bool(nodes.append(node))
    )
    if any(type(node).__module__.startswith("optax") for node in nodes):
        return Role.OPTIMIZER
    trained = all(jnp.issubdtype(leaf.dtype, jnp.floating) for leaf in leaves)
    return Role.PARAMETER if trained and getattr(variable, "trainable", True) else Role.OTHER


register_adapter(_VariableAdapter())
