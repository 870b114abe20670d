"""Keras's symbolic tensors under functions and operators of `tf`, as in functional models of Keras 2.

A *symbolic size* is an integer that depends on a size that is not known yet, such as `tf.shape(x)[0]`. TensorFlow
computes with these where it infers shapes: `tf.reshape(y, [tf.shape(x)[0], 4])` has 4 columns. Here shapes are
inferred twice, for two numbers in place of each unknown size: what comes out differently is not known. Symbolic
sizes keep their two values.

Internals of Keras that this touches: `KerasTensor._shape` and `keras.src.backend.compute_output_spec`;
tests/frontends/tf/keras/test_symbolic.py runs it on every supported version.
"""

import contextlib
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import keras
import numpy as np
from jax.core import Tracer

from frontends.tf._symbolic import FUNCTIONS, has_symbolic
from frontends.tf._typing import Nested, ShapeLike
from frontends.tf.dtypes import DType
from frontends.tf.ops.map_stream import drawing_from
from frontends.tf.selected import Selected
from frontends.tf.tensor_shape import TensorShape
from spmd.integrations.keras import KerasObject, Method
from spmd.state import writes_undone

# They stand for unknown sizes; as a reshape divides sizes, many numbers divide them.
_SIZES = (840, 1680)
# For layers that hold a table with a row for each place, and slice it: it may have fewer rows than that.
_SMALL_SIZES = (12, 24)
_VALUES = "_tf_values"
_VALUE_TYPES = (np.ndarray, np.generic, int, jax.Array)
_NO_VALUE_ERRORS = (
    jax.errors.ConcretizationTypeError,
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerIntegerConversionError,
)
_TENSOR: Any = keras.KerasTensor
_OPERATION: Any = keras.Operation


class _NoStream:
    """Random numbers that nobody uses: the global stream must not advance where shapes are inferred."""

    def next_key(self, entropy: tuple[int, ...] | None) -> tuple[list[int], int]:
        """Takes the same key each time."""
        return [0, 0], 0


@keras.saving.register_keras_serializable(package="tensorflow", name="Operation")
class TensorFlowOperation(_OPERATION):
    """A call of a function of `tf` in a functional model; saved by the function's name.

    Source: `TFOpLambda` of Keras 2.
    """

    def __init__(self, function: str, name: str | None = None) -> None:
        """Makes an operation.

        Args:
            function: TensorFlow's name, such as `"tf.nn.relu"`.
            name: of the operation; None makes one of the function's.

        Raises:
            ValueError: there is no such function.
        """
        if function not in FUNCTIONS:
            raise ValueError(
                f"The model calls {function}, which is not part of jaxtribute. Expected one of "
                "TensorFlow's functions in tf, tf.math, tf.nn, tf.linalg, tf.image or tf.random. Was the "
                "model saved by a newer jaxtribute? Install that: pip install -U jaxtribute"
            )
        if name is None:
            count = keras.backend.get_uid(function)
            name = function if count == 1 else f"{function}_{count - 1}"
        super().__init__(name=name)
        self.function = function

    def get_config(self) -> dict[str, Any]:
        """Returns what makes the operation again."""
        return {"function": self.function, "name": self.name}

    def call(self, *args: Nested, **kwargs: Nested) -> Any:
        """Calls the function, with arrays in place of the symbolic tensors."""
        return FUNCTIONS[self.function](*args, **kwargs)

    def compute_output_spec(self, *args: Nested, **kwargs: Nested) -> Any:
        """Infers the shapes and dtypes of the results."""
        first, second = (self._infer(size, args, kwargs) for size in _SIZES)
        structure, arrays, known = first
        tensors = [
            _symbolic_tensor(index, one, other, known, second[2])
            for index, (one, other) in enumerate(zip(arrays, second[1], strict=True))
        ]
        return keras.tree.pack_sequence_as(structure, tensors)

    def _infer(self, size: int, args: Nested, kwargs: Nested) -> tuple[Any, list[Any], Any]:
        """Calls the function on shapes, with `size` in place of unknown sizes.

        Returns:
            The structure of the results, their shapes and dtypes, and the results that depend on sizes only.
        """
        known: dict[int, Any] = {}
        given = [
            jax.ShapeDtypeStruct(_with_size(leaf.shape, size), leaf.dtype)
            for leaf in keras.tree.flatten((args, kwargs))
            if _is_array(leaf)
        ]

        def run(arrays: Sequence[jax.Array]) -> Any:
            rest = iter(arrays)

            def value(leaf: Any) -> Any:
                if _is_array(leaf):
                    return next(rest)
                return getattr(leaf, _VALUES)[size] if isinstance(leaf, _TENSOR) else leaf

            real: Any = keras.tree.map_structure(value, (args, kwargs))
            results = self.call(*real[0], **real[1])
            if any(isinstance(leaf, Selected) for leaf in keras.tree.flatten(results)):
                raise ValueError(
                    _in_a_layer(self.function, "gives as many entries as a mask takes")
                )
            for index, leaf in enumerate(keras.tree.flatten(results)):
                if isinstance(leaf, _VALUE_TYPES) and not isinstance(leaf, Tracer):
                    known[index] = np.asarray(leaf)[()]
            return results

        with writes_undone(), drawing_from(_NoStream()):
            try:
                results = jax.eval_shape(run, given)
            except _NO_VALUE_ERRORS:
                raise ValueError(
                    _in_a_layer(self.function, "asks for the value of a tensor")
                ) from None
        return results, keras.tree.flatten(results), known


