"""`tf.keras.optimizers.legacy`: steps with a decay of the learning rate, slots and weights."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.golden.scenarios.base import NONE, Case, Setting, scenario

GROUP = "legacy_optimizers"
_NAMES = ("Adadelta", "Adagrad", "Adam", "Adamax", "Ftrl", "Nadam", "RMSprop", "SGD")
# What leaves epsilon out of the root, where the older optimizers had it, and what has more slots.
_OPTIONS: dict[str, dict[str, Any]] = {
    "Adagrad": {"epsilon": 1e-12},
    "Adam": {"amsgrad": True},
    "RMSprop": {"momentum": 0.5, "centered": True, "epsilon": 1e-3},
    "SGD": {"momentum": 0.9, "nesterov": True},
}


@scenario("legacy_optimizers.steps", GROUP, NONE)
def steps(s: Setting) -> Iterator[Case]:
    tf, legacy = s.tf, s.tf.keras.optimizers.legacy

    def train(name: str, **options: Any) -> tuple[Any, list[Any]]:
        optimizer = getattr(legacy, name)(0.1, **_OPTIONS.get(name, {}), **options)
        variables = [tf.Variable([1.0, -2.0]), tf.Variable(0.5)]
        for step in range(1, 4):
            gradients = [tf.constant([0.5, 1.0]) * step, tf.constant(-0.25)]
            optimizer.apply_gradients(zip(gradients, variables, strict=True))
        return optimizer, variables

    def rounded(values: Any) -> Any:
        # TensorFlow computes 1 - beta_2 in 32 bits.
        return [np.round(np.asarray(value), 4) for value in values]

    def slots(name: str) -> dict[str, Any]:
        optimizer, variables = train(name)
        names = sorted(optimizer.get_slot_names())
        return {slot: rounded(optimizer.get_slot(v, slot) for v in variables) for slot in names}

    for name in _NAMES:
        yield f"{name}/plain", lambda name=name: [v.numpy() for v in train(name)[1]]
        yield f"{name}/decay", lambda name=name: [v.numpy() for v in train(name, decay=0.5)[1]]
        yield f"{name}/slots", lambda name=name: slots(name)

    def weights() -> list[Any]:
        optimizer, variables = train("Adam")
        kept = optimizer.get_weights()
        optimizer.apply_gradients([(tf.constant([1.0, 1.0]), variables[0])])
        optimizer.set_weights(kept)
        return rounded(optimizer.get_weights())

    def rates() -> list[float]:
        optimizer, _ = train("SGD", decay=0.5)
        found = [
            optimizer.lr,
            optimizer.learning_rate,
            optimizer.decay,
            optimizer._decayed_lr("float32"),
        ]
        optimizer.lr = 0.4
        again = type(optimizer).from_config(optimizer.get_config())
        return [
            float(one) for one in (*found, optimizer._decayed_lr("float32"), again.lr, again.decay)
        ]

    def in_function() -> list[Any]:
        optimizer, (first, second) = train("SGD")

        @tf.function
        def gradients() -> list[Any]:
            return optimizer.get_gradients(tf.reduce_sum(first * first) * second, [first, second])

        return gradients()

    def pairs() -> list[Any]:
        optimizer, (first, _) = train("SGD")
        found = optimizer._compute_gradients(lambda: tf.reduce_sum(first * first), [first])
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(first * first)
        found += optimizer._compute_gradients(loss, [first], tape=tape)
        return [gradient for gradient, _ in found]

    def count() -> int:
        return len(train("SGD")[0].weights)

    for case in (weights, rates, in_function, pairs, count):
        yield case.__name__, case
