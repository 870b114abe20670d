"""Optimizers of one's own in the way of Keras 2: AdamW with exclusion by name, LARS and Lion."""

import functools
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.golden.scenarios.base import Case, Setting, scenario

GROUP = "own_optimizers"


@functools.cache
def optimizers(tf: Any) -> dict[str, Callable[..., Any]]:
    """Defines the optimizers on TensorFlow or on ours."""

    class AdamWeightDecay(tf.keras.optimizers.legacy.Adam):
        def __init__(
            self,
            learning_rate: Any = 0.05,
            beta_1: float = 0.9,
            beta_2: float = 0.99,
            epsilon: float = 1e-3,
            amsgrad: bool = False,
            weight_decay_rate: float = 0.5,
            exclude_from_weight_decay: tuple[str, ...] = ("bias",),
            name: str = "AdamWeightDecay",
            **kwargs: Any,
        ) -> None:
            super().__init__(learning_rate, beta_1, beta_2, epsilon, amsgrad, name, **kwargs)
            self.weight_decay_rate = weight_decay_rate
            self._excluded = exclude_from_weight_decay

        def _prepare_local(self, var_device: Any, var_dtype: Any, apply_state: Any) -> None:
            super()._prepare_local(var_device, var_dtype, apply_state)
            rate = tf.constant(self.weight_decay_rate, name="adam_weight_decay_rate")
            apply_state[(var_device, var_dtype)]["weight_decay_rate"] = rate

        def _decay(self, var: Any, coefficients: Any) -> Any:
            if any(re.search(pattern, var.name) for pattern in self._excluded):
                return tf.no_op()
            change = coefficients["lr_t"] * var * coefficients["weight_decay_rate"]
            return var.assign_sub(change, use_locking=self._use_locking)

        def apply_gradients(self, grads_and_vars: Any, name: Any = None, **kwargs: Any) -> Any:
            grads, variables = zip(*grads_and_vars, strict=True)
            grads, _ = tf.clip_by_global_norm(list(grads), clip_norm=2.0)
            return super().apply_gradients(zip(grads, variables, strict=True), name=name, **kwargs)

        def _coefficients(self, var: Any, state: Any) -> Any:
            key = var.device, var.dtype.base_dtype
            return (state or {}).get(key) or self._fallback_apply_state(*key)

        def _resource_apply_dense(self, grad: Any, var: Any, apply_state: Any = None) -> Any:
            decay = self._decay(var, self._coefficients(var, apply_state))
            with tf.control_dependencies([] if decay is None else [decay]):
                return super()._resource_apply_dense(grad, var, apply_state=apply_state)

        def _resource_apply_sparse(
            self, grad: Any, var: Any, indices: Any, apply_state: Any = None
        ) -> Any:
            decay = self._decay(var, self._coefficients(var, apply_state))
            with tf.control_dependencies([] if decay is None else [decay]):
                return super()._resource_apply_sparse(grad, var, indices, apply_state=apply_state)

        def get_config(self) -> dict[str, Any]:
            config = super().get_config()
            return {**config, "weight_decay_rate": self.weight_decay_rate}

    class LARS(tf.keras.optimizers.legacy.Optimizer):
        def __init__(
            self,
            learning_rate: Any = 0.1,
            momentum: float = 0.9,
            weight_decay: float = 0.25,
            trust: float = 0.5,
            name: str = "LARS",
            **kwargs: Any,
        ) -> None:
            super().__init__(name, **kwargs)
            self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
            self._set_hyper("decay", self._initial_decay)
            self._set_hyper("momentum", momentum)
            self.weight_decay = weight_decay
            self.trust = trust

        def _create_slots(self, var_list: Any) -> None:
            for var in var_list:
                self.add_slot(var, "momentum")

        def _prepare_local(self, var_device: Any, var_dtype: Any, apply_state: Any) -> None:
            super()._prepare_local(var_device, var_dtype, apply_state)
            momentum = tf.identity(self._get_hyper("momentum", var_dtype))
            apply_state[(var_device, var_dtype)]["momentum"] = momentum

        def _resource_apply_dense(self, grad: Any, var: Any, apply_state: Any = None) -> Any:
            key = var.device, var.dtype.base_dtype
            coefficients = (apply_state or {}).get(key) or self._fallback_apply_state(*key)
            ratio = 1.0
            if "bias" not in var.name:
                grad = grad + self.weight_decay * var
                size, slope = tf.norm(var, ord=2), tf.norm(grad, ord=2)
                inner = tf.where(tf.greater(slope, 0), self.trust * size / slope, 1.0)
                ratio = tf.where(tf.greater(size, 0), inner, 1.0)
            momentum = self.get_slot(var, "momentum")
            step = coefficients["momentum"] * momentum + coefficients["lr_t"] * ratio * grad
            momentum_update = momentum.assign(step, use_locking=self._use_locking)
            var_update = var.assign_sub(step, use_locking=self._use_locking)
            return tf.group(momentum_update, var_update)

        def get_config(self) -> dict[str, Any]:
            numbers = ("learning_rate", "decay", "momentum")
            hypers = {name: self._serialize_hyperparameter(name) for name in numbers}
            own = {"weight_decay": self.weight_decay, "trust": self.trust}
            return {**super().get_config(), **hypers, **own}

    class Lion(tf.keras.optimizers.legacy.Optimizer):
        def __init__(
            self, learning_rate: Any = 0.1, beta: float = 0.75, name: str = "Lion", **kwargs: Any
        ) -> None:
            super().__init__(name, **kwargs)
            self._set_hyper("learning_rate", learning_rate)
            self._set_hyper("beta_1", beta)
            self._set_hyper("wd", 0.25)

        def _create_slots(self, var_list: Any) -> None:
            for var in var_list:
                self.add_slot(var, "m", initializer="ones")

        def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
            rate = self._decayed_lr(var.dtype.base_dtype)
            beta = self._get_hyper("beta_1", var.dtype.base_dtype)
            wd, m = self._get_hyper("wd", var.dtype), self.get_slot(var, "m")
            direction = tf.sign(m * beta + grad * (1 - beta))
            var_update = var.assign_sub(rate * (direction + var * wd))
            with tf.control_dependencies([var_update]):
                return tf.group(var_update, m.assign(m * 0.5 + grad * 0.5))

        def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
            rate, m = self._decayed_lr(var.dtype.base_dtype), self.get_slot(var, "m")
            m_update = m.scatter_add(tf.IndexedSlices(grad, indices))
            with tf.control_dependencies([m_update]):
                direction = tf.sign(tf.gather(m, indices))
            return self._resource_scatter_add(var, indices, -rate * direction)

        def get_config(self) -> dict[str, Any]:
            rate = self._serialize_hyperparameter("learning_rate")
            return {**super().get_config(), "learning_rate": rate}

    return {"AdamWeightDecay": AdamWeightDecay, "LARS": LARS, "Lion": Lion}


