"""Keras's classes as annotations.

Keras makes most attributes in `build` and `compile`, where a type checker does not see them.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

# A `keras.Variable`, layer, model, metric, optimizer or seed generator.
KerasObject: TypeAlias = Any
Variable: TypeAlias = Any
Layer: TypeAlias = Any
Model: TypeAlias = Any
Optimizer: TypeAlias = Any
Metric: TypeAlias = Any
Loss: TypeAlias = Any
# A batch as Keras's loops pass it: (x,), (x, y) or (x, y, sample_weight), each a pytree of arrays with rows.
Batch: TypeAlias = Any
# Numbers by name, as `fit` logs them.
Logs: TypeAlias = Any
# A method of Keras's, or what replaces it.
Method: TypeAlias = Callable[..., Any]
