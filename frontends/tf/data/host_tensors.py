"""Elements of datasets, as scripts take them out: NumPy's arrays and scalars that have a tensor's methods.

`for image, label in dataset: image.numpy()` works in TensorFlow, whose eager tensors come out of a dataset. Here
elements stay in host memory until a step takes them. They are NumPy's, of subclasses that add methods and change none.
"""

import functools
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax.core import Tracer

from frontends.tf._typing import Nested, ShapeLike
from frontends.tf._user_view import as_dtype_seen, as_shape_seen, seen_by_users
from frontends.tf.data.tracing import in_map_on_host
from frontends.tf.reference import Reference
from frontends.tf.tensor_shape import TensorShape


class _TensorMethods:
    """The methods of tensors, for classes of NumPy."""

    __slots__ = ()

    def numpy(self) -> Any:
        """Returns NumPy's own array, a copy, or scalar."""
        return np.array(self)[()]

    def get_shape(self) -> TensorShape:
        """Returns the shape."""
        return as_shape_seen(np.shape(self))  # type: ignore[arg-type]

    def set_shape(self, shape: ShapeLike) -> None:
        """Raises ValueError if the shape is another one; see `set_shape` of arrays."""
        if not self.get_shape().is_compatible_with(shape):
            raise ValueError(
                f"Tensor's shape {self.get_shape()} is not compatible with supplied shape {TensorShape(shape)}."
            )

    def ref(self) -> Reference:
        """Returns an object that stands for this one in sets and dictionaries."""
        return Reference(self)


_SHAPE: Any = np.ndarray.__dict__["shape"]
_DTYPE: Any = np.ndarray.__dict__["dtype"]


class HostTensor(_TensorMethods, np.ndarray):
    """An array of NumPy with a tensor's methods."""

    shape = seen_by_users(
        _SHAPE.__get__, lambda self: as_shape_seen(_SHAPE.__get__(self)), "Sizes of the dimensions."
    ).setter(lambda self, shape: _SHAPE.__set__(self, shape))
    dtype = seen_by_users(
        _DTYPE.__get__, lambda self: as_dtype_seen(_DTYPE.__get__(self)), "Type of the elements."
    ).setter(lambda self, dtype: _DTYPE.__set__(self, dtype))

    def numpy(self) -> Any:
        """Returns NumPy's own array, a copy, or scalar; texts as bytes."""
        array = np.array(self)
        return np.char.encode(array).astype(object)[()] if array.dtype.kind == "U" else array[()]

    def __getitem__(self, index: Any) -> Any:
        return as_tensors(np.ndarray.__getitem__(self, index))

    def __eq__(self, other: Any) -> Any:
        return _compared(self, other, "__eq__")

    def __ne__(self, other: Any) -> Any:
        return _compared(self, other, "__ne__")

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __repr__(self) -> str:
        return repr(self.view(np.ndarray))


def _operator(name: str) -> Callable[[HostTensor, Any], Any]:
    """Makes an operator of NumPy, which in a map function that runs on elements takes arrays of JAX as NumPy's."""
    operate = getattr(np.ndarray, name)

    @functools.wraps(operate)
    def call(self: HostTensor, other: Any) -> Any:
        if isinstance(other, jax.Array) and not isinstance(other, Tracer) and in_map_on_host():
            other = np.asarray(other)
        return operate(self, other)

    return call


def _assigning(name: str) -> Callable[[HostTensor, Any], Any]:
    """Makes an operator such as `+=` give another array in a map function, as of tensors: other names keep the former one."""
    operate = getattr(np.ndarray, f"__i{name}__")

    @functools.wraps(operate)
    def call(self: HostTensor, other: Any) -> Any:
        if in_map_on_host():
            return getattr(self, f"__{name}__")(other)
        return operate(self, other)

    return call


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"):
    for _method in (f"__{_name}__", f"__r{_name}__"):
        setattr(HostTensor, _method, _operator(_method))
    setattr(HostTensor, f"__i{_name}__", _assigning(_name))
for _name in ("lt", "le", "gt", "ge"):
    setattr(HostTensor, f"__{_name}__", _operator(f"__{_name}__"))


def _compared(array: HostTensor, other: Any, method: str) -> Any:
    """Compares arrays; texts of Python's are those of bytes, as in TensorFlow."""
    if np.ndarray.dtype.__get__(array).kind in "OSU":
        other = _in_bytes(np.asarray(other))
        array = _in_bytes(np.asarray(array)).view(HostTensor)
    return getattr(np.ndarray, method)(array, other)


def _in_bytes(array: np.ndarray) -> np.ndarray:
    texts = array.astype(object)
    if array.dtype.kind == "U" or any(isinstance(one, str) for one in texts.flat):
        for index, one in np.ndenumerate(texts):
            texts[index] = one.encode() if isinstance(one, str) else one
    return texts


