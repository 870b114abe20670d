"""Gradients after the fact: record operations as they run, differentiate them later.

`jax.grad` transforms a function before it runs. Code written for a gradient tape runs first, and asks
for gradients of its results afterwards. A `Recording` makes that possible without running anything twice:
each operation is linearized while it runs (`jax.vjp`), and the gradient applies the linear parts in
reverse. So in a compiled step the forward pass is the one that the gradient needs, residuals included, as
with `jax.value_and_grad`; a gradient that nobody asks for leaves parts that XLA removes.

The gradient of a table of which an operation looks up rows is made of the gradients of these rows, and stays so as
long as nothing else is added to it: `RowGradient`.
"""

import contextlib
import dataclasses
import functools
import weakref
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from spmd._jax_internals import BoundOperation, constant_outputs, interposed, zero_cotangent
from spmd.errors import RecordedGradientError, Remedy
from spmd.lowering import Lookup, RowProgram, differentiable_by_rows
from spmd.recording.pullbacks import Pullbacks, linearized, replaced
from spmd.state import WRITE_OBSERVERS, adapters

_PULLBACKS = Pullbacks()


@dataclasses.dataclass(frozen=True)
class RowGradient:
    """Gradients of rows that were looked up in an array: its own gradient is their sum, and zero in other rows.

    Attributes:
        indices: numbers of the rows, shape (n,). A row may occur several times; the number behind the last row stands for
            none.
        values: gradients of these rows, shape (n, ...).
        shape: of the array.
    """

    indices: Any
    values: Any
    shape: tuple[int, ...]

    def whole(self) -> Any:
        """Returns the gradient of the array."""
        zeros = jnp.zeros(self.shape, self.values.dtype)
        return zeros.at[self.indices].add(self.values, mode="drop")

    def part(self, start: int, shape: tuple[int, ...]) -> "RowGradient":
        """Returns the gradient of an array that is some rows of this one.

        Args:
            start: its first row.
            shape: of that array.
        """
        numbers = self.indices - start
        is_there = (numbers >= 0) & (numbers < shape[0])
        values = jnp.where(is_there.reshape(-1, *[1] * (len(shape) - 1)), self.values, 0)
        return RowGradient(jnp.where(is_there, numbers, shape[0]), values, shape)


@dataclasses.dataclass
class _Operation:
    """An operation that ran, and how gradients go back through it.

    Attributes:
        inputs: the arrays that it may be differentiated by.
        outputs: what it returned.
        constant: for each output, whether no gradient goes through it: it does not depend on the inputs,
            or is one of them, which has its gradient already.
        pull: takes a list of cotangents of `outputs`, returns those of `inputs`.
        pull_rows: takes a gradient of rows of its only output, likewise; None if only a whole gradient goes back.
    """

    inputs: Sequence[Any]
    outputs: Sequence[Any]
    constant: Sequence[bool]
    pull: Callable[[list[Any]], Sequence[Any]]
    pull_rows: Callable[[RowGradient], Sequence[Any]] | None = None


