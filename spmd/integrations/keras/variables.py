"""Keras variables in a step: one that the step did not find is an error, and one made in it gets a value of its own.

As a rule, objects make their variables while the step is traced for nothing else, and these get their values afterwards
(`deferring`). A variable that this trace did not come to make is made in the one that follows. It starts from an array, never
from a traced value, and the step is traced again with it if it can reach it.

Touches Keras internals, which tests/spmd/integrations/keras/test_variables.py runs on every supported version:
`Variable._value`, `.value`, `.assign` and `._deferred_initialize`, `SymbolicScope`, `in_stateless_scope`.
"""

import contextlib
import contextvars
import functools
from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeGuard

import jax
import jax.numpy as jnp
import keras
from jax.core import Tracer
from jax.typing import DTypeLike
from keras.src.backend.common.stateless_scope import in_stateless_scope
from keras.src.backend.common.symbolic_scope import SymbolicScope

from spmd._jax_internals import constant_value
from spmd.assigned import assigned
from spmd.errors import Remedy, StateError
from spmd.integrations.keras.storage import storage_of
from spmd.integrations.keras.typing import Method, Variable
from spmd.replica import Frame, computing_at_once, current_frame
from spmd.state import (
    Update,
    apply_pending,
    back_new,
    backing_of,
    check_known,
    describing,
    note_variable_made,
    overwritten,
    refreshed,
    undisturbed,
    written,
)
from spmd.typing import ArrayLike

_VARIABLE: Any = keras.Variable

# The variables that the running step has found, by id.
_LIFTED: contextvars.ContextVar[frozenset[int]] = contextvars.ContextVar(
    "keras_lifted", default=frozenset()
)


def lifting(variables: Sequence[Variable]) -> contextlib.AbstractContextManager[object]:
    """Lets the code of a step use these variables."""
    return assigned(_LIFTED, frozenset(map(id, variables)))


@contextlib.contextmanager
def deferring() -> Generator[None]:
    """Runs code as Keras runs its shape inference: variables made inside get their values afterwards."""
    with keras.StatelessScope(), SymbolicScope():
        yield


def _check_lifted(variable: Variable, verb: str) -> None:
    """Raises for a variable that the step did not find; Keras lets code read and write any."""
    frame = current_frame()
    if frame is None:
        apply_pending()
        if verb == "reads":
            refreshed([variable])
        return
    if frame.building or id(variable) in _LIFTED.get():
        return
    if frame.turns is not None:
        frame.turns.adopt(variable, lambda: None)
        return
    if storage_of(variable) is not variable:
        return  # the variable that stores the value is checked itself
    if any(one is variable for one, _ in frame.made):
        return
    if isinstance(variable._value, jax.Array) and not isinstance(variable._value, Tracer):
        raise StateError(
            f"The step {verb} the Keras variable {variable.path!r}, which it did not find among the "
            "objects that it can reach, so its value would be frozen into the program. Make what holds "
            "it an attribute of the model (in lists and dicts, too), or use it in the step's function "
            f"by name. {Remedy.NAME_STATE.spelled(name='variable')}."
        )


def guard_value(value: property) -> property:
    """Wraps `Variable.value`: an error in a step that did not find the variable."""
    read: Callable[[Any], Any] = value.fget  # pyright: ignore[reportAssignmentType]

    def guarded(self: Variable) -> jax.Array:
        """The current value of the variable."""
        if not in_stateless_scope():
            _check_lifted(self, "reads")
        with undisturbed(self):
            if not in_stateless_scope():
                check_known(self, self._value)
            value = read(self)
        check_known(self, value)  # in a stateless scope, unless that has a value
        return value

    return property(guarded)


def guard_assign(assign: Method, /, self: Variable, value: ArrayLike) -> ArrayLike:
    """Wraps `Variable.assign`: an error in a step that did not find the variable."""
    stateless = in_stateless_scope()
    if not stateless:
        _check_lifted(self, "writes")
    # A copy of another variable's array: a recording tells sources apart by their arrays.
    new = jnp.copy(value.value) if isinstance(value, _VARIABLE) else value
    with undisturbed(self):
        old = self._value
        result = assign(self, overwritten(self, old, new))
        after = self._value
    if not stateless and storage_of(self) is self:
        written(self, old, after)
    return result


def described_assign(verb: str, assign: Method, /, self: Variable, value: ArrayLike) -> ArrayLike:
    """Wraps `Variable.assign_add` and `assign_sub`: says what the write does, which `assign` could not tell."""
    holder = storage_of(self)
    if backing_of(holder) is None or in_stateless_scope():
        return assign(self, value)
    operand = jnp.broadcast_to(jnp.asarray(value, self.dtype), self.shape)
    with describing(Update(holder, verb, operand)):
        return assign(self, value)


def _constant(value: ArrayLike, shape: Sequence[int], dtype: DTypeLike) -> jax.Array:
    del shape
    return jnp.asarray(value, dtype)


def make_late(
    make: Method,
    /,
    self: Variable,
    initializer: ArrayLike | Callable[..., Any],
    shape: Sequence[int] | None = None,
    dtype: object = None,
    *args: object,
    **kwargs: object,
) -> None:
    """Wraps `Variable.__init__`: a variable made in a step starts from an array.

    A value given while the step defers variables becomes an initializer.
    """
    frame = current_frame()
    is_traced = _is_traced(frame)
    late = is_traced and frame.building and in_stateless_scope()
    with computing_at_once() if is_traced else contextlib.nullcontext():
        if isinstance(initializer, jax.Array):
            known = constant_value(initializer) if is_traced else None
            # A copy: a recording tells sources apart by their arrays.
            initializer = jnp.copy(initializer if known is None else known)
        # Keras takes only functions there, and Nadam gives a number.
        if late and not callable(initializer) and not isinstance(initializer, str):
            shape, dtype = jnp.shape(initializer), dtype or getattr(initializer, "dtype", None)
            initializer = functools.partial(_constant, initializer)
        make(self, initializer, shape, dtype, *args, **kwargs)
    note_variable_made()
    if storage_of(self) is self:
        back_new(self)
        if is_traced and not in_stateless_scope():
            _made_in_step(self, frame)


def initialize_at_once(initialize: Method, /, self: Variable) -> None:
    """Wraps `Variable._deferred_initialize`: in a step, too, a variable that Keras deferred starts from an array."""
    frame = current_frame()
    if not _is_traced(frame):
        return initialize(self)
    with computing_at_once():
        initialize(self)
    if storage_of(self) is self:
        _made_in_step(self, frame)
    return None


def _is_traced(frame: Frame | None) -> TypeGuard[Frame]:
    """Tells whether a step is traced; else it runs op by op, or there is none."""
    return frame is not None and frame.turns is None


def _made_in_step(variable: Variable, frame: Frame) -> None:
    """Lets the step that made a variable use it, and gives it its initial value back afterwards."""
    frame.made.append((variable, functools.partial(setattr, variable, "_value", variable._value)))
