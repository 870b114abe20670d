"""Elements: NumPy values, or tuples, dicts and nested structures of them.

**Component**: one leaf of an element. A `numpy.ndarray`, a NumPy scalar for rank 0, or a Python
`bytes` object (NumPy's own bytes type drops trailing zeros) or other object, kept as it is. A list is
not structure but one component, an array.

**Batch**: an element whose every component has one more axis in front, of the same length.
"""

import itertools
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar, runtime_checkable

import jax
import numpy as np

from spmd.input.batch import integers_fit
from spmd.typing import ArrayLike, PyTree

T = TypeVar("T")

# One component, or nested tuples and dicts of them.
Element: TypeAlias = Any
# A NumPy array or scalar, or another Python object.
Component: TypeAlias = Any
# An element whose components have rows.
Batch: TypeAlias = Any


@runtime_checkable
class Stackable(Protocol):
    """A component of another kind that knows what a batch of such components is."""

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        ...

    @property
    def row_count(self) -> int:
        """Of a batch, how many components are in it."""
        ...

    def stacked(self, others: "Sequence[Any]") -> Any:
        """Returns a batch of this component and others."""
        ...

    def rows(self) -> "Sequence[Any]":
        """Returns the components of a batch."""
        ...

    def described(self) -> tuple[type, tuple[int | None, ...], np.dtype, int]:
        """Returns the class of a batch of them, its sizes that do not vary, its dtype, and how often components were stacked to it."""
        ...


_NUMPY = (np.ndarray, np.generic)
# Scalars of one class that may differ in units or fields.
_OF_MANY_DTYPES = (np.datetime64, np.timedelta64, np.void)
# Which classes of components are stackable.
_KNOWN_STACKABLE: dict[type, bool] = dict.fromkeys((np.ndarray, bytes, str), False)
_MOST_KINDS = 256
# Arrays of so many bytes get fresh memory from the system.
_LARGE = 2**16
_NARROW: dict[type, tuple[type, type]] = {
    int: (np.int64, np.int32),
    float: (np.float64, np.float32),
}


def to_element(value: PyTree, *, narrow: bool = True) -> Element:
    """Converts a structure of array-likes to an element.

    Args:
        value: NumPy values keep their dtype; a list becomes an array.
        narrow: Give Python numbers 32 bits (64 where an integer needs them).

    Raises:
        ValueError: A list whose items have different lengths.
    """
    return _map_leaves(lambda leaf: _to_component(leaf, narrow), value, leaf_lists=True)


def canonicalize(element: Element) -> Element:
    """Gives every number of `element` the dtype that JAX would give it.

    Raises:
        OverflowError: An integer does not fit in 32 bits while JAX's 64-bit types are off.
    """
    return _map_leaves(_canonical_component, element)


def result_element(value: PyTree) -> Element:
    """Converts what a function returned; as `to_element` and `canonicalize`, in one pass."""
    return _map_leaves(_result_component, value, leaf_lists=True)


def _map_leaves(
    function: Callable[[Any], Any], value: PyTree, *, leaf_lists: bool = False
) -> PyTree:
    """Does what `jax.tree.map` does, without its costs for the few leaves that elements have.

    Args:
        function: takes a leaf.
        value: the structure.
        leaf_lists: whether a list is a leaf.
    """
    kind = type(value)
    if issubclass(kind, np.ndarray | np.generic | bytes):
        return function(value)
    if kind is tuple:
        return tuple([_map_leaves(function, each, leaf_lists=leaf_lists) for each in value])
    if kind is dict and all(type(key) is str for key in value):
        return {
            key: _map_leaves(function, value[key], leaf_lists=leaf_lists) for key in sorted(value)
        }
    is_leaf = (lambda node: isinstance(node, list)) if leaf_lists else None
    return jax.tree.map(function, value, is_leaf=is_leaf)


def fits_jax(component: Component) -> bool:
    """Tells whether JAX can hold a component: numbers, of which integers fit their new dtype."""
    dtype = dtype_of(component)
    return dtype.kind not in "OSUMm" and integers_fit(component, jax_dtype(dtype))