class Recording:
    """Operations of this thread, recorded so that they can be differentiated.

    Works on values as they are, concrete or traced: values computed under a recording can be used
    anywhere. Recordings nest; the gradient that an inner one computes is recorded by the outer one.

    Examples:
        >>> import jax.numpy as jnp
        >>> x = jnp.float32(3.0)
        >>> recording = Recording()
        >>> with recording.recording():
        ...     y = x * x
        >>> [float(g) for g in recording.gradient([y], [x])]
        [6.0]

    Source: `tf.GradientTape`.
    """

    def __init__(self) -> None:
        """Makes a recording of nothing yet."""
        self._operations: list[_Operation] = []
        # By id, the arrays that operations took and returned; the operations keep them.
        self._inputs: set[int] = set()
        self._outputs: set[int] = set()
        self._paused = False
        self._entered = False
        # By id, variables that were written, and what they held before. A recording that is kept keeps no variable alive
        # that was made after it; the next one of its id is another.
        self._former: dict[int, tuple[Callable[[], Any], list[Any]]] = {}

    @contextlib.contextmanager
    def recording(self) -> Generator[None]:
        """Records what runs inside of a `with` block; may be entered again."""
        adapters()  # libraries that guard their objects from transformations must know of recordings
        before, self._entered = self._entered, True
        WRITE_OBSERVERS.add(self)
        try:
            with interposed(self._operate):
                yield
        finally:
            self._entered = before

    def forget(self) -> None:
        """Lets go of everything that was recorded."""
        self._operations.clear()
        self._inputs.clear()
        self._outputs.clear()
        self._former.clear()
        WRITE_OBSERVERS.discard(self)

    def on_overwrite(self, variable: Any, value: Any) -> None:
        """Remembers what a variable held, before it is written, if a target may depend on it.

        Args:
            variable: any library's.
            value: what it holds.
        """
        # The first value may be a target itself; of a trace that this is no part of, it must not be kept.
        owner, values = self._former.get(id(variable), (None, []))
        if owner is None or owner() is not variable:
            owner, values = _reference(variable), []
        if id(value) in self._inputs or not (values or isinstance(value, Tracer)):
            values.append(value)
            self._former[id(variable)] = owner, values

    def former(self, variable: Any) -> list[Any]:
        """Lists what a variable held since the recording began.

        Args:
            variable: any library's.
        """
        owner, values = self._former.get(id(variable), (None, []))
        return list(values) if owner is not None and owner() is variable else []

    def detached(self, value: Any) -> Any:
        """Returns what a variable is to hold: no gradient goes through its writing.

        Args:
            value: what it is given.
        """
        if not self.computed(value):
            return value
        with self.paused():
            return jnp.copy(value)

    def computed(self, value: Any) -> bool:
        """Tells whether this very array is the result of a recorded operation."""
        return id(value) in self._outputs

    def first_uses(self) -> dict[int, int]:
        """Numbers the arrays that operations took, by their `id`, in the order in which they were first taken."""
        found: dict[int, int] = {}
        for operation in self._operations:
            for value in operation.inputs:
                found.setdefault(id(value), len(found))
        return found

    @contextlib.contextmanager
    def paused(self) -> Generator[None]:
        """Leaves a `with` block out of the recording."""
        before, self._paused = self._paused, True
        try:
            yield
        finally:
            self._paused = before

    def gradient(
        self,
        targets: Sequence[Any],
        sources: Sequence[Any],
        cotangents: Sequence[Any] | None = None,
        *,
        by_rows: bool = False,
    ) -> list[Any]:
        """Computes the gradient of a sum of targets.

        Args:
            targets: arrays that were computed under the recording, or sources themselves.
            sources: arrays that they were computed from; the very objects.
            cotangents: weights of the targets' elements, of their shapes; None means ones.
            by_rows: whether the gradient of a source of which rows were looked up may be a `RowGradient`.

        Returns:
            For each source, the gradient, an array of its shape; None if no target depends on it.
        """
        with self.paused():
            gradients = self._gradient(targets, sources, cotangents)
            if not by_rows:
                gradients = list(map(_whole, gradients))
        self.keep_out(sources, gradients)
        return gradients

    def gradients(self, target: Any, sources: Sequence[Any], cotangents: Any) -> list[Any]:
        """Computes the gradients of a target for many weights of its elements.

        Args:
            target: an array, as for `gradient`.
            sources: as for `gradient`.
            cotangents: the weights, stacked along a new first axis.

        Returns:
            For each source, the gradients, stacked likewise; None if the target does not depend on it.
        """
        with self.paused():
            gradients = jax.vmap(
                lambda one: list(map(_whole, self._gradient([target], sources, [one])))
            )(cotangents)
        self.keep_out(sources, gradients)
        return gradients

    def keep_out(self, sources: Sequence[Any], gradients: Sequence[Any]) -> None:
        """Refuses to differentiate gradients that this or another recording computes while this one goes on.

        Args:
            sources: what they were taken by.
            gradients: for each source, or None.
        """
        found = [
            gradient.values if isinstance(gradient, RowGradient) else gradient
            for gradient in gradients
            if gradient is not None
        ]
        if self._entered and not self._paused and found:
            # How they come about is not in this recording: the operations were linearized below it.
            error = RecordedGradientError(
                "A gradient that a recording computes while it records cannot be "
                "differentiated by the same one. Put a second one around it: "
                f"{Remedy.NEST_RECORDINGS.spelled()}"
            )
            inputs = [source for source in sources if source is not None]
            self._keep(_Operation(inputs, found, [False] * len(found), _refuse(error)))

    def _keep(self, operation: _Operation) -> None:
        self._operations.append(operation)
        self._inputs.update(map(id, operation.inputs))
        self._outputs.update(map(id, operation.outputs))

    def _gradient(
        self, targets: Sequence[Any], sources: Sequence[Any], cotangents: Sequence[Any] | None
    ) -> list[Any]:
        gradients: dict[int, Any] = {}
        if cotangents is None:
            cotangents = list(map(jnp.ones_like, targets))
        for target, cotangent in zip(targets, cotangents, strict=True):
            _add(gradients, target, cotangent)
        for operation in reversed(self._operations_from(sources)):
            incoming = [
                None if constant else gradients.get(id(output))
                for output, constant in zip(operation.outputs, operation.constant, strict=True)
            ]
            if all(one is None for one in incoming):
                continue
            rows = incoming[0]
            if operation.pull_rows is not None and isinstance(rows, RowGradient):
                pulled = operation.pull_rows(rows)
            else:
                pulled = _pull(operation, list(map(_whole, incoming)))
            for value, gradient in zip(operation.inputs, pulled, strict=True):
                _add(gradients, value, gradient)
        return [gradients.get(id(source)) for source in sources]

    def _operations_from(self, sources: Iterable[Any]) -> list[_Operation]:
        """Lists the operations whose results depend on the sources, in the order in which they ran."""
        reached = set(map(id, sources))
        found: list[_Operation] = []
        for operation in self._operations:
            if not reached.isdisjoint(map(id, operation.inputs)):
                found.append(operation)
                for output, constant in zip(operation.outputs, operation.constant, strict=True):
                    if not constant:
                        reached.add(id(output))
        return found

    def _operate(self, bind: BoundOperation, args: Sequence[Any]) -> Any:
        positions = [index for index, value in enumerate(args) if _is_differentiable(value)]
        if self._paused or not positions:
            return bind(*args)
        program = _lookups_of(bind, args)
        if program is not None:
            return self._look_up(program, bind, args)
        inputs = [args[index] for index in positions]
        known = _PULLBACKS.get(bind, args, positions)
        if known is not None:
            # Whoever made an array of NumPy may write to it before the gradient is taken.
            args = [jnp.array(one) if isinstance(one, np.ndarray) else one for one in args]
            result, pull, constant = bind(*args), functools.partial(known, args), known.constant
        else:
            result, pull, constant = _linearized(bind, args, positions)
        several = isinstance(result, (list, tuple))
        outputs = list(result) if several else [result]
        constant = [*constant] or [False] * len(outputs)
        for index, output in enumerate(outputs):
            if any(output is value for value in inputs):
                if constant[index]:
                    # stop_gradient returns its argument; what it stops must be another object.
                    outputs[index] = jnp.copy(output)
                constant[index] = True

        def like_result(values: list[Any]) -> Any:
            return type(result)(values) if several else values[0]

        def pull_list(cotangents: list[Any]) -> Sequence[Any]:
            return pull(like_result(cotangents))

        self._keep(_Operation(inputs, outputs, constant, pull_list, _pull_rows(bind, args)))
        return like_result(outputs)

    def _look_up(self, program: RowProgram, bind: BoundOperation, args: Sequence[Any]) -> Any:
        """Runs an operation that looks up rows, which its gradients are taken by in place of the tables."""
        lookups = program.lookups
        tables = list(dict.fromkeys(lookup.table for lookup in lookups))
        others = [
            index
            for index, value in enumerate(args)
            if index not in tables and _is_differentiable(value)
        ]
        numbers = list(map(_existing, program.find(args), lookups))
        rows = [
            args[lookup.table].at[index].get(mode="fill", fill_value=lookup.fill or 0)
            for index, lookup in zip(numbers, lookups, strict=True)
        ]

        def of_inputs(*values: Any) -> Any:
            operands = replaced(args, others, values[: len(others)])
            return list(program.run(operands, values[len(others) :]))

        outputs, pull = jax.vjp(of_inputs, *(args[index] for index in others), *rows)

        def pull_list(cotangents: list[Any]) -> Sequence[Any]:
            found = pull(cotangents)
            by_table: dict[int, Any] = {}
            for index, lookup, values in zip(numbers, lookups, found[len(others) :], strict=True):
                shape = lookup.table_shape
                one = RowGradient(index.reshape(-1), values.reshape(-1, *shape[1:]), shape)
                # What is no row adds nothing, to norms neither.
                one = one if lookup.fill is None else one.part(0, shape)
                before = by_table.get(lookup.table)
                by_table[lookup.table] = one if before is None else added(before, one)
            return [*(by_table[table] for table in tables), *found[: len(others)]]

        inputs = [args[index] for index in (*tables, *others)]
        self._keep(_Operation(inputs, outputs, constant_outputs(pull), pull_list))
        return outputs if bind.program is not None else outputs[0]


