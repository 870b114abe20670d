"""`tf.compat.v1.nn.rnn_cell`: what a recurrent network does in one step, with variables by name.

A *cell* is called with the inputs and the state of one step, and returns output and state of the next. `tf.nn.dynamic_rnn` calls
it for every step.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.export
import jax.numpy as jnp

from frontends.tf import nest
from frontends.tf._names import attributes, defined_in
from frontends.tf._typing import DTypeLike, Nested, TensorLike
from frontends.tf.compat.v1.initializers import Constant, Zeros
from frontends.tf.compat.v1.layers.base import Layer
from frontends.tf.compat.v1.layers.lookup import activation_of
from frontends.tf.compat.v1.variable_scopes import variable_scope
from frontends.tf.ops import nn
from frontends.tf.ops.convert import convert_to_tensor


class LSTMStateTuple(NamedTuple):
    """The state of an LSTM cell.

    Attributes:
        c: what it remembers, shape (rows, units).
        h: its output, shape (rows, units).

    Source: `tf.compat.v1.nn.rnn_cell.LSTMStateTuple`.
    """

    c: Any
    h: Any

    @property
    def dtype(self) -> Any:
        """The dtype of both."""
        return self.c.dtype


class RNNCell(Layer):
    """Base of cells.

    Source: `tf.compat.v1.nn.rnn_cell.RNNCell`.
    """

    @property
    def state_size(self) -> Any:
        """Sizes of a row of the state, in its structure."""
        raise NotImplementedError("A cell must override state_size.")

    @property
    def output_size(self) -> Any:
        """Size of a row of the output."""
        raise NotImplementedError("A cell must override output_size.")

    def __call__(self, inputs: Nested, state: Nested, scope: Any = None) -> Any:
        """Does a step.

        Args:
            inputs: shape (rows, size).
            state: in the structure of `state_size`, arrays of shape (rows, size).
            scope: a variable scope; None means one that is named after the class.

        Returns:
            The output, and the next state.
        """
        return super().__call__(inputs, state, scope=scope)

    def zero_state(self, batch_size: Any, dtype: DTypeLike) -> Any:
        """Makes a state of zeros for a number of rows."""
        rows = batch_size if jax.export.is_symbolic_dim(batch_size) else int(batch_size)
        return nest.map_structure(lambda size: jnp.zeros((rows, int(size)), dtype), self.state_size)


class _Gated(RNNCell):
    """A cell of some number of units, with an activation."""

    def __init__(
        self,
        num_units: int,
        activation: Any,
        reuse: bool | None,
        name: str | None,
        dtype: DTypeLike,
    ) -> None:
        super().__init__(name=name, dtype=dtype, _reuse=reuse)
        self._num_units = num_units
        self._activation = jnp.tanh if activation is None else activation_of(activation)

    @property
    def state_size(self) -> Any:
        """See `RNNCell`."""
        return self._num_units

    @property
    def output_size(self) -> int:
        """See `RNNCell`."""
        return self._num_units


class BasicRNNCell(_Gated):
    """`tanh([inputs, state] @ kernel + bias)`.

    Source: `tf.compat.v1.nn.rnn_cell.BasicRNNCell`.
    """

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: bool | None = None,
        name: str | None = None,
        dtype: DTypeLike = None,
    ) -> None:
        """Makes a cell.

        Args:
            num_units: size of the output.
            activation: None means `tanh`.
            reuse: True if the variables are to exist.
            name: of the variables' scope.
            dtype: None takes that of the inputs.
        """
        super().__init__(num_units, activation, reuse, name, dtype)

    def build(self, input_shape: Any) -> None:
        """Makes kernel and bias."""
        units = self._num_units
        self._kernel = self.add_weight("kernel", [input_shape[-1] + units, units])
        self._bias = self.add_weight("bias", [units], initializer=Zeros())

    def call(self, inputs: Any, state: Any) -> Any:
        """See `RNNCell.__call__`."""
        both = jnp.concatenate([inputs, convert_to_tensor(state)], 1)
        output = self._activation(
            jnp.dot(both, convert_to_tensor(self._kernel)) + convert_to_tensor(self._bias)
        )
        return output, output


class GRUCell(_Gated):
    """Gated recurrent unit.

    Source: `tf.compat.v1.nn.rnn_cell.GRUCell`.
    """

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: bool | None = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
        dtype: DTypeLike = None,
    ) -> None:
        """Makes a cell.

        Args:
            num_units: size of the output.
            activation: None means `tanh`.
            reuse: True if the variables are to exist.
            kernel_initializer: None takes that of the variable scope.
            bias_initializer: None means 1 for the gates, and 0 for the candidate.
            name: of the variables' scope.
            dtype: None takes that of the inputs.
        """
        super().__init__(num_units, activation, reuse, name, dtype)
        self._initializers = kernel_initializer, bias_initializer

    def build(self, input_shape: Any) -> None:
        """Makes kernels and biases."""
        units, (kernel, bias) = self._num_units, self._initializers
        size = input_shape[-1] + units
        ones, zeros = (Constant(1.0), Zeros()) if bias is None else (bias, bias)
        self._gates = (
            self.add_weight("gates/kernel", [size, 2 * units], initializer=kernel),
            self.add_weight("gates/bias", [2 * units], initializer=ones),
        )
        self._candidate = (
            self.add_weight("candidate/kernel", [size, units], initializer=kernel),
            self.add_weight("candidate/bias", [units], initializer=zeros),
        )

    def call(self, inputs: Any, state: Any) -> Any:
        """See `RNNCell.__call__`."""
        state = convert_to_tensor(state)
        gates = jax.nn.sigmoid(_affine([inputs, state], self._gates))
        reset, update = jnp.split(gates, 2, axis=1)
        new = self._activation(_affine([inputs, reset * state], self._candidate))
        state = update * state + (1 - update) * new
        return state, state


class BasicLSTMCell(_Gated):
    """Long short-term memory.

    Source: `tf.compat.v1.nn.rnn_cell.BasicLSTMCell`.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Any = None,
        reuse: bool | None = None,
        name: str | None = None,
        dtype: DTypeLike = None,
    ) -> None:
        """Makes a cell.

        Args:
            num_units: size of the output.
            forget_bias: added to the forget gates.
            state_is_tuple: whether the state is an `LSTMStateTuple`, or one array of both.
            activation: None means `tanh`.
            reuse: True if the variables are to exist.
            name: of the variables' scope.
            dtype: None takes that of the inputs.
        """
        super().__init__(num_units, activation, reuse, name, dtype)
        self._forget_bias, self._state_is_tuple = forget_bias, state_is_tuple

    @property
    def state_size(self) -> Any:
        """See `RNNCell`."""
        units = self._num_units
        return LSTMStateTuple(units, units) if self._state_is_tuple else 2 * units

    def build(self, input_shape: Any) -> None:
        """Makes kernel and bias."""
        units = self._num_units
        self._weights_of_gates = (
            self.add_weight("kernel", [input_shape[-1] + units, 4 * units]),
            self.add_weight("bias", [4 * units], initializer=Zeros()),
        )

    def call(self, inputs: Any, state: Any) -> Any:
        """See `RNNCell.__call__`."""
        c, h = _halves(state, self._state_is_tuple)
        gates = _affine([inputs, h], self._weights_of_gates)
        i, j, f, o = jnp.split(gates, 4, axis=1)
        c = c * jax.nn.sigmoid(f + self._forget_bias) + jax.nn.sigmoid(i) * self._activation(j)
        h = self._activation(c) * jax.nn.sigmoid(o)
        return h, _joined(c, h, self._state_is_tuple)


