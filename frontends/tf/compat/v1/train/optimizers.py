"""The optimizers of TensorFlow 1.

Settings may be numbers, tensors, or functions without arguments that return them.
"""

from collections.abc import Sequence
from typing import Any

from frontends.tf.compat.v1.train import formulas
from frontends.tf.compat.v1.train.formulas import Formula
from frontends.tf.compat.v1.train.optimizer import Optimizer


class GradientDescentOptimizer(Optimizer):
    """Subtracts gradients times the learning rate.

    Source: `tf.compat.v1.train.GradientDescentOptimizer`.
    """

    def __init__(
        self, learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent"
    ) -> None:
        """Makes the optimizer.

        Args:
            learning_rate: a number, a tensor, or a function that returns one.
            use_locking: without effect.
            name: of the operations.
        """
        super().__init__(use_locking, name)
        self._rate = learning_rate

    def _formula(self) -> Formula:
        return formulas.GradientDescent()

    def _scalars(self) -> Sequence[Any]:
        return (self._rate,)


class MomentumOptimizer(Optimizer):
    """Follows accumulated gradients; the learning rate of the moment multiplies all of them.

    Source: `tf.compat.v1.train.MomentumOptimizer`.
    """

    def __init__(
        self,
        learning_rate: Any,
        momentum: Any,
        use_locking: bool = False,
        name: str = "Momentum",
        use_nesterov: bool = False,
    ) -> None:
        """Makes the optimizer.

        Args:
            learning_rate: a number, a tensor, or a function that returns one.
            momentum: multiplies what is accumulated.
            use_locking: without effect.
            name: of the slots, `momentum`.
            use_nesterov: whether to look a step ahead.
        """
        super().__init__(use_locking, name)
        self._rate, self._momentum = learning_rate, momentum
        self._use_nesterov = use_nesterov

    def _formula(self) -> Formula:
        return formulas.Momentum(bool(self._use_nesterov))

    def _scalars(self) -> Sequence[Any]:
        return self._rate, self._momentum

    def _slot_names(self) -> Sequence[str]:
        return ("momentum",)


class AdamOptimizer(Optimizer):
    """Adam, with the "epsilon hat" of its paper.

    A gradient of some rows (`tf.IndexedSlices`) moves all rows, by their averages.

    Source: `tf.compat.v1.train.AdamOptimizer`.
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
        use_own_namescope_for_non_slot_vars: bool = False,
    ) -> None:
        """Makes the optimizer.

        Args:
            learning_rate: a number, a tensor, or a function that returns one.
            beta1: how much of the average gradient stays.
            beta2: how much of the average square stays.
            epsilon: added to the root of the average square.
            use_locking: without effect.
            name: of the slots, `m` and `v`.
        """
        super().__init__(use_locking, name)
        self._rate, self._beta1, self._beta2, self._epsilon = learning_rate, beta1, beta2, epsilon

    def _formula(self) -> Formula:
        return formulas.Adam()

    def _scalars(self) -> Sequence[Any]:
        return self._rate, self._beta1, self._beta2, self._epsilon

    def _shared(self) -> Sequence[tuple[str, Any]]:
        return ("beta1_power", self._beta1), ("beta2_power", self._beta2)

    def _slot_names(self) -> Sequence[str]:
        return "m", "v"


class AdagradOptimizer(Optimizer):
    """Divides gradients by the root of the sum of their squares, which has no epsilon.

    Source: `tf.compat.v1.train.AdagradOptimizer`.
    """

    def __init__(
        self,
        learning_rate: Any,
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "Adagrad",
    ) -> None:
        """Makes the optimizer.

        Args:
            learning_rate: a number, a tensor, or a function that returns one.
            initial_accumulator_value: of the sum.
            use_locking: without effect.
            name: of the slots, `accumulator`.

        Raises:
            ValueError: the sum starts at zero or below.
        """
        _check_positive(initial_accumulator_value)
        super().__init__(use_locking, name)
        self._rate = learning_rate
        self._initial_accumulator_value = initial_accumulator_value

    def _formula(self) -> Formula:
        return formulas.Adagrad(float(self._initial_accumulator_value))

    def _scalars(self) -> Sequence[Any]:
        return (self._rate,)

    def _slot_names(self) -> Sequence[str]:
        return ("accumulator",)


class RMSPropOptimizer(Optimizer):
    """Divides gradients by the root of their average square, which starts at one.

    Source: `tf.compat.v1.train.RMSPropOptimizer`.
    """

    def __init__(
        self,
        learning_rate: Any,
        decay: Any = 0.9,
        momentum: Any = 0.0,
        epsilon: Any = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        name: str = "RMSProp",
    ) -> None:
        """Makes the optimizer.

        Args:
            learning_rate: a number, a tensor, or a function that returns one.
            decay: how much of the average square stays.
            momentum: how much of the last update is added to the next one.
            epsilon: added under the root.
            use_locking: without effect.
            centered: whether to subtract the square of the average.
            name: of the slots, `rms`, `mg` if centered, and `momentum`.
        """
        super().__init__(use_locking, name)
        self._rate, self._decay = learning_rate, decay
        self._momentum, self._epsilon = momentum, epsilon
        self._centered = centered

    def _formula(self) -> Formula:
        return formulas.RMSProp(bool(self._centered))

    def _scalars(self) -> Sequence[Any]:
        return self._rate, self._decay, self._momentum, self._epsilon

    def _slot_names(self) -> Sequence[str]:
        return ("rms", "mg", "momentum") if self._centered else ("rms", "momentum")


class AdadeltaOptimizer(Optimizer):
    """Adadelta: the average of former updates stands for a learning rate.

    Source: `tf.compat.v1.train.AdadeltaOptimizer`.
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: Any = 0.95,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "Adadelta",
    ) -> None:
        """Makes the optimizer.

        Args:
            learning_rate: a number, a tensor, or a function that returns one.
            rho: how much of the averages stays.
            epsilon: added under the roots.
            use_locking: without effect.
            name: of the slots, `accum` and `accum_update`.
        """
        super().__init__(use_locking, name)
        self._rate, self._rho, self._epsilon = learning_rate, rho, epsilon

    def _formula(self) -> Formula:
        return formulas.Adadelta()

    def _scalars(self) -> Sequence[Any]:
        return self._rate, self._rho, self._epsilon

    def _slot_names(self) -> Sequence[str]:
        return "accum", "accum_update"