def jax_dtype(dtype: np.dtype) -> np.dtype:
    """Returns the dtype that JAX gives a NumPy `dtype`: at most 32 bits a number, or 64 if set so."""
    if dtype.itemsize < 8 or dtype.kind not in "iufc":  # asking JAX takes longer
        return dtype
    return jax.dtypes.canonicalize_dtype(dtype)


def writable(element: Element) -> Element:
    """Copies the arrays of `element` that must not be written to (a cache's, or JAX's own)."""
    return _with_arrays(lambda array: array if array.flags.writeable else array.copy(), element)


def snapshot(element: Element) -> Element:
    """Copies an element for a cache: a write to the copy raises instead of changing the cache."""
    return _with_arrays(_locked_copy, element)


def owned(element: Element) -> Element:
    """Copies an element whose arrays their producer may overwrite."""
    return _with_arrays(np.ndarray.copy, element)


def first_rows(batch: Batch, count: int) -> Batch:
    """Returns the first rows of a batch, as views of it."""
    return jax.tree.map(lambda leaf: leaf[:count], batch)


def apply(function: Callable[..., T], element: Element) -> T:
    """Calls `function` with a tuple's items as its arguments, or with the element as it is."""
    return function(*element) if type(element) is tuple else function(element)


def can_stack(elements: Sequence[Element]) -> bool:
    """Tells whether the elements have equal structures, and components of equal shapes and dtypes."""
    first = _signature(elements[0])
    return all(_signature(element) == first for element in elements[1:])


def stack(elements: Sequence[Element]) -> Batch:
    """Makes a batch of elements.

    Args:
        elements: At least one; component i of each has the same shape and dtype.

    Returns:
        One element, whose components have shape ``[len(elements), ...]``.

    Raises:
        TypeError: The elements differ in structure, or a component in dtype.
        ValueError: A component differs in shape.
    """
    if all(
        type(element) is bytes for element in elements
    ):  # records: asking for structures takes longer
        return _stack_component(elements)
    rows, structures = zip(*map(jax.tree.flatten, elements), strict=True)
    columns = list(zip(*rows, strict=False))
    if any(other != structures[0] for other in structures) or not all(map(_is_alike, columns)):
        raise _stack_error(elements)
    return jax.tree.unflatten(structures[0], [_stack_component(column) for column in columns])


def stack_as_made(elements: Iterator[Element], count: int) -> Batch:
    """Makes a batch of elements that are made one after the other.

    Large ones are copied at once, while caches hold them, and the memory of one serves for the next: fresh memory for
    each costs more than copying.

    Args:
        elements: as for `stack`.
        count: how many there are.

    Raises:
        TypeError: as for `stack`.
        ValueError: as for `stack`.
    """
    first = next(elements)
    leaves, structure = jax.tree.flatten(first)
    if not any(isinstance(leaf, np.ndarray) and leaf.nbytes >= _LARGE for leaf in leaves):
        return stack([first, *elements])
    signature = _signature(first)
    columns: list[Any] = [
        np.empty((count, *leaf.shape), leaf.dtype) if _is_numbers(leaf) else [None] * count
        for leaf in leaves
    ]
    for number, element in enumerate(itertools.chain([first], elements)):
        if _signature(element) != signature:
            raise _stack_error([first] * number + [element])
        for column, leaf in zip(columns, jax.tree.leaves(element), strict=True):
            column[number] = leaf
    made = [_stack_component(each) if isinstance(each, list) else each for each in columns]
    return jax.tree.unflatten(structure, made)


def _is_numbers(leaf: Component) -> bool:
    return isinstance(leaf, _NUMPY) and leaf.dtype.kind not in "OSU" and not is_stackable(leaf)