def _scalar(kind: type[Any], plain: Callable[[Any], Any] | None = None) -> type[Any]:
    """Makes the subclass of a class of NumPy's scalars, whose `shape` and `dtype` NumPy reads itself."""
    # With one base: NumPy takes the dtype from the second class of the `__mro__`.
    methods = {
        "ref": _TensorMethods.ref,
        "set_shape": _TensorMethods.set_shape,
        "__module__": __name__,
        "__repr__": lambda self: repr(kind(self)),
        "__slots__": (),
        "get_shape": lambda _: as_shape_seen(()),
        "numpy": plain or (lambda self: kind(self)),
    }
    return type(kind.__name__, (kind,), methods)


class Text(_TensorMethods, bytes):
    """A text that ends with a zero, with a tensor's methods; `_NumpyText` stands for all others."""

    def numpy(self) -> bytes:
        """Returns Python's own bytes."""
        return bytes(self)

    def __eq__(self, other: object) -> Any:
        return _same_text(self, other)

    def __ne__(self, other: object) -> Any:
        return _other_text(self, other)

    __hash__ = bytes.__hash__


def _same_text(text: bytes, other: Any) -> Any:
    """Compares a text; Python's are those of bytes, as in TensorFlow."""
    if isinstance(other, str | bytes):
        given = other.encode() if isinstance(other, str) else bytes(other)
        return np.bool_(bytes(text) == given)
    return NotImplemented


def _other_text(text: bytes, other: Any) -> Any:
    same = _same_text(text, other)
    return same if same is NotImplemented else ~same


def _as_text(text: bytes) -> Any:
    # NumPy reads no subclass of bytes but its own, whose zeros at the end it drops where it reads them.
    return Text(text) if text.endswith(b"\0") else _NumpyText(text)


_NumpyText: Any = _scalar(np.bytes_, lambda text: bytes(text))
_NumpyText.__eq__, _NumpyText.__ne__ = _same_text, _other_text
_NumpyText.__hash__ = bytes.__hash__
_NumpyText.__repr__ = lambda text: repr(bytes(text))

_KINDS = (
    *(np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64),
    *(np.float16, np.float32, np.float64, np.complex64, np.complex128),
)
# How an object of a class gets a tensor's methods.
_WRAPPERS: dict[type, Callable[[Any], Any]] = {
    np.ndarray: lambda array: array.view(HostTensor),
    # NumPy has no subclasses of its booleans.
    np.bool_: lambda flag: np.asarray(flag).view(HostTensor),
    bytes: _as_text,
    # TensorFlow's texts are bytes.
    np.str_: _scalar(np.str_, lambda text: str(text).encode()),
    **{kind: _scalar(kind) for kind in _KINDS},
}


_SCALARS = {_NumpyText, *(made for made in _WRAPPERS.values() if isinstance(made, type))}


def is_host_tensor_class(kind: type) -> bool:
    """Tells whether a class is one of those that `as_tensors` gives.

    Examples:
        >>> is_host_tensor_class(type(as_tensors(np.float32(1)))), is_host_tensor_class(np.float32)
        (True, False)
    """
    return issubclass(kind, _TensorMethods) or kind in _SCALARS


def has_texts(tree: Nested) -> bool:
    """Tells whether a text, or an array of texts, is in tuples, lists and dicts. Python's `str` and `bytes` are none.

    Examples:
        >>> has_texts(("mean", {"name": as_tensors(b"a")})), has_texts([b"a", np.zeros(3)])
        (True, False)
    """
    if isinstance(tree, tuple | list):
        return any(map(has_texts, tree))
    if isinstance(tree, dict):
        return any(map(has_texts, tree.values()))
    if isinstance(tree, np.ndarray):
        return _DTYPE.__get__(tree).kind in "OSU"
    return isinstance(tree, np.bytes_ | np.str_ | Text)


def as_tensors(element: Nested) -> Any:
    """Gives a tensor's methods to what is in an element of a dataset.

    Args:
        element: arrays and scalars of NumPy, bytes and other objects, or structures of them.

    Returns:
        The element; objects of other classes, such as datasets, as they are.

    Examples:
        >>> image, label = as_tensors((np.zeros((28, 28)), np.int64(3)))
        >>> image.get_shape().as_list(), label.numpy()
        ([28, 28], np.int64(3))
    """
    kind = type(element)
    if kind is tuple:
        return tuple(map(as_tensors, element))
    if kind is dict:
        return {name: as_tensors(value) for name, value in element.items()}
    wrapper = _WRAPPERS.get(kind)
    if wrapper is not None:
        return wrapper(element)
    if jax.tree_util.all_leaves([element]):
        return element
    return jax.tree.map(as_tensors, element, is_leaf=lambda node: type(node) in _WRAPPERS)