def _linearized(
    bind: BoundOperation, args: Sequence[Any], positions: Sequence[int]
) -> tuple[Any, Callable[[Any], Any], Sequence[bool]]:
    """Runs an operation, and returns its result, its pullback, and which outputs are constant."""
    try:
        result, pull = linearized(bind, args, positions)
        constant = constant_outputs(pull)
    except Exception as error:
        # No gradient goes through this operation. That matters only to who asks for one; and if it
        # failed for another reason, it fails here again.
        return bind(*args), _refuse(error), []
    return result, pull, constant


def _reference(variable: Any) -> Callable[[], Any]:
    try:
        return weakref.ref(variable)
    except TypeError:  # Flax's variables take none
        return lambda: variable


def _is_differentiable(value: Any) -> bool:
    return isinstance(value, jax.Array) and jnp.issubdtype(value.dtype, jnp.inexact)


def added(one: Any, other: Any) -> Any:
    """Adds gradients of an array, which may be `RowGradient`s: the sum is one if both are."""
    if not (isinstance(one, RowGradient) and isinstance(other, RowGradient)):
        return _whole(one) + _whole(other)
    return RowGradient(
        jnp.concatenate([one.indices, other.indices]),
        jnp.concatenate([one.values, other.values]),
        one.shape,
    )


