"""`tf.keras.optimizers.legacy`: Keras 3's optimizers, with the arguments of Keras 2's older ones.

They compute what the older ones did, but for epsilon in two of them: `RMSprop` without momentum and `Adagrad` divide
by `sqrt(v + epsilon)`, where the older ones divided by `sqrt(v) + epsilon`.
"""

from typing import Any

import keras

from spmd.integrations.keras import Optimizer


def _legacy(optimizer: type[Any], default_rate: float) -> type[Any]:
    def __init__(
        self: Optimizer,
        learning_rate: Any = default_rate,
        *args: Any,
        decay: float = 0.0,
        **kwargs: Any,
    ) -> None:
        rate: Any = kwargs.pop("lr", learning_rate)
        if decay:
            rate = keras.optimizers.schedules.InverseTimeDecay(float(rate), 1, decay)
        optimizer.__init__(self, rate, *args, **kwargs)

    # Keras saves a class by its module and name. The summary only: doctest would run Keras's examples.
    summary = (optimizer.__doc__ or "").partition("\n")[0]
    names = {"__module__": __name__, "__doc__": summary, "__init__": __init__}
    return type(optimizer.__name__, (optimizer,), names)


Adadelta = _legacy(keras.optimizers.Adadelta, 0.001)
Adagrad = _legacy(keras.optimizers.Adagrad, 0.001)
Adam = _legacy(keras.optimizers.Adam, 0.001)
Adamax = _legacy(keras.optimizers.Adamax, 0.001)
Ftrl = _legacy(keras.optimizers.Ftrl, 0.001)
Nadam = _legacy(keras.optimizers.Nadam, 0.001)
RMSprop = _legacy(keras.optimizers.RMSprop, 0.001)
SGD = _legacy(keras.optimizers.SGD, 0.01)

_CLASSES = (Adadelta, Adagrad, Adam, Adamax, Ftrl, Nadam, RMSprop, SGD)
TABLE: dict[str, Any] = {cls.__name__: cls for cls in (*_CLASSES, keras.optimizers.Optimizer)}
