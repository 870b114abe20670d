"""`tf.compat.v1.placeholder`: the arguments of what a `serving_input_receiver_fn` describes.

There are no sessions to feed anything to. While an estimator is exported, its `serving_input_receiver_fn` makes placeholders,
and these are the arguments of the program that is written. It is called several times: first with zeros for placeholders, to
learn of them, and then while the program is traced, with the program's arguments.

Elsewhere a placeholder is only a description, for `build_raw_serving_input_receiver_fn`; to compute with it is an error.
"""

import contextlib
import contextvars
import dataclasses
from collections.abc import Generator, Sequence
from typing import Any, Never

import jax.numpy as jnp
import numpy as np

from frontends.tf._typing import DTypeLike, ShapeLike, TensorLike
from frontends.tf.data.one_shot import input_placeholder
from frontends.tf.dtypes import DType, as_dtype, jax_dtype
from frontends.tf.graph import current_graph
from frontends.tf.io.features import Features, FixedLenFeature, VarLenFeature
from frontends.tf.io.parsing import register_parser
from frontends.tf.ops.convert import convert_to_tensor
from frontends.tf.ops.name_scope import in_name_scope
from frontends.tf.tensor_shape import TensorShape
from spmd.assigned import assigned

_CURRENT: contextvars.ContextVar["Placeholders | None"] = contextvars.ContextVar(
    "tf_placeholders", default=None
)
# What stands for a size that is open, where nobody feeds anything yet.
_SOME_ROWS = 2


@dataclasses.dataclass(frozen=True, eq=False)
class Placeholder:
    """What was asked for.

    Attributes:
        shape: sizes; None is one that the caller chooses.
        dtype: its name; `"string"` for texts.
        default: its value if nothing is fed; None if something must be.
        value: what stands for it.
    """

    shape: tuple[int | None, ...]
    dtype: str
    default: Any
    value: Any


class Placeholders:
    """The placeholders that a function makes, in its order.

    Attributes:
        made: all of them.
        parsed: of placeholders of serialized examples, by their index: by key, the feature, and the index of what stands for it.
    """

    def __init__(self, fed: dict[int, Any] | None = None) -> None:
        """Feeds placeholders.

        Args:
            fed: values by the order in which placeholders are made; others get zeros, or their default.
        """
        self.made: list[Placeholder] = []
        self.parsed: dict[int, dict[str, tuple[Any, int]]] = {}
        self._fed = fed

    def make(self, shape: tuple[int | None, ...], dtype: str, default: Any) -> Any:
        """Makes a placeholder; returns what stands for it."""
        value = default if self._fed is None else self._fed.get(len(self.made), default)
        if value is None:
            sizes = [_SOME_ROWS if size is None else size for size in shape]
            value = _zeros(sizes, dtype)
        elif self._fed is None:  # it has as many rows as the others, which may be fed beside it
            value = _with_rows(value, shape)
        self.made.append(Placeholder(shape, dtype, default, value))
        return value

    def index_of(self, value: Any) -> int | None:
        """Returns which placeholder a value stands for; None if it was computed."""
        for index, one in enumerate(self.made):
            if one.value is value:
                return index
        return None

    def parse(self, index: int, features: Features) -> dict[str, Any]:
        """Makes placeholders of what a placeholder's examples hold; programs take that, as they cannot read examples.

        Args:
            index: of the placeholder.
            features: what to read, by key.

        Raises:
            NotImplementedError: a feature is neither a `FixedLenFeature` nor a `VarLenFeature`.
        """
        rows = self.made[index].shape[:1]
        found: dict[str, Any] = {}
        self.parsed[index] = {}
        for key, feature in features.items():
            if isinstance(feature, FixedLenFeature):
                shape = (*rows, *TensorShape(feature.shape))
            elif isinstance(feature, VarLenFeature):
                shape = (*rows, None)
            else:
                raise NotImplementedError(
                    f"An exported program reads FixedLenFeature and VarLenFeature of examples, but {key!r} is {feature!r}. Read it "
                    "as a tf.io.VarLenFeature."
                )
            self.parsed[index][key] = feature, len(self.made)
            found[key] = self.make(shape, _name(feature.dtype), None)
        return found

    @contextlib.contextmanager
    def as_current(self) -> Generator["Placeholders"]:
        """Lets a block make placeholders."""
        with assigned(_CURRENT, self):
            yield self


class UnfedPlaceholder:
    """A placeholder outside of what is exported: a shape and a dtype, and nothing to compute with.

    Attributes:
        shape: sizes; None is one that is open.
        dtype: of its elements.
        name: as given.
    """

    def __init__(self, shape: TensorShape, dtype: DType, name: str | None) -> None:
        """Describes it."""
        self.shape, self.dtype, self.name = shape, dtype, name

    def get_shape(self) -> TensorShape:
        """Returns the shape."""
        return self.shape

    def __repr__(self) -> str:
        return f"<tf.placeholder {self.name!r} shape={self.shape} dtype={self.dtype.name}>"


