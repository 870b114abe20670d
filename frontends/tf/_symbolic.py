"""Functions of `tf` on Keras's symbolic tensors: a call becomes an operation of the model.

`tf.nn.relu(keras.Input((3,)))` is no computation: a functional model records it, and runs it later. A function
fails on such a tensor, which has no value; only then are its arguments looked at. So a call with arrays costs
nothing, and Keras is not imported.

In a model function of TensorFlow 1, tensors have the names of the operations that make them.

A function fails on texts, ragged and sparse tensors as well, which are on the host alone; see `_host_values.py`.

A function also fails if it needs a number that only the running program knows. A `tf.function` then runs as Python.
"""

import functools
import importlib
import inspect
import sys
from collections.abc import Callable, Mapping
from typing import Any

from frontends.tf._host_values import called_on_host
from frontends.tf._old_arguments import renamed
from frontends.tf._typing import Nested
from frontends.tf.data.tracing import run_as_python
from frontends.tf.graph import current_graph
from frontends.tf.ops.naming import Naming
from frontends.tf.traced_values import needs_number

# Recorded calls are saved by TensorFlow's name of the function, such as "tf.nn.relu".
FUNCTIONS: dict[str, Callable[..., Any]] = {}
# By function: it is the same one in all modules that have it.
_RECORDABLE: dict[Callable[..., Any], Callable[..., Any]] = {}


def recordable(module: str, table: Mapping[str, Any]) -> dict[str, Any]:
    """Makes the functions of a table record calls with symbolic tensors.

    Args:
        module: TensorFlow's name of the module, such as `"tf.nn"`.
        table: names and values; what is no function stays as it is.
    """
    return {
        name: _recordable(f"{module}.{name}", value) if inspect.isfunction(value) else value
        for name, value in table.items()
    }


def _recordable(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    FUNCTIONS[name] = function
    if function in _RECORDABLE:
        return _RECORDABLE[function]

    naming = Naming(name, function)

    @functools.wraps(function)
    def call(*args: Nested, **kwargs: Nested) -> Any:
        try:
            made = function(*args, **kwargs)
        except Exception as error:
            former = renamed(function, kwargs) if kwargs and type(error) is TypeError else None
            if former is not None:
                return call(*args, **former)
            if not has_symbolic((args, kwargs)):
                on_host = called_on_host(name, call, args, kwargs)
                if on_host is not NotImplemented:
                    return on_host
                if needs_number(error):
                    run_as_python(
                        f"{name} needs, as a size, an axis or a count, a number that only the running program knows, "
                        "and programs have fixed shapes. Take sizes from x.shape or tf.shape(x)."
                    )
                raise
        else:
            graph = current_graph()
            if graph is not None:
                naming.note(graph, made, args, kwargs)
            return made
        # By its name: the module imports Keras, which whoever has a symbolic tensor has imported.
        record = importlib.import_module("frontends.tf.keras._symbolic").record
        return record(name, args, kwargs)

    _RECORDABLE[function] = call
    return call


def has_symbolic(structure: Nested) -> bool:
    """Tells whether a symbolic tensor of Keras is in a structure."""
    if isinstance(structure, Mapping):
        return any(map(has_symbolic, structure.values()))
    if isinstance(structure, list | tuple):
        return any(map(has_symbolic, structure))
    keras: Any = sys.modules.get("keras")
    return keras is not None and isinstance(structure, keras.KerasTensor)