def split(batch: Batch) -> Iterator[Element]:
    """Yields the rows of a batch, as views of it."""
    leaves, structure = jax.tree.flatten(batch)
    leaves = [leaf.rows() if is_stackable(leaf) else leaf for leaf in leaves]
    for row in zip(*leaves, strict=True):
        yield jax.tree.unflatten(structure, row)


def unbatched(batches: Iterator[Batch]) -> Iterator[Element]:
    """Yields the rows of every batch.

    Raises:
        ValueError: A component has no axis to take rows from, or two of them differ in length.
    """
    for batch in batches:
        leading_length(batch, "unbatch", "leave unbatch() out: the elements are not batches")
        yield from split(batch)


def leading_length(batch: Batch, op_name: str, scalar_fix: str) -> int:
    """Returns the length of the first axis of every component.

    Args:
        batch: An element.
        op_name: The operation that asks, for the errors.
        scalar_fix: What to do about a component without axes, for the error.

    Raises:
        ValueError: There is no component, one is a scalar, or two of them differ in length.
    """
    leaves = jax.tree.leaves(batch)
    if not leaves:
        raise ValueError(f"{op_name}: expected at least one array, got {batch!r}.")
    shapes = [(leaf.row_count,) if is_stackable(leaf) else np.shape(leaf) for leaf in leaves]
    for number, shape in enumerate(shapes):
        if not shape:
            raise ValueError(
                f"{op_name}: every component needs a first axis to take rows from, and "
                f"{component_names(batch)[number]} is a scalar ({leaves[number]!r}).\n"
                f"Fix: {scalar_fix}."
            )
        if shape[0] != shapes[0][0]:
            names = component_names(batch)
            raise ValueError(
                f"{op_name}: every component needs the same number of rows: {names[0]} has "
                f"{shapes[0][0]} (shape {shapes[0]}), {names[number]} has {shape[0]} "
                f"(shape {shape}).\nFix: slice both to {min(shapes[0][0], shape[0])} rows."
            )
    return shapes[0][0]


def component_names(element: Element) -> list[str]:
    """Returns a name for every component: its path, such as ``['image']`` or ``[0]``."""
    paths = jax.tree_util.tree_leaves_with_path(element)
    return [jax.tree_util.keystr(path) or "the element" for path, _ in paths]


def is_stackable(component: Component) -> bool:
    """Tells whether a component is a `Stackable`; an array of NumPy's own is none."""
    kind = type(component)
    is_one = _KNOWN_STACKABLE.get(kind)  # another thread may clear the table
    if is_one is None:  # asking for the protocol costs more than the rest of a map
        is_one = not issubclass(kind, np.generic) and isinstance(component, Stackable)
        if len(_KNOWN_STACKABLE) >= _MOST_KINDS:
            _KNOWN_STACKABLE.clear()
        _KNOWN_STACKABLE[kind] = is_one
    return is_one


def dtype_of(component: Component) -> np.dtype:
    """Returns a component's dtype: `object` for what is not a NumPy value."""
    return component.dtype if isinstance(component, _NUMPY) else np.dtype(object)


def _result_component(value: ArrayLike) -> Component:
    return _canonical_component(_to_component(value, narrow=False))


def _to_component(value: ArrayLike, narrow: bool) -> Component:
    if isinstance(value, bytes) and type(value) is not np.bytes_:
        return bytes(value)
    if is_stackable(value) and not isinstance(value, np.ndarray):
        return value
    if isinstance(value, _NUMPY):
        return np.asarray(value)[()] if isinstance(value, np.ndarray) else value
    sample = _first_scalar(value)
    is_bytes = isinstance(sample, bytes) and not isinstance(sample, np.generic)
    array = np.asarray(value, dtype=object if is_bytes else None)
    wide, small = _NARROW.get(type(sample), (None, None))
    if narrow and array.dtype == wide and integers_fit(array, np.dtype(small)):
        array = array.astype(small)
    return array[()]


def _first_scalar(value: ArrayLike) -> ArrayLike:
    while isinstance(value, list | tuple) and value:
        value = value[0]
    return value


