"""ConvLSTM layers: one convolution gives what the four gates make of the input, and one what they make of the state.

Keras convolves both once for each gate, with a quarter of the features, which libraries do slowly.

Touches Keras internals, which tests/spmd/integrations/keras/test_conv_lstm.py runs on every supported version: `ConvLSTMCell`.
"""

from collections.abc import Sequence
from typing import Any

from keras import ops

from spmd.integrations.keras.typing import KerasObject, Method


def gates_together(
    own: Method, /, self: KerasObject, inputs: Any, states: Sequence[Any], training: bool = False
) -> tuple[Any, list[Any]]:
    """Wraps `ConvLSTMCell.call`; with dropout each gate sees another input, so that Keras's own is called."""
    if training and (self.dropout > 0 or self.recurrent_dropout > 0):
        return own(self, inputs, states, training=training)
    state, carry = states
    axis = -1 if self.data_format == "channels_last" else 1
    gates = self.input_conv(inputs, self.kernel, padding=self.padding)
    if self.use_bias:
        shape = [1] * (self.rank + 2)
        shape[axis] = -1
        gates += ops.reshape(self.bias, shape)
    gates += self.recurrent_conv(state, self.recurrent_kernel)
    parts: Any = ops.split(gates, 4, axis=axis)
    enter, keep, new, leave = parts
    carry = self.recurrent_activation(keep) * carry
    carry += self.recurrent_activation(enter) * self.activation(new)
    state = self.recurrent_activation(leave) * self.activation(carry)
    return state, [state, carry]