def _in_a_layer(function: str, what: str) -> str:
    """Says why a functional model cannot have a function, and where to call it."""
    return (
        f"{function} {what}, but a symbolic tensor of Keras has no value: only its shape is known when a functional model is "
        "made. Call it in a layer:\n"
        "    class MyLayer(tf.keras.layers.Layer):\n"
        "        def call(self, x):\n"
        f"            return {function}(...)"
    )


def _is_array(leaf: object) -> bool:
    return isinstance(leaf, _TENSOR) and not hasattr(leaf, _VALUES)


def _with_size(shape: Sequence[int | None], size: int) -> tuple[int, ...]:
    return tuple(size if each is None else each for each in shape)


def _symbolic_tensor(
    index: int, one: Any, other: Any, known: Mapping[int, Any], other_known: Mapping[int, Any]
) -> Any:
    shape = tuple(a if a == b else None for a, b in zip(one.shape, other.shape, strict=True))
    tensor = _TENSOR(shape, keras.backend.standardize_dtype(one.dtype))
    if index in known and index in other_known:
        values = zip(_SIZES, (known[index], other_known[index]), strict=True)
        setattr(tensor, _VALUES, dict(values))
    return tensor


def record(function: str, args: Nested, kwargs: Nested) -> Any:
    """Makes a call of a function an operation of the model.

    Args:
        function: TensorFlow's name, such as `"tf.nn.relu"`.
        args: its arguments, symbolic tensors among them.
        kwargs: likewise.

    Returns:
        Symbolic tensors, in the structure that the function returns.
    """
    plain: Any = keras.tree.map_structure(_plain, (tuple(args), dict(kwargs)))
    return TensorFlowOperation(function)(*plain[0], **plain[1])


def _plain(leaf: Any) -> Any:
    """Replaces what Keras cannot save."""
    if isinstance(leaf, DType):
        return leaf.name
    return list(leaf) if isinstance(leaf, TensorShape) else leaf


# Indexing and operators: Keras has these, but it takes no symbolic sizes, nor keeps their values.


def take_item(original: Method, /, self: KerasObject, key: Any) -> Any:
    """Wraps `KerasTensor.__getitem__`: takes symbolic sizes, arrays and NumPy's integers as well."""
    items = key if isinstance(key, tuple) else (key,)
    if not hasattr(self, _VALUES) and all(map(_keras_takes, items)):
        return original(self, key)
    return record("tf.__operators__.getitem", (self, [_encoded(item) for item in items]), {})


def _keras_takes(item: object) -> bool:
    if isinstance(item, slice):
        return not has_symbolic((item.start, item.stop, item.step))
    return item is None or item is Ellipsis or type(item) is int