def _canonical_component(leaf: Component) -> Component:
    dtype = jax_dtype(dtype_of(leaf))
    if dtype == dtype_of(leaf):
        return leaf
    if not integers_fit(leaf, dtype):
        raise OverflowError(
            f"map: the function returned {leaf.dtype} values from {leaf.min()} to {leaf.max()}, "
            f"which do not fit in {dtype}, and JAX's 64-bit types are off.\n"
            'Fix: jax.config.update("jax_enable_x64", True), or keep the large numbers out of '
            "what map functions return."
        )
    return leaf.astype(dtype)


def _with_arrays(function: Callable[[np.ndarray], np.ndarray], element: Element) -> Element:
    return _map_leaves(
        lambda leaf: function(leaf) if isinstance(leaf, np.ndarray) else leaf, element
    )


def _locked_copy(array: np.ndarray) -> np.ndarray:
    array = array.copy()
    array.setflags(write=False)
    return array


def _signature(element: Element) -> tuple[Any, ...]:
    leaves, structure = jax.tree.flatten(element)
    return structure, *((_shape_class(leaf), _dtype_class(leaf)) for leaf in leaves)


def _is_alike(column: Sequence[Component]) -> bool:
    """Tells whether components can be stacked."""
    first = column[0]
    kind = type(first)
    if kind is bytes or issubclass(kind, np.generic):
        if not issubclass(kind, _OF_MANY_DTYPES) and all(type(other) is kind for other in column):
            return True
    elif kind is np.ndarray:
        shape, dtype = first.shape, first.dtype
        if all(
            type(other) is kind and other.shape == shape and other.dtype == dtype
            for other in column
        ):
            return True
    alike = _shape_class(first), _dtype_class(first)
    return all((_shape_class(other), _dtype_class(other)) == alike for other in column)


def _shape_class(leaf: Component) -> Hashable:
    """Returns what must be equal for two components to stack, beside `_dtype_class`."""
    if isinstance(leaf, bytes):  # NumPy takes subclasses of bytes for numbers
        return ()
    return (type(leaf), leaf.ndim) if is_stackable(leaf) else np.shape(leaf)


def _dtype_class(leaf: Component) -> Hashable:
    """Returns what must be equal for two components to stack: text may have any length."""
    dtype = dtype_of(leaf)
    return "text" if dtype.kind in "US" else dtype


def _stack_component(leaves: Sequence[Component]) -> np.ndarray:
    if is_stackable(leaves[0]):
        return leaves[0].stacked(leaves[1:])
    if isinstance(leaves[0], np.generic) and leaves[0].dtype.kind not in "SU":
        return np.array(list(leaves), leaves[0].dtype)  # a tuple would be one structured value
    if isinstance(leaves[0], _NUMPY):
        return np.stack(leaves)
    objects = np.empty(len(leaves), dtype=object)  # np.array would look inside the objects
    objects[:] = leaves
    return objects


def _stack_error(elements: Sequence[Element]) -> Exception:
    first, *others = map(_signature, elements)
    number, other = next(pair for pair in enumerate(others, 1) if pair[1] != first)
    if other[0] != first[0]:
        return TypeError(
            f"batch: cannot stack elements of different structures: element 0 of the batch is "
            f"{first[0]}, element {number} is {other[0]}.\n"
            "Fix: return the same tuple or dict keys for every element."
        )
    name, (shape, dtype), (other_shape, other_dtype) = next(
        triple
        for triple in zip(component_names(elements[0]), first[1:], other[1:], strict=True)
        if triple[1] != triple[2]
    )
    if shape != other_shape:
        return ValueError(
            f"batch: cannot stack {name}: shape {shape} in element 0 of the batch, "
            f"{other_shape} in element {number}.\n"
            "Fix: resize or pad it in a map() before batch()."
        )
    return TypeError(
        f"batch: cannot stack {name}: dtype {dtype} in element 0 of the batch, {other_dtype} in "
        f"element {number}.\nFix: convert it to one dtype in a map() before batch()."
    )
