"""`tf.compat.v1.nn.dynamic_rnn` and its like: a cell, called for every step of sequences."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from frontends.tf import nest
from frontends.tf._typing import DTypeLike, Nested, TensorLike
from frontends.tf.compat.v1.rnn_cell import RNNCell
from frontends.tf.compat.v1.variable_scopes import variable_scope
from frontends.tf.ops import carried
from frontends.tf.ops.convert import convert_to_tensor
from frontends.tf.ops.reversal import reverse_sequence
from spmd import _jax_internals


def dynamic_rnn(
    cell: RNNCell,
    inputs: Nested,
    sequence_length: TensorLike = None,
    initial_state: Nested = None,
    dtype: DTypeLike = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: Any = None,
) -> tuple[Any, Any]:
    """Calls a cell for every step of sequences, in a loop of the program.

    Args:
        cell: does a step.
        inputs: shape (rows, steps, ...), or (steps, rows, ...).
        sequence_length: of each row; then outputs are zero, and the state stays. None means all steps.
        initial_state: None means zeros.
        dtype: of these.
        parallel_iterations: accepted, and not used.
        swap_memory: accepted, and not used.
        time_major: whether steps come before rows, in the output, too.
        scope: variable scope; None means `rnn`.

    Returns:
        The outputs, in the form of the inputs, and the last state.

    Raises:
        ValueError: there is neither a state nor a dtype.

    Source: `tf.compat.v1.nn.dynamic_rnn`.
    """
    with variable_scope(scope or "rnn"):
        steps = nest.map_structure(convert_to_tensor, inputs)
        if not time_major:
            steps = nest.map_structure(_swapped, steps)
        first = nest.flatten(steps)[0]
        state = _state(cell, initial_state, first.shape[1], dtype)
        lengths = None if sequence_length is None else convert_to_tensor(sequence_length)
        # Makes the variables, which no loop could; what this computes is not used.
        cell(nest.map_structure(lambda one: one[0], steps), state)

        def step(now: Any, row: Any) -> Any:
            index, x = row
            output, new = cell(x, now)
            if lengths is not None:
                output, new = _ended(index >= lengths, output, new, now)
            return nest.pack_sequence_as(now, nest.flatten(new)), None, output

        if _jax_internals.is_tracing():
            rows = (jnp.arange(len(first)), steps)
            last, _, outputs = carried.scan(step, state, rows)
        else:
            last, found = state, list[Any]()
            for index in range(len(first)):
                x = nest.map_structure(lambda one, index=index: one[index], steps)
                last, _, output = step(last, (index, x))
                found.append(output)
            outputs = nest.map_structure(lambda *each: jnp.stack(each), *found)
    return outputs if time_major else nest.map_structure(_swapped, outputs), last


def static_rnn(
    cell: RNNCell,
    inputs: Sequence[Any],
    initial_state: Nested = None,
    dtype: DTypeLike = None,
    sequence_length: TensorLike = None,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """Calls a cell for each of some inputs, one after another.

    Args:
        cell: does a step.
        inputs: for each step, an array of shape (rows, ...).
        initial_state: None means zeros.
        dtype: of these.
        sequence_length: of each row; see `dynamic_rnn`.
        scope: variable scope; None means `rnn`.

    Returns:
        The output of each step, and the last state.

    Raises:
        ValueError: there is neither a state nor a dtype; or there are no inputs.

    Source: `tf.compat.v1.nn.static_rnn`.
    """
    if not inputs:
        raise ValueError("inputs must not be empty")
    lengths = None if sequence_length is None else convert_to_tensor(sequence_length)
    outputs: list[Any] = []
    with variable_scope(scope or "rnn"):
        rows = convert_to_tensor(nest.flatten(inputs[0])[0]).shape[0]
        state = _state(cell, initial_state, rows, dtype)
        for index, x in enumerate(inputs):
            output, new = cell(x, state)
            if lengths is not None:
                output, new = _ended(index >= lengths, output, new, state)
            outputs.append(output)
            state = new
    return outputs, state


def bidirectional_dynamic_rnn(
    cell_fw: RNNCell,
    cell_bw: RNNCell,
    inputs: Nested,
    sequence_length: TensorLike = None,
    initial_state_fw: Nested = None,
    initial_state_bw: Nested = None,
    dtype: DTypeLike = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: Any = None,
) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Calls a cell for every step of sequences, and another one from their ends; see `dynamic_rnn`.

    Args:
        cell_fw: goes forward.
        cell_bw: goes backward.
        inputs: see `dynamic_rnn`.
        sequence_length: likewise.
        initial_state_fw: of the cell that goes forward; None means zeros.
        initial_state_bw: of the other one.
        dtype: of zeros.
        parallel_iterations: accepted, and not used.
        swap_memory: accepted, and not used.
        time_major: see `dynamic_rnn`.
        scope: variable scope; None means `bidirectional_rnn`.

    Returns:
        The outputs of both, and their states.

    Raises:
        ValueError: there is neither a state nor a dtype.

    Source: `tf.compat.v1.nn.bidirectional_dynamic_rnn`.
    """

    def turned(values: Nested) -> Any:
        def turn(value: Any) -> Any:
            array = convert_to_tensor(value)
            axis = 0 if time_major else 1
            if sequence_length is None:
                return jnp.flip(array, axis)
            return reverse_sequence(array, sequence_length, axis, 1 - axis)

        return nest.map_structure(turn, values)

    with variable_scope(scope or "bidirectional_rnn"):
        forward = dynamic_rnn(
            *(cell_fw, inputs, sequence_length, initial_state_fw, dtype),
            time_major=time_major,
            scope="fw",
        )
        backward = dynamic_rnn(
            *(cell_bw, turned(inputs), sequence_length, initial_state_bw, dtype),
            time_major=time_major,
            scope="bw",
        )
    return (forward[0], turned(backward[0])), (forward[1], backward[1])


