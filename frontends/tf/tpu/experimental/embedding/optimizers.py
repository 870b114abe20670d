"""How a table is trained on a TPU: numbers that a table's configuration holds, and the variables beside the table.

Nothing here trains with them: they say which variables a table has beside its rows, so that a checkpoint has them.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from frontends.tf._typing import VariableLike
from frontends.tf.compat.v1.initializers.constants import Constant

_LearningRate: TypeAlias = float | Callable[[], float]
_ClipValue: TypeAlias = float | tuple[float | None, float | None]
# Makes the variables of a table: of their names and initializers.
_CreateSlots: TypeAlias = Callable[
    [VariableLike, Sequence[str], Sequence[Constant]], dict[str, VariableLike]
]


class Optimizer:
    """What the optimizers of tables share.

    Two of them are equal if all their numbers are.
    """

    def __init__(
        self,
        learning_rate: _LearningRate,
        use_gradient_accumulation: bool = True,
        clip_weight_min: float | None = None,
        clip_weight_max: float | None = None,
        weight_decay_factor: float | None = None,
        multiply_weight_decay_factor_by_learning_rate: bool | None = None,
        clipvalue: _ClipValue | None = None,
        slot_variable_creation_fn: _CreateSlots | None = None,
        low_dimensional_packing_status: bool = False,
    ) -> None:
        """Holds the numbers.

        Args:
            learning_rate: a number, or a function that gives it.
            use_gradient_accumulation: whether gradients of a row are added up before they are applied.
            clip_weight_min: the smallest value of an entry; None means any.
            clip_weight_max: likewise, the largest.
            weight_decay_factor: None means no decay.
            multiply_weight_decay_factor_by_learning_rate: whether it is for a learning rate of 1.
            clipvalue: bounds of a gradient's entries, or a number for both.
            slot_variable_creation_fn: makes the variables beside a table, from the table, their names and initializers.
            low_dimensional_packing_status: whether small rows are packed.

        Raises:
            ValueError: `clipvalue` goes with `use_gradient_accumulation`, or the function is none.
        """
        if slot_variable_creation_fn is not None and not callable(slot_variable_creation_fn):
            raise ValueError(
                "Argument `slot_variable_creation_fn` must be either None or a callable. "
                f"Received: {slot_variable_creation_fn}"
            )
        if not use_gradient_accumulation and clipvalue is not None:
            raise ValueError(
                "When `use_gradient_accumulation` is False, gradient clipping cannot be used: leave `clipvalue` out. "
                f"Received: {clipvalue}"
            )
        self.slot_variable_creation_fn = slot_variable_creation_fn
        self.learning_rate = learning_rate
        self.use_gradient_accumulation = use_gradient_accumulation
        self.clip_weight_min, self.clip_weight_max = clip_weight_min, clip_weight_max
        bounds = (None, None) if clipvalue is None else clipvalue
        if not isinstance(bounds, tuple):
            bounds = (-bounds, bounds)
        self.clip_gradient_min, self.clip_gradient_max = bounds
        self.weight_decay_factor = weight_decay_factor
        self.multiply_weight_decay_factor_by_learning_rate = (
            multiply_weight_decay_factor_by_learning_rate
        )
        self.low_dimensional_packing_status = low_dimensional_packing_status

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(other) == vars(self)

    def __hash__(self) -> int:
        return hash(tuple(vars(self).items()))

    def slots(self) -> dict[str, float]:
        """Lists the variables beside a table, and the number that each has in all entries at first."""
        return {}

    def create_slots(
        self, table: VariableLike, create: Callable[[str, Constant], VariableLike]
    ) -> dict[str, VariableLike]:
        """Makes the variables beside a table.

        Args:
            table: its variable.
            create: makes a variable of a name and an initializer.
        """
        initializers = {name: Constant(value) for name, value in self.slots().items()}
        if self.slot_variable_creation_fn is not None:
            names = list(initializers)
            return self.slot_variable_creation_fn(table, names, list(initializers.values()))
        return {name: create(name, one) for name, one in initializers.items()}


class SGD(Optimizer):
    """Gradient descent.

    Source: `tf.tpu.experimental.embedding.SGD`.
    """

    def __init__(
        self,
        learning_rate: _LearningRate = 0.01,
        use_gradient_accumulation: bool = True,
        clip_weight_min: float | None = None,
        clip_weight_max: float | None = None,
        weight_decay_factor: float | None = None,
        multiply_weight_decay_factor_by_learning_rate: bool | None = None,
        clipvalue: _ClipValue | None = None,
        low_dimensional_packing_status: bool = False,
    ) -> None:
        """Holds the numbers; see `Optimizer`."""
        super().__init__(
            learning_rate,
            use_gradient_accumulation,
            clip_weight_min,
            clip_weight_max,
            weight_decay_factor,
            multiply_weight_decay_factor_by_learning_rate,
            clipvalue,
            low_dimensional_packing_status=low_dimensional_packing_status,
        )


class Adagrad(Optimizer):
    """Adagrad, with a variable `accumulators` beside a table.

    Source: `tf.tpu.experimental.embedding.Adagrad`.
    """

    def __init__(
        self,
        learning_rate: _LearningRate = 0.001,
        initial_accumulator_value: float = 0.1,
        use_gradient_accumulation: bool = True,
        clip_weight_min: float | None = None,
        clip_weight_max: float | None = None,
        weight_decay_factor: float | None = None,
        multiply_weight_decay_factor_by_learning_rate: bool | None = None,
        slot_variable_creation_fn: _CreateSlots | None = None,
        clipvalue: _ClipValue | None = None,
        low_dimensional_packing_status: bool = False,
    ) -> None:
        """Holds the numbers; see `Optimizer`.

        Raises:
            ValueError: `initial_accumulator_value` is not above zero.
        """
        super().__init__(
            learning_rate,
            use_gradient_accumulation,
            clip_weight_min,
            clip_weight_max,
            weight_decay_factor,
            multiply_weight_decay_factor_by_learning_rate,
            clipvalue,
            slot_variable_creation_fn,
            low_dimensional_packing_status,
        )
        self.initial_accumulator_value = _positive(initial_accumulator_value)

    def slots(self) -> dict[str, float]:
        """Lists the variables beside a table."""
        return {"accumulators": self.initial_accumulator_value}


class AdagradMomentum(Optimizer):
    """Adagrad with momentum, with variables `accumulators` and `momenta` beside a table.

    Source: `tf.tpu.experimental.embedding.AdagradMomentum`.
    """

    def __init__(
        self,
        learning_rate: _LearningRate = 0.001,
        momentum: float = 0.0,
        use_nesterov: bool = False,
        exponent: float = 2,
        beta2: float = 1,
        epsilon: float = 1e-10,
        use_gradient_accumulation: bool = True,
        clip_weight_min: float | None = None,
        clip_weight_max: float | None = None,
        weight_decay_factor: float | None = None,
        multiply_weight_decay_factor_by_learning_rate: bool | None = None,
        slot_variable_creation_fn: _CreateSlots | None = None,
        clipvalue: _ClipValue | None = None,
        low_dimensional_packing_status: bool = False,
    ) -> None:
        """Holds the numbers; see `Optimizer`.

        Raises:
            ValueError: `epsilon` or `exponent` is not above zero.
        """
        super().__init__(
            learning_rate,
            use_gradient_accumulation,
            clip_weight_min,
            clip_weight_max,
            weight_decay_factor,
            multiply_weight_decay_factor_by_learning_rate,
            clipvalue,
            slot_variable_creation_fn,
            low_dimensional_packing_status,
        )
        if epsilon <= 0:
            raise ValueError(f"Adagrad momentum: epsilon must be positive. Received: {epsilon}")
        if exponent <= 0:
            raise ValueError(f"Adagrad momentum: exponent must be positive. Received: {exponent}")
        self.momentum, self.use_nesterov = momentum, use_nesterov
        self.exponent, self.beta2, self.epsilon = exponent, beta2, epsilon

    def slots(self) -> dict[str, float]:
        """Lists the variables beside a table."""
        return {"accumulators": 0.0, "momenta": 0.0}


class FTRL(Optimizer):
    """FTRL, with variables `accumulators` and `linears` beside a table.

    Source: `tf.tpu.experimental.embedding.FTRL`.
    """

    def __init__(
        self,
        learning_rate: _LearningRate = 0.001,
        learning_rate_power: float = -0.5,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        beta: float = 0.0,
        initial_accumulator_value: float = 0.1,
        use_gradient_accumulation: bool = True,
        clip_weight_min: float | None = None,
        clip_weight_max: float | None = None,
        weight_decay_factor: float | None = None,
        multiply_weight_decay_factor_by_learning_rate: bool | None = None,
        slot_variable_creation_fn: _CreateSlots | None = None,
        clipvalue: _ClipValue | None = None,
        multiply_linear_by_learning_rate: bool = False,
        allow_zero_accumulator: bool = False,
        low_dimensional_packing_status: bool = False,
    ) -> None:
        """Holds the numbers; see `Optimizer`.

        Raises:
            ValueError: `initial_accumulator_value` is not above zero.
        """
        super().__init__(
            learning_rate,
            use_gradient_accumulation,
            clip_weight_min,
            clip_weight_max,
            weight_decay_factor,
            multiply_weight_decay_factor_by_learning_rate,
            clipvalue,
            slot_variable_creation_fn,
            low_dimensional_packing_status,
        )
        self.initial_accumulator_value = _positive(initial_accumulator_value)
        self.learning_rate_power, self.beta = learning_rate_power, beta
        self.l1_regularization_strength = l1_regularization_strength
        self.l2_regularization_strength = l2_regularization_strength
        self.multiply_linear_by_learning_rate = multiply_linear_by_learning_rate
        self.allow_zero_accumulator = allow_zero_accumulator

    def slots(self) -> dict[str, float]:
        """Lists the variables beside a table."""
        return {"accumulators": self.initial_accumulator_value, "linears": 0.0}


class Adam(Optimizer):
    """Adam, with variables `momenta` and `velocities` beside a table.

    Source: `tf.tpu.experimental.embedding.Adam`.
    """

    def __init__(
        self,
        learning_rate: _LearningRate = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-07,
        lazy_adam: bool = True,
        sum_inside_sqrt: bool = True,
        use_gradient_accumulation: bool = True,
        clip_weight_min: float | None = None,
        clip_weight_max: float | None = None,
        weight_decay_factor: float | None = None,
        multiply_weight_decay_factor_by_learning_rate: bool | None = None,
        slot_variable_creation_fn: _CreateSlots | None = None,
        clipvalue: _ClipValue | None = None,
        low_dimensional_packing_status: bool = False,
    ) -> None:
        """Holds the numbers; see `Optimizer`.

        Raises:
            ValueError: a number is out of its bounds, or `lazy_adam` and `use_gradient_accumulation` are both False.
        """
        super().__init__(
            learning_rate,
            use_gradient_accumulation,
            clip_weight_min,
            clip_weight_max,
            weight_decay_factor,
            multiply_weight_decay_factor_by_learning_rate,
            clipvalue,
            slot_variable_creation_fn,
            low_dimensional_packing_status,
        )
        for name, beta in (("beta_1", beta_1), ("beta_2", beta_2)):
            if not 0 <= beta < 1:
                raise ValueError(f"Argument `{name}` must be >= 0 and < 1. Received: {beta}.")
        if epsilon <= 0:
            raise ValueError(f"epsilon must be positive; got {epsilon}.")
        if not use_gradient_accumulation and not lazy_adam:
            raise ValueError("With lazy_adam=False, write use_gradient_accumulation=True.")
        self.beta_1, self.beta_2, self.epsilon = beta_1, beta_2, epsilon
        self.lazy_adam, self.sum_inside_sqrt = lazy_adam, sum_inside_sqrt

    def slots(self) -> dict[str, float]:
        """Lists the variables beside a table."""
        return {"momenta": 0.0, "velocities": 0.0}


def _positive(initial_accumulator_value: float) -> float:
    if initial_accumulator_value <= 0:
        raise ValueError(
            "Argument `initial_accumulator_value` must be a positive float. "
            f"Received: {initial_accumulator_value}"
        )
    return initial_accumulator_value
