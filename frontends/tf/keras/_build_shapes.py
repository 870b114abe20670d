"""Shapes that user-defined layers are built with: each a `tf.TensorShape`, as in Keras 2, for `input_shape.as_list()`.

Keras's own layers go on to get plain tuples. A `TensorShape` is one, too.

Internals of Keras that this touches: `keras.src.layers.layer.update_shapes_dict_for_target_fn`;
tests/frontends/tf/keras/test_build_shapes.py runs it on every supported version.
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import keras

from frontends.tf._user_view import as_shape_seen, is_library_code
from spmd.integrations.keras import KerasObject, Method

# What a saved layer has its shapes under.
_SHAPES = ("input_shape", "shapes_dict")


def give_shapes(
    update: Method,
    /,
    target_fn: Callable[..., Any],
    shapes_dict: Mapping[str, Any],
    call_spec: object,
    class_name: str,
) -> Any:
    """Wraps what chooses the arguments of `build` and `compute_output_shape`."""
    chosen = update(target_fn, shapes_dict, call_spec, class_name)
    return _with_shapes(chosen) if chosen and _is_users(target_fn) else chosen


def give_saved_shapes(build: Method, /, self: KerasObject, config: Any) -> None:
    """Wraps `Layer.build_from_config`: builds a layer that is loaded."""
    if config and _is_users(self.build):
        shapes = {name: config[name] for name in _SHAPES if name in config}
        config = config | _with_shapes(shapes)
    build(self, config)


def _is_users(function: Callable[..., Any]) -> bool:
    found: Any = inspect.unwrap(function)
    code = getattr(found, "__code__", None)  # a functools.partial has none
    return code is not None and not is_library_code(code, found.__module__)


def _with_shapes(shapes: Any) -> dict[str, Any]:
    return keras.tree.map_shape_structure(as_shape_seen, shapes)
