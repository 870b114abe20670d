"""`Selected`: what a mask takes of an array in a program."""

import operator
from collections.abc import Callable
from typing import Any, NoReturn

import jax
import jax.numpy as jnp

from frontends.tf._user_view import as_dtype_seen
from frontends.tf.ops.convert import convert_to_tensor
from frontends.tf.selected.fitting import checked
from frontends.tf.selected.rules import evaluate
from frontends.tf.selected.selection import Marked, Selection, SelectionError, filled, unmarked
from frontends.tf.tensor_shape import TensorShape


class Selected:
    """What a mask takes of an array in a program; `tf.boolean_mask` makes it.

    Functions of `tf` and operators take it. What needs an array with a shape, such as a layer, raises an error.

    Attributes:
        marked: all entries, and which of them count.
    """

    __slots__ = ("marked",)
    # NumPy's arrays leave operators to this class.
    __array_ufunc__ = None
    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __init__(self, marked: Marked) -> None:
        """Wraps entries and marks."""
        self.marked = marked

    @property
    def shape(self) -> TensorShape:
        """Sizes of the dimensions; None for those that a mask chose from."""
        sizes = zip(self.marked.array.shape, self.marked.marks, strict=True)
        return TensorShape([size if mark is None else None for size, mark in sizes])

    @property
    def dtype(self) -> Any:
        """Type of the entries."""
        return as_dtype_seen(self.marked.array.dtype)

    @property
    def ndim(self) -> int:
        """How many dimensions there are."""
        return self.marked.array.ndim

    def get_shape(self) -> TensorShape:
        """Returns the shape."""
        return self.shape

    def __getitem__(self, key: Any) -> Any:
        return traced("x[...]", lambda x: x[key], self)

    def __jax_array__(self) -> NoReturn:
        raise SelectionError("What needs an array of fixed shape")

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise SelectionError("NumPy")

    def __len__(self) -> int:
        if self.marked.marks[0] is not None:
            raise SelectionError("len(x)")
        return self.marked.array.shape[0]

    def __bool__(self) -> NoReturn:
        raise SelectionError("bool(x)")

    def __iter__(self) -> NoReturn:
        raise SelectionError("for")

    def __repr__(self) -> str:
        return f"<tf.Tensor of selected entries: shape={self.shape}, dtype={self.dtype}>"


def traced(caller: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Calls a function of arrays on selected ones.

    Args:
        caller: what is called, for errors.
        function: of arrays; its result has no entry that depends on how many entries there are.
        *args: its arguments, among them selected arrays.
        **kwargs: likewise.

    Returns:
        What it returns; arrays that depend on selected entries are selected.

    Raises:
        SelectionError: it does what selected arrays cannot do.
    """
    leaves, structure = jax.tree.flatten((args, kwargs), is_leaf=is_selected)
    places = [place for place, leaf in enumerate(leaves) if isinstance(leaf, Selected)]

    def on_arrays(*arrays: jax.Array) -> Any:
        given = list(leaves)
        for place, array in zip(places, arrays, strict=True):
            given[place] = array
        args, kwargs = structure.unflatten(given)
        return jax.tree.map(convert_to_tensor, function(*args, **kwargs))

    values = [leaves[place].marked for place in places]
    program, shapes = jax.make_jaxpr(on_arrays, return_shape=True)(*(one.array for one in values))
    found = evaluate(caller, program.jaxpr, [*map(unmarked, program.consts)], values)
    return jax.tree.structure(shapes).unflatten(map(shown, found))


def shown(value: Marked) -> Any:
    """Returns an array, selected if a selection marks it."""
    return value.array if not any(value.marks) else Selected(Marked(value.array, value.marks))


def weights_of_entries(value: Selected) -> jax.Array:
    """Returns 1 for each entry that counts, and 0 for the others; NaN where several masks took entries that do not fit."""
    array, marks, _ = value.marked
    return filled(Marked(checked("tape.gradient", jnp.ones_like(array), marks), marks), 0)


def is_selected(value: object) -> bool:
    """Tells whether a value is what a mask took."""
    return isinstance(value, Selected)


def marks_of(value: Any) -> tuple[Selection | None, ...]:
    """Returns the selections of a value's axes."""
    return value.marked.marks if isinstance(value, Selected) else (None,) * jnp.ndim(value)


def _operator(name: str, function: Callable[..., Any]) -> None:
    def method(self: Selected, *other: Any) -> Any:
        return traced(name, function, self, *other)

    def reflected(self: Selected, other: Any) -> Any:
        return traced(name, function, other, self)

    method.__name__ = method.__qualname__ = f"__{name}__"
    setattr(Selected, f"__{name}__", method)
    if name in _ARITHMETIC:
        setattr(Selected, f"__r{name}__", reflected)


_ARITHMETIC = (
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "matmul",
    "and",
    "or",
    "xor",
)
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
for _name in (*_ARITHMETIC, *_COMPARISONS, "neg", "abs", "invert"):
    _operator(_name, getattr(operator, f"__{_name}__"))