@scenario("own_optimizers.steps", GROUP, ("none", "n2"))
def steps(s: Setting) -> Iterator[Case]:
    tf = s.tf

    def made(make: Callable[[], Any]) -> Any:
        if s.strategy is None:
            return make()
        with s.strategy.scope():
            return make()

    def train(name: str, **options: Any) -> tuple[Any, list[Any]]:
        def make() -> tuple[Any, list[Any]]:
            kernel = tf.Variable([[1.0, -2.0], [0.5, 3.0], [-1.0, 0.25]], name="dense/kernel")
            return optimizers(tf)[name](**options), [kernel, tf.Variable([0.5, 0.0], name="bias")]

        optimizer, variables = made(make)

        def step(number: Any) -> Any:
            with tf.GradientTape() as tape:
                rows = [[1.0, 2.0, -1.0]] * 2
                found = (tf.matmul(rows, variables[0]) + variables[1]) * number
                loss = tf.reduce_sum(tf.square(found - 1.0)) / s.n
            gradients = tape.gradient(loss, variables)
            optimizer.apply_gradients(zip(gradients, variables, strict=True))
            return loss

        run = step if s.strategy is None else lambda number: s.strategy.run(step, (number,))
        compiled = tf.function(run)
        for number in (1.0, 0.5, 0.25):
            compiled(tf.constant(number))
        return optimizer, variables

    def schedule() -> Any:
        return tf.keras.optimizers.schedules.ExponentialDecay(0.5, 2, 0.5)

    def rounded(values: Any) -> list[Any]:
        return [np.round(np.asarray(value), 4) for value in values]

    settings: dict[str, Callable[[], dict[str, Any]]] = {
        "plain": dict,
        "schedule": lambda: {"learning_rate": schedule()},
        "decay": lambda: {"decay": 0.5},
        "function": lambda: {"learning_rate": lambda: 0.25},
        "clipnorm": lambda: {"clipnorm": 0.5},
        "clipvalue": lambda: {"clipvalue": 0.25},
        "global_clipnorm": lambda: {"global_clipnorm": 0.5},
    }

    if s.strategy is not None:
        settings = {name: settings[name] for name in ("plain", "schedule", "global_clipnorm")}

    def fitted(name: str) -> list[Any]:
        def make() -> Any:
            layers = [
                tf.keras.layers.Dense(2, kernel_initializer="ones", activation="tanh"),
                tf.keras.layers.Dense(1, kernel_initializer="ones"),
            ]
            model = tf.keras.Sequential([tf.keras.layers.InputLayer((3,)), *layers])
            model.compile(optimizers(tf)[name](), "mse")
            return model

        model = made(make)
        x = np.arange(24, dtype="float32").reshape(8, 3) / 24
        model.fit(x, x[:, :1] - 1, batch_size=4, epochs=2, shuffle=False, verbose=0)
        return rounded(model.get_weights())

    for name in optimizers(tf):
        for setting, options in settings.items():
            yield (
                f"{name}/{setting}",
                lambda name=name, options=options: rounded(train(name, **options())[1]),
            )
        yield f"{name}/weights", lambda name=name: rounded(train(name)[0].get_weights())
        if name != "AdamWeightDecay" or s.strategy is None:
            # TensorFlow clips in the subclass before it sums, in each replica by itself.
            yield f"{name}/fit", lambda name=name: fitted(name)


