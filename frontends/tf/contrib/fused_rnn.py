"""`tf.contrib.rnn.LSTMBlockFusedCell` and `TimeReversedFusedRNN`: a cell and its loop in one call."""

from typing import Any, Protocol

from frontends.tf._typing import DTypeLike, TensorLike
from frontends.tf.compat.v1.rnn import dynamic_rnn
from frontends.tf.compat.v1.rnn_cell import LSTMCell
from frontends.tf.ops.convert import convert_to_tensor
from frontends.tf.ops.reversal import reverse_sequence


class FusedRNN(Protocol):
    """What is called with all steps of sequences; see `LSTMBlockFusedCell.__call__`."""

    def __call__(
        self,
        inputs: TensorLike,
        initial_state: Any = None,
        dtype: DTypeLike = None,
        sequence_length: TensorLike = None,
    ) -> tuple[Any, Any]:
        """Returns the outputs of all steps, and the last state."""
        ...


class LSTMBlockFusedCell:
    """Long short-term memory over all steps, with the numbers of `tf.nn.rnn_cell.LSTMCell` in a loop of the program.

    Source: `tf.contrib.rnn.LSTMBlockFusedCell`.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        cell_clip: float | None = None,
        use_peephole: bool = False,
        reuse: bool | None = None,
        dtype: DTypeLike = None,
        name: str = "lstm_fused_cell",
    ) -> None:
        """Makes the cell.

        Args:
            num_units: size of the output and of the state.
            forget_bias: added to the forget gate.
            cell_clip: where the cell's state is clipped; None does not.
            use_peephole: whether gates see the cell's state.
            reuse: whether variables must exist already; see `tf.layers.Layer`.
            dtype: of the variables; None is float32.
            name: of the variable scope of `kernel` and `bias`; made unique.
        """
        self._cell = LSTMCell(
            num_units,
            use_peephole,
            cell_clip,
            forget_bias=forget_bias,
            reuse=reuse,
            name=name,
            dtype="float32" if dtype is None else dtype,
        )

    @property
    def num_units(self) -> int:
        """Size of the output and of the state."""
        return self._cell.output_size

    def __call__(
        self,
        inputs: TensorLike,
        initial_state: Any = None,
        dtype: DTypeLike = None,
        sequence_length: TensorLike = None,
    ) -> tuple[Any, Any]:
        """Goes through sequences.

        Args:
            inputs: shape `[steps, rows, features]`.
            initial_state: the cell's state and the output, each `[rows, num_units]`; None means zeros.
            dtype: of these.
            sequence_length: of each row; then outputs are zero, and the state stays. None means all steps.

        Returns:
            The outputs, `[steps, rows, num_units]`, and the last state, an `LSTMStateTuple`.

        Raises:
            ValueError: there is neither a state nor a dtype.

        Source: `tf.contrib.rnn.LSTMBlockFusedCell.__call__`.
        """
        steps = convert_to_tensor(inputs)
        if initial_state is None:
            if dtype is None:
                raise ValueError(
                    "If there is no initial_state, you must give a dtype: cell(inputs, dtype=tf.float32)."
                )
            initial_state = self._cell.zero_state(steps.shape[1], dtype)
        # Makes the variables here, not below the scope of the loop; what this computes is not used.
        self._cell(steps[0], initial_state)
        return dynamic_rnn(self._cell, steps, sequence_length, initial_state, time_major=True)


class TimeReversedFusedRNN:
    """A fused cell that goes through sequences from their ends; outputs stand beside the inputs that they belong to.

    Source: `tf.contrib.rnn.TimeReversedFusedRNN`.
    """

    def __init__(self, cell: FusedRNN) -> None:
        """Wraps a fused cell."""
        self._cell = cell

    def __call__(
        self,
        inputs: TensorLike,
        initial_state: Any = None,
        dtype: DTypeLike = None,
        sequence_length: TensorLike = None,
    ) -> tuple[Any, Any]:
        """Goes through sequences backwards; see `LSTMBlockFusedCell.__call__`.

        Source: `tf.contrib.rnn.TimeReversedFusedRNN.__call__`.
        """
        steps = convert_to_tensor(inputs)
        backwards = _reversed(steps, sequence_length)
        outputs, state = self._cell(backwards, initial_state, dtype, sequence_length)
        return _reversed(outputs, sequence_length), state


def _reversed(steps: Any, lengths: TensorLike) -> Any:
    if lengths is None:
        return steps[::-1]
    return reverse_sequence(steps, lengths, seq_axis=0, batch_axis=1)
