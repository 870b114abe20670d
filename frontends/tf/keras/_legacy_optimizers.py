"""`tf.keras.optimizers.legacy`: Keras 3's optimizers, with the arguments of Keras 2's older ones.

They compute what the older ones did, except for where epsilon stands in two of them: `RMSprop` without
momentum and `Adagrad` divide by `sqrt(v + epsilon)` where the older ones divided by
`sqrt(v) + epsilon`.
"""

import functools
from collections.abc import Callable
from typing import Any

import keras


def _legacy(optimizer: type[Any], learning_rate: float) -> Callable[..., Any]:
    @functools.wraps(optimizer, assigned=("__name__", "__doc__"), updated=())
    def make(*args: Any, lr: Any = None, decay: float = 0.0, **kwargs: Any) -> Any:
        rate = args[0] if args else kwargs.pop("learning_rate", learning_rate)
        rate = rate if lr is None else lr
        if isinstance(rate, int):
            rate = float(rate)
        if decay:
            rate = keras.optimizers.schedules.InverseTimeDecay(rate, 1, decay)
        return optimizer(rate, *args[1:], **kwargs)

    return make


TABLE: dict[str, Any] = {
    "Optimizer": keras.optimizers.Optimizer,
    **{
        optimizer.__name__: _legacy(optimizer, rate)
        for optimizer, rate in (
            (keras.optimizers.Adadelta, 0.001),
            (keras.optimizers.Adagrad, 0.001),
            (keras.optimizers.Adam, 0.001),
            (keras.optimizers.Adamax, 0.001),
            (keras.optimizers.Ftrl, 0.001),
            (keras.optimizers.Nadam, 0.001),
            (keras.optimizers.RMSprop, 0.001),
            (keras.optimizers.SGD, 0.01),
        )
    },
}