class LSTMCell(_Gated):
    """Long short-term memory, with peepholes and a projection if wanted.

    Source: `tf.compat.v1.nn.rnn_cell.LSTMCell`.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        num_unit_shards: object = None,
        num_proj_shards: object = None,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Any = None,
        reuse: bool | None = None,
        name: str | None = None,
        dtype: DTypeLike = None,
    ) -> None:
        """Makes a cell.

        Args:
            num_units: size of what it remembers.
            use_peepholes: whether gates see that, too.
            cell_clip: limit of what it remembers.
            initializer: of the kernels; None takes that of the variable scope.
            num_proj: size of the output, if it is projected.
            proj_clip: limit of that.
            num_unit_shards: accepted, and not used.
            num_proj_shards: accepted, and not used.
            forget_bias: added to the forget gates.
            state_is_tuple: whether the state is an `LSTMStateTuple`, or one array of both.
            activation: None means `tanh`.
            reuse: True if the variables are to exist.
            name: of the variables' scope.
            dtype: None takes that of the inputs.
        """
        super().__init__(num_units, activation, reuse, name, dtype)
        self._peeps, self._cell_clip, self._initializer = use_peepholes, cell_clip, initializer
        self._num_proj, self._proj_clip = num_proj, proj_clip
        self._forget_bias, self._state_is_tuple = forget_bias, state_is_tuple

    @property
    def state_size(self) -> Any:
        """See `RNNCell`."""
        sizes = LSTMStateTuple(self._num_units, self.output_size)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> int:
        """See `RNNCell`."""
        return self._num_proj or self._num_units

    def build(self, input_shape: Any) -> None:
        """Makes kernel, bias, peepholes and projection."""
        units, start = self._num_units, self._initializer
        size = input_shape[-1] + self.output_size
        self._weights_of_gates = (
            self.add_weight("kernel", [size, 4 * units], initializer=start),
            self.add_weight("bias", [4 * units], initializer=Zeros()),
        )
        if self._peeps:
            self._diagonals = [
                self.add_weight(f"w_{gate}_diag", [units], initializer=start) for gate in "fio"
            ]
        if self._num_proj:
            self._projection = self.add_weight(
                "projection/kernel", [units, self._num_proj], initializer=start
            )

    def call(self, inputs: Any, state: Any) -> Any:
        """See `RNNCell.__call__`."""
        c, h = _halves(state, self._state_is_tuple, self._num_units)
        i, j, f, o = jnp.split(_affine([inputs, h], self._weights_of_gates), 4, axis=1)
        f = f + self._forget_bias
        if self._peeps:
            of_f, of_i, _ = (convert_to_tensor(one) for one in self._diagonals)
            f, i = f + of_f * c, i + of_i * c
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * self._activation(j)
        if self._cell_clip is not None:
            c = jnp.clip(c, -self._cell_clip, self._cell_clip)
        if self._peeps:
            o = o + convert_to_tensor(self._diagonals[2]) * c
        h = jax.nn.sigmoid(o) * self._activation(c)
        if self._num_proj:
            h = jnp.dot(h, convert_to_tensor(self._projection))
            if self._proj_clip is not None:
                h = jnp.clip(h, -self._proj_clip, self._proj_clip)
        return h, _joined(c, h, self._state_is_tuple)


class MultiRNNCell(RNNCell):
    """Cells one after another: each gets the output of the one before.

    Source: `tf.compat.v1.nn.rnn_cell.MultiRNNCell`.
    """

    def __init__(self, cells: Sequence[RNNCell], state_is_tuple: bool = True) -> None:
        """Makes a cell of cells.

        Args:
            cells: the first gets the inputs.
            state_is_tuple: must be True: the state is a tuple of theirs.

        Raises:
            ValueError: there are no cells, or the state is to be one array.
        """
        super().__init__()
        if not cells:
            raise ValueError("Must specify at least one cell for MultiRNNCell.")
        if not state_is_tuple:
            raise ValueError(
                "MultiRNNCell(state_is_tuple=False) is not supported. Leave it out: the state is a tuple of the cells' states."
            )
        self._cells = list(cells)

    @property
    def state_size(self) -> Any:
        """See `RNNCell`."""
        return tuple(cell.state_size for cell in self._cells)

    @property
    def output_size(self) -> Any:
        """See `RNNCell`."""
        return self._cells[-1].output_size

    def zero_state(self, batch_size: Any, dtype: DTypeLike) -> Any:
        """See `RNNCell.zero_state`."""
        return tuple(cell.zero_state(batch_size, dtype) for cell in self._cells)

    def call(self, inputs: Any, state: Any) -> Any:
        """See `RNNCell.__call__`."""
        states: list[Any] = []
        for index, (cell, now) in enumerate(zip(self._cells, state, strict=True)):
            with variable_scope(f"cell_{index}"):
                inputs, new = cell(inputs, now)
            states.append(new)
        return inputs, tuple(states)


class _Wrapper(RNNCell):
    """A cell around another one."""

    def __init__(self, cell: RNNCell) -> None:
        super().__init__()
        self._cell = cell

    @property
    def wrapped_cell(self) -> RNNCell:
        """The other one."""
        return self._cell

    @property
    def state_size(self) -> Any:
        """See `RNNCell`."""
        return self._cell.state_size

    @property
    def output_size(self) -> Any:
        """See `RNNCell`."""
        return self._cell.output_size

    def zero_state(self, batch_size: Any, dtype: DTypeLike) -> Any:
        """See `RNNCell.zero_state`."""
        return self._cell.zero_state(batch_size, dtype)

    def __call__(self, inputs: Nested, state: Nested, scope: Any = None) -> Any:
        """See `RNNCell.__call__`; the variables are those of the other cell, and named so."""
        return self._cell(inputs, state, scope)


class DropoutWrapper(_Wrapper):
    """Zeroes a fraction of inputs, outputs or state of another cell.

    Source: `tf.compat.v1.nn.rnn_cell.DropoutWrapper`.
    """

    def __init__(
        self,
        cell: RNNCell,
        input_keep_prob: TensorLike = 1.0,
        output_keep_prob: TensorLike = 1.0,
        state_keep_prob: TensorLike = 1.0,
        variational_recurrent: bool = False,
        input_size: Any = None,
        dtype: DTypeLike = None,
        seed: int | None = None,
        dropout_state_filter_visitor: Any = None,
    ) -> None:
        """Wraps a cell.

        Args:
            cell: the other one.
            input_keep_prob: the fraction of the inputs that stays.
            output_keep_prob: likewise of the outputs.
            state_keep_prob: likewise of the state, but for what an LSTM remembers.
            variational_recurrent: must be False: each step drops others.
            input_size: accepted, and not used.
            dtype: accepted, and not used.
            seed: of the choices.
            dropout_state_filter_visitor: must be None.

        Raises:
            ValueError: an option is not supported.
        """
        super().__init__(cell)
        if variational_recurrent or dropout_state_filter_visitor is not None:
            raise ValueError(
                "DropoutWrapper(variational_recurrent=True) and dropout_state_filter_visitor are not supported. Leave them out, "
                "or drop the inputs before the network: tf.nn.dropout(x, noise_shape=[rows, 1, size])."
            )
        self._keep = input_keep_prob, state_keep_prob, output_keep_prob
        self._seed = seed

    def __call__(self, inputs: Nested, state: Nested, scope: Any = None) -> Any:
        """See `RNNCell.__call__`."""
        of_input, of_state, of_output = self._keep
        output, new = self._cell(self._dropped(inputs, of_input), state, scope)
        if isinstance(new, LSTMStateTuple):
            new = LSTMStateTuple(new.c, self._dropped(new.h, of_state))
        else:
            new = self._dropped(new, of_state)
        return self._dropped(output, of_output), new

    def _dropped(self, values: Nested, keep: Any) -> Any:
        if isinstance(keep, float | int) and keep >= 1:
            return values
        return nest.map_structure(
            lambda one: nn.dropout(convert_to_tensor(one), 1 - keep, seed=self._seed), values
        )


class ResidualWrapper(_Wrapper):
    """Adds its inputs to another cell's outputs.

    Source: `tf.compat.v1.nn.rnn_cell.ResidualWrapper`.
    """

    def __init__(self, cell: RNNCell, residual_fn: Callable[[Any, Any], Any] | None = None) -> None:
        """Wraps a cell.

        Args:
            cell: the other one.
            residual_fn: combines inputs and outputs; None adds them.
        """
        super().__init__(cell)
        self._combine = residual_fn or (lambda inputs, outputs: inputs + outputs)

    def __call__(self, inputs: Nested, state: Nested, scope: Any = None) -> Any:
        """See `RNNCell.__call__`."""
        outputs, new = self._cell(inputs, state, scope)
        return self._combine(convert_to_tensor(inputs), outputs), new


class DeviceWrapper(_Wrapper):
    """Names a device for another cell; XLA places what it computes.

    Source: `tf.compat.v1.nn.rnn_cell.DeviceWrapper`.
    """

    def __init__(self, cell: RNNCell, device: object) -> None:
        """Wraps a cell.

        Args:
            cell: the other one.
            device: accepted, and not used.
        """
        super().__init__(cell)


def _affine(parts: Sequence[Any], weights: tuple[Any, Any]) -> jax.Array:
    kernel, bias = weights
    return jnp.dot(jnp.concatenate(list(parts), 1), convert_to_tensor(kernel)) + convert_to_tensor(
        bias
    )


def _halves(state: Any, is_tuple: bool, first: int | None = None) -> tuple[Any, Any]:
    if is_tuple:
        c, h = state
        return convert_to_tensor(c), convert_to_tensor(h)
    whole = convert_to_tensor(state)
    at = whole.shape[1] // 2 if first is None else first
    return whole[:, :at], whole[:, at:]


def _joined(c: jax.Array, h: jax.Array, is_tuple: bool) -> Any:
    return LSTMStateTuple(c, h) if is_tuple else jnp.concatenate([c, h], 1)


__getattr__, __dir__ = attributes("tf.compat.v1.nn.rnn_cell", defined_in(__name__))