def static_bidirectional_rnn(
    cell_fw: RNNCell,
    cell_bw: RNNCell,
    inputs: Sequence[Any],
    initial_state_fw: Nested = None,
    initial_state_bw: Nested = None,
    dtype: DTypeLike = None,
    sequence_length: TensorLike = None,
    scope: Any = None,
) -> tuple[list[Any], Any, Any]:
    """Calls a cell for each of some inputs, and another one from the last on; see `static_rnn`.

    Args:
        cell_fw: goes forward.
        cell_bw: goes backward.
        inputs: see `static_rnn`.
        initial_state_fw: of the cell that goes forward; None means zeros.
        initial_state_bw: of the other one.
        dtype: of zeros.
        sequence_length: see `dynamic_rnn`.
        scope: variable scope; None means `bidirectional_rnn`.

    Returns:
        For each step both outputs side by side, and the states of both.

    Raises:
        ValueError: there is neither a state nor a dtype; or there are no inputs.

    Source: `tf.compat.v1.nn.static_bidirectional_rnn`.
    """

    def turned(values: Sequence[Any]) -> list[Any]:
        if sequence_length is None:
            return list(reversed(values))
        stacked = jnp.stack([convert_to_tensor(one) for one in values])
        return list(reverse_sequence(stacked, sequence_length, 0, 1))

    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as one:
            forward = static_rnn(cell_fw, inputs, initial_state_fw, dtype, sequence_length, one)
        with variable_scope("bw") as one:
            backward = static_rnn(
                cell_bw, turned(inputs), initial_state_bw, dtype, sequence_length, one
            )
    pairs = zip(forward[0], turned(backward[0]), strict=True)
    return [jnp.concatenate(pair, 1) for pair in pairs], forward[1], backward[1]


def _swapped(array: jax.Array) -> jax.Array:
    return jnp.swapaxes(array, 0, 1)


def _state(cell: RNNCell, given: Nested, rows: int, dtype: DTypeLike) -> Any:
    if given is not None:
        return nest.map_structure(convert_to_tensor, given)
    if dtype is None:
        raise ValueError("If there is no initial_state, you must give a dtype: dtype=tf.float32.")
    return cell.zero_state(rows, dtype)


def _ended(over: jax.Array, output: Nested, new: Nested, before: Nested) -> tuple[Any, Any]:
    """Puts zeros and the state before in the place of rows that are over."""

    def chosen(kept: Any, value: Any) -> Any:
        return jnp.where(over.reshape(-1, *[1] * (value.ndim - 1)), kept, value)

    zeros = nest.map_structure(lambda one: chosen(jnp.zeros_like(one), one), output)
    olds = map(chosen, nest.flatten(before), nest.flatten(new))
    return zeros, nest.pack_sequence_as(new, list(olds))