def _whole(gradient: Any) -> Any:
    return gradient.whole() if isinstance(gradient, RowGradient) else gradient


def _lookups_of(bind: BoundOperation, args: Sequence[Any]) -> RowProgram | None:
    """Rewrites an operation to take the rows that it looks up; None if it is none, or uses whole tables as well."""
    if bind.name == "gather":
        return differentiable_by_rows(jax.make_jaxpr(bind)(*args))
    return None if bind.program is None else differentiable_by_rows(bind.program)


def _existing(numbers: jax.Array, lookup: Lookup) -> jax.Array:
    """Returns numbers of rows that are there, or that of the row behind the last one where `fill` stands for a row."""
    size = lookup.table_shape[0]
    if lookup.fill is None:
        return jnp.clip(numbers, 0, size - 1)
    return jnp.where((numbers < 0) | (numbers > size), size, numbers)


def _pull_rows(
    bind: BoundOperation, args: Sequence[Any]
) -> Callable[[RowGradient], Sequence[Any]] | None:
    """Returns how gradients of rows go back through an operation that leaves rows rows, if it is such a one."""
    name, params = bind.name, bind.params
    if bind.program is not None and len(bind.program.eqns) == 1:
        (equation,) = bind.program.eqns
        if len(equation.invars) == len(args):
            name, params = equation.primitive.name, equation.params
    dtype = getattr(args[0], "dtype", None)
    if name in ("copy", "copy_p", "convert_element_type", "reduce_precision"):
        return lambda one: [dataclasses.replace(one, values=one.values.astype(dtype))]
    if name == "neg":
        return lambda one: [dataclasses.replace(one, values=-one.values)]
    if name == "concatenate" and params["dimension"] == 0:
        shapes = [value.shape for value in args]
        ends = np.cumsum([shape[0] for shape in shapes])
        starts = [end - shape[0] for end, shape in zip(ends.tolist(), shapes, strict=True)]
        return lambda one: [one.part(at, of) for at, of in zip(starts, shapes, strict=True)]
    return None


def _pull(operation: _Operation, incoming: Sequence[Any]) -> Sequence[Any]:
    def filled(zero: Callable[[Any], Any]) -> list[Any]:
        return [
            zero(output) if one is None else one
            for output, one in zip(operation.outputs, incoming, strict=True)
        ]

    try:
        return operation.pull(filled(zero_cotangent))
    except ValueError:
        if all(one is not None for one in incoming):
            raise
    # JAX cannot transpose a scan whose stacked outputs have a symbolic zero as their cotangent.
    return operation.pull(filled(_zeros))


def _zeros(output: Any) -> Any:
    if _is_differentiable(output):
        return jnp.zeros_like(output)
    return np.zeros(jnp.shape(output), jax.dtypes.float0)


def _add(gradients: dict[int, Any], value: Any, gradient: Any) -> None:
    before = gradients.get(id(value))
    # Gradients come in the order in which operations are gone back through.
    gradients[id(value)] = gradient if before is None else added(gradient, before)


def _refuse(error: Exception) -> Callable[[Any], Any]:
    # Its traceback holds the frames of the code that failed, and all that these hold.
    error = error.with_traceback(None)

    def pull(cotangents: Any) -> Any:
        raise error

    return pull