class FtrlOptimizer(Optimizer):
    """Follows the regularized leader.

    Source: `tf.compat.v1.train.FtrlOptimizer`.
    """

    def __init__(
        self,
        learning_rate: Any,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "Ftrl",
        accum_name: str | None = None,
        linear_name: str | None = None,
        l2_shrinkage_regularization_strength: float = 0.0,
        beta: float | None = None,
    ) -> None:
        """Makes the optimizer.

        Args:
            learning_rate: a number or a tensor.
            learning_rate_power: of the sum of squares, by which the learning rate is multiplied.
            initial_accumulator_value: of that sum.
            l1_regularization_strength: of a penalty on absolute values.
            l2_regularization_strength: of a penalty on squares.
            use_locking: without effect.
            name: of the slots, `accum` and `linear`.
            accum_name: of the slot `accum`; None takes `name`.
            linear_name: of the slot `linear`; None takes `name`.
            l2_shrinkage_regularization_strength: of a penalty on squares that acts on gradients.
            beta: added to the root of the sum of squares; None means 0.

        Raises:
            ValueError: a setting has the wrong sign.
        """
        for setting, value, fits in (
            (
                "initial_accumulator_value",
                initial_accumulator_value,
                initial_accumulator_value >= 0,
            ),
            (
                "l1_regularization_strength",
                l1_regularization_strength,
                l1_regularization_strength >= 0,
            ),
            (
                "l2_regularization_strength",
                l2_regularization_strength,
                l2_regularization_strength >= 0,
            ),
            (
                "l2_shrinkage_regularization_strength",
                l2_shrinkage_regularization_strength,
                l2_shrinkage_regularization_strength >= 0,
            ),
        ):
            if not fits:
                raise ValueError(f"{setting} {value} needs to be positive or zero")
        if learning_rate_power > 0:
            raise ValueError(
                f"learning_rate_power {learning_rate_power} needs to be negative or zero"
            )
        super().__init__(use_locking, name)
        self._rate, self._power = learning_rate, learning_rate_power
        self._initial_accumulator_value = initial_accumulator_value
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength
        self._shrinkage = l2_shrinkage_regularization_strength
        self._beta = 0.0 if beta is None else beta
        self._accum_name, self._linear_name = accum_name, linear_name

    def _formula(self) -> Formula:
        return formulas.Ftrl(float(self._initial_accumulator_value), self._shrinkage > 0)

    def _scalars(self) -> Sequence[Any]:
        return self._rate, self._power, self._l1, self._l2, self._beta, self._shrinkage

    def _slot_names(self) -> Sequence[str]:
        return "accum", "linear"

    def _op_names(self) -> Sequence[str]:
        return self._accum_name or self._name, self._linear_name or self._name


class ProximalGradientDescentOptimizer(Optimizer):
    """Gradient descent, with penalties that are minimized exactly.

    Source: `tf.compat.v1.train.ProximalGradientDescentOptimizer`.
    """

    def __init__(
        self,
        learning_rate: Any,
        l1_regularization_strength: Any = 0.0,
        l2_regularization_strength: Any = 0.0,
        use_locking: bool = False,
        name: str = "ProximalGradientDescent",
    ) -> None:
        """Makes the optimizer.

        Args:
            learning_rate: a number or a tensor.
            l1_regularization_strength: of a penalty on absolute values.
            l2_regularization_strength: of a penalty on squares.
            use_locking: without effect.
            name: of the operations.
        """
        super().__init__(use_locking, name)
        self._rate = learning_rate
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength

    def _formula(self) -> Formula:
        return formulas.ProximalGradientDescent()

    def _scalars(self) -> Sequence[Any]:
        return self._rate, self._l1, self._l2


class ProximalAdagradOptimizer(Optimizer):
    """Adagrad, with penalties that are minimized exactly.

    Source: `tf.compat.v1.train.ProximalAdagradOptimizer`.
    """

    def __init__(
        self,
        learning_rate: Any,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: Any = 0.0,
        l2_regularization_strength: Any = 0.0,
        use_locking: bool = False,
        name: str = "ProximalAdagrad",
    ) -> None:
        """Makes the optimizer.

        Args:
            learning_rate: a number or a tensor.
            initial_accumulator_value: of the sum of squares.
            l1_regularization_strength: of a penalty on absolute values.
            l2_regularization_strength: of a penalty on squares.
            use_locking: without effect.
            name: of the slots, `accumulator`.

        Raises:
            ValueError: the sum starts at zero or below.
        """
        _check_positive(initial_accumulator_value)
        super().__init__(use_locking, name)
        self._rate = learning_rate
        self._initial_accumulator_value = initial_accumulator_value
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength

    def _formula(self) -> Formula:
        return formulas.ProximalAdagrad(float(self._initial_accumulator_value))

    def _scalars(self) -> Sequence[Any]:
        return self._rate, self._l1, self._l2

    def _slot_names(self) -> Sequence[str]:
        return ("accumulator",)


def _check_positive(initial_accumulator_value: float) -> None:
    if initial_accumulator_value <= 0:
        raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