def _refuse(placeholder: UnfedPlaceholder, *args: object, **kwargs: object) -> Never:
    raise RuntimeError(
        f"{placeholder!r} is computed with, but there is no session to feed it. Give the function a parameter in its place; "
        "only what a serving_input_receiver_fn makes is fed, when an estimator is exported."
    )


for _operator in (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor"),
    *("neg", "abs", "invert", "lt", "le", "gt", "ge", "getitem", "iter", "len", "bool"),
    *("float", "int", "array", "jax_array"),
):
    setattr(UnfedPlaceholder, f"__{_operator}__", _refuse)
    setattr(UnfedPlaceholder, f"__r{_operator}__", _refuse)


def _parsed(value: Any, features: Features) -> dict[str, Any] | None:
    """Makes placeholders of what the examples of a placeholder hold; None, if the value is no placeholder."""
    current = _CURRENT.get()
    index = None if current is None else current.index_of(value)
    return None if current is None or index is None else current.parse(index, features)


register_parser(_parsed)


def placeholder(dtype: DTypeLike, shape: ShapeLike = None, name: str | None = None) -> Any:
    """Makes an argument of the program that an estimator exports.

    Args:
        dtype: of its elements; texts stand for themselves only in comparisons and feature columns.
        shape: sizes; None is one that the caller of the program chooses.

    Returns:
        What stands for the argument; in an `input_fn` the array that a hook feeds when it runs the initializer of an iterator.
        Elsewhere a description, which `build_raw_serving_input_receiver_fn` takes; to compute with it is a `RuntimeError`.

    Raises:
        RuntimeError: it is called in a model function.
        ValueError: even the number of dimensions of an argument is open.

    Source: `tf.compat.v1.placeholder`.
    """
    sizes = TensorShape(shape)
    if _CURRENT.get() is None and current_graph() is None:
        of_input = input_placeholder(None if sizes.rank is None else tuple(sizes), _name(dtype))
        return UnfedPlaceholder(sizes, as_dtype(dtype), name) if of_input is None else of_input
    current = _current("tf.placeholder")
    if sizes.rank is None:
        raise ValueError(
            f"A placeholder of an exported program needs a shape, but tf.placeholder({as_dtype(dtype).name}) has none. Write "
            "None for each size that is open: tf.placeholder(tf.float32, [None, 2])."
        )
    return current.make(tuple(sizes), _name(dtype), None)


def placeholder_with_default(input: TensorLike, shape: ShapeLike, name: str | None = None) -> Any:
    """Makes an argument that has a value if it is none of the program's inputs; see `placeholder`.

    Args:
        input: the value.
        shape: see `placeholder`.

    Returns:
        What stands for the argument; elsewhere than in a `serving_input_receiver_fn`, where nobody feeds it, the value.

    Raises:
        ValueError: the value has another shape.

    Source: `tf.compat.v1.placeholder_with_default`.
    """
    default = convert_to_tensor(input)
    sizes = TensorShape(shape)
    if not sizes.is_compatible_with(default.shape):
        raise ValueError(
            f"The default of shape {tuple(default.shape)} does not fit tf.placeholder_with_default(..., shape={sizes})."
        )
    current = _CURRENT.get()
    if current is None:
        graph = current_graph()
        return (
            default
            if graph is None
            else graph.named(default, in_name_scope(name or "PlaceholderWithDefault"))
        )
    found, kind = tuple(default.shape) if sizes.rank is None else tuple(sizes), _name(default.dtype)
    return current.make(found, kind, _texts(default) if kind == "string" else default)


def _current(name: str) -> Placeholders:
    found = _CURRENT.get()
    if found is None:
        raise RuntimeError(
            f"{name} was called, but there is no session to feed it: only a serving_input_receiver_fn makes placeholders, "
            "which Estimator.export_saved_model and exporters call. Give the function a parameter in its place; a model "
            "function gets features, labels and params."
        )
    return found


def _name(dtype: DTypeLike) -> str:
    name = as_dtype(dtype).name
    return name if name == "string" else jax_dtype(dtype).name


def _zeros(sizes: Sequence[int], dtype: str) -> Any:
    return _texts(np.full(sizes, "")) if dtype == "string" else jnp.zeros(tuple(sizes), dtype)


def _with_rows(value: Any, shape: tuple[int | None, ...]) -> Any:
    """Repeats what there is one of where the size is open."""
    for axis, size in enumerate(shape):
        if size is None and value.shape[axis] == 1:
            repeated = jnp.repeat(getattr(value, "words", value), _SOME_ROWS, axis)
            value = type(value)(repeated) if hasattr(value, "words") else repeated
    return value


def _texts(values: Any) -> Any:
    """Makes what stands for texts in a program."""
    # Feature columns import names of this package.
    from frontends.tf.feature_column.texts import Texts

    return Texts.of(values)