def _encoded(item: Any) -> Any:
    # Keras does not look for tensors in slices.
    if isinstance(item, slice):
        return {"start": item.start, "stop": item.stop, "step": item.step}
    return item


def _getitem(x: Any, items: Sequence[Any]) -> Any:
    key = [slice(*map(item.get, _SLICE)) if isinstance(item, dict) else item for item in items]
    return x[tuple(key)]


_SLICE = ("start", "stop", "step")


def _reversed(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda x, y: function(y, x)


_BINARY = ("add", "sub", "mul", "floordiv", "truediv", "mod", "pow")
OPERATORS = {
    **{name: getattr(operator, name) for name in _BINARY},
    **{f"r{name}": _reversed(getattr(operator, name)) for name in _BINARY if name != "pow"},
    "neg": operator.neg,
}
FUNCTIONS.update({f"tf.__operators__.{name}": value for name, value in OPERATORS.items()})
FUNCTIONS["tf.__operators__.getitem"] = _getitem


def operate(name: str, original: Method, /, self: KerasObject, *other: Any) -> Any:
    """Wraps an operator of `KerasTensor`: what is computed of symbolic sizes is one."""
    if any(hasattr(each, _VALUES) for each in (self, *other)):
        return record(f"tf.__operators__.{name}", (self, *other), {})
    return original(self, *other)


def stay_dense(
    compute: Method, /, self: KerasObject, x1: KerasObject, x2: KerasObject
) -> KerasObject:
    """Wraps `compute_output_spec` of products and quotients: Keras takes a number for a sparse tensor."""
    result = compute(self, x1, x2)
    if result.sparse and not any(getattr(each, "sparse", False) for each in (x1, x2)):
        return keras.KerasTensor(result._shape, dtype=result.dtype)
    return result


# What TensorFlow's tensors have.


def get_shape(self: KerasObject) -> TensorShape:
    """Returns the shape, which has TensorFlow's methods; None is a size that is not known."""
    return TensorShape(self._shape)


def set_shape(self: KerasObject, shape: ShapeLike) -> None:
    """Sets sizes that are not known yet.

    Raises:
        ValueError: the shape does not fit the sizes that are known.
    """
    sizes = list(shape) if shape is not None else list(self.shape)
    pairs = list(zip(self.shape, sizes, strict=False))
    if len(sizes) != len(self.shape) or any(
        None not in pair and len({*pair}) > 1 for pair in pairs
    ):
        raise ValueError(
            f"set_shape: the tensor {self.name!r} has shape {tuple(self.shape)}, which is not compatible "
            f"with {tuple(sizes)}. Reshape it: tf.reshape(x, shape)."
        )
    self._shape = tuple(own if size is None else size for own, size in pairs)


def infer_with_sizes(
    infer: Method, /, fn: Callable[..., Any], *args: Nested, **kwargs: Nested
) -> Any:
    """Wraps Keras's inference of shapes: a layer may draw random numbers, write variables, and compute with sizes.

    Keras puts JAX's symbols in place of sizes that are not known. Where these do not do, because the layer
    compares sizes, numbers take their place.
    """
    with writes_undone(), drawing_from(_NoStream()):
        try:
            return infer(fn, *args, **kwargs)
        except Exception:
            leaves = [leaf for leaf in keras.tree.flatten((args, kwargs)) if _is_array(leaf)]
            if not any(None in leaf.shape for leaf in leaves):
                raise
            for sizes in (_SIZES, _SMALL_SIZES):
                with contextlib.suppress(Exception):
                    first, second = (
                        infer(fn, *_sized(args, size), **_sized(kwargs, size)) for size in sizes
                    )
                    return keras.tree.map_structure(_merged, first, second)
            raise


def _sized(structure: Nested, size: int) -> Any:
    def sized(leaf: Any) -> Any:
        if not isinstance(leaf, _TENSOR):
            return leaf
        return _TENSOR(_with_size(leaf.shape, size), leaf.dtype, sparse=leaf.sparse)

    return keras.tree.map_structure(sized, structure)


def _merged(one: Any, other: Any) -> Any:
    return _symbolic_tensor(0, one, other, {}, {}) if isinstance(one, _TENSOR) else one