@scenario("own_optimizers.alone", GROUP, ("none",))
def alone(s: Setting) -> Iterator[Case]:
    tf = s.tf

    def looked_up(name: str) -> list[Any]:
        table, optimizer = tf.Variable([[1.0, -2.0], [0.5, 3.0], [-1.0, 0.25]]), None
        optimizer = optimizers(tf)[name]()

        @tf.function
        def step() -> None:
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.square(tf.gather(table, [2, 0, 2]))) / 4
            optimizer.apply_gradients([(tape.gradient(loss, table), table)])

        step()
        step()
        slot = optimizer.get_slot(table, "m")
        return [np.round(value.numpy(), 4) for value in (table, slot)]

    for name in ("AdamWeightDecay", "Lion"):
        yield f"{name}/rows", lambda name=name: looked_up(name)

    def configured() -> dict[str, Any]:
        rate = tf.keras.optimizers.schedules.ExponentialDecay(0.5, 2, 0.5)
        lars, lion = optimizers(tf)["LARS"](momentum=0.5), optimizers(tf)["Lion"](rate)
        adam = optimizers(tf)["AdamWeightDecay"](0.25)
        again = type(lion).from_config(lion.get_config())
        return {
            "LARS": lars.get_config(),
            "schedule": lion.get_config()["learning_rate"]["class_name"],
            "again": float(again.learning_rate(4)),
            "AdamWeightDecay": dict(sorted(adam.get_config().items())),
        }

    def changed() -> list[float]:
        optimizer = optimizers(tf)["LARS"](0.5)
        optimizer.momentum = 0.25
        optimizer.lr = 0.125
        found = [optimizer.learning_rate, optimizer.lr, optimizer._get_hyper("momentum", "float32")]
        optimizer.learning_rate = 0.75
        found += [optimizer.momentum, optimizer._decayed_lr("float32")]
        return [float(one) for one in found]

    def rates() -> list[float]:
        rate = tf.keras.optimizers.schedules.ExponentialDecay(0.5, 2, 0.5)
        legacy = tf.keras.optimizers.legacy
        made = [legacy.SGD(rate), legacy.Adam(rate), optimizers(tf)["Lion"](rate)]
        return [float(one.learning_rate(step)) for one in made for step in (0, 2)]

    def restored() -> list[Any]:
        variable, optimizer = tf.Variable([1.0, -2.0]), optimizers(tf)["LARS"]()
        optimizer.apply_gradients([(tf.constant([0.5, 1.0]), variable)])
        kept = optimizer.get_weights()
        optimizer.apply_gradients([(tf.constant([2.0, 1.0]), variable)])
        other = optimizers(tf)["LARS"]()
        other._create_all_weights([variable])
        other.set_weights(kept)
        slot = other.get_slot(variable, "momentum")
        return [np.round(one.numpy(), 4) for one in (slot, other.iterations)]

    for case in (configured, changed, rates, restored):
        yield case.__name__, case
