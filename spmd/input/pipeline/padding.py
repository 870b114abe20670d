"""Batches of elements of different sizes, padded to equal ones."""

from collections.abc import Sequence
from typing import Any, final

import jax
import numpy as np

from spmd.input.pipeline.element import Batch, Component, Element, component_names, stack
from spmd.input.pipeline.spec import ArraySpec, PartialShape, Specs
from spmd.typing import ArrayLike, PyTree, Structure


@final
class Padding:
    """What components are padded to, and with what.

    Args:
        shapes: The structure of an element with a shape at each leaf, in which None or -1 stands for
            the largest size in the batch; None for that in all axes.
        values: The structure of an element with a scalar or None at each leaf; or one scalar for all
            components; None for zeros and empty text.
    """

    def __init__(self, shapes: PyTree, values: PyTree) -> None:
        self._shapes, self._values = shapes, values

    def stack(self, rows: Sequence[Element]) -> Batch:
        """Makes a padded batch of elements.

        Raises:
            TypeError: The elements differ in structure, a component in dtype, or a value to pad with
                does not fit the component's dtype.
            ValueError: A component does not fit its padded shape.
        """
        leaves, structure = jax.tree.flatten(rows[0])
        if any(jax.tree.structure(row) != structure for row in rows):
            return stack(rows)  # which says what is wrong
        columns = list(zip(*map(jax.tree.leaves, rows), strict=True))
        shapes = self._per_component(structure, self._shapes, "padded_shapes")
        names = component_names(rows[0])
        if jax.tree_util.all_leaves([self._values]):
            values = [self._values] * len(leaves)
        else:
            values = self._per_component(structure, self._values, "padding_values")
        return structure.unflatten(
            [_padded(*each) for each in zip(names, columns, shapes, values, strict=True)]
        )

    def spec(self, spec: Specs, rows: int | None, exact: bool) -> Specs:
        """Returns the specs of batches.

        Args:
            spec: The specs of the elements.
            rows: The rows of every batch; None if the last one may be shorter.
            exact: Sizes in `spec` are those of all elements.
        """
        leaves, structure = jax.tree.flatten(spec)
        shapes = self._per_component(structure, self._shapes, "padded_shapes")

        def padded(leaf: ArraySpec, shape: PartialShape) -> ArraySpec:
            if shape is None:
                known = leaf.shape
                if known is not None and not exact:
                    known = (None,) * len(known)
            else:
                known = tuple(None if size in (None, -1) else size for size in shape)
            return ArraySpec(None if known is None else (rows, *known), leaf.dtype)

        return structure.unflatten(map(padded, leaves, shapes))

    @staticmethod
    def _per_component(structure: Structure, given: PyTree, name: str) -> list[Any]:
        if given is None:
            return [None] * structure.num_leaves
        try:
            return structure.flatten_up_to(given)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"padded_batch: {name} must have the structure of an element, {structure}, got "
                f"{given!r}.\nFix: one entry for each component, None for the default."
            ) from error


def _padded(
    name: str, column: Sequence[Component], shape: PartialShape, value: ArrayLike
) -> np.ndarray:
    arrays = [np.asarray(leaf, object if isinstance(leaf, bytes) else None) for leaf in column]
    dtype = _common_dtype(name, arrays)
    ranks = {array.ndim for array in arrays}
    if len(ranks) > 1 or (shape is not None and {len(shape)} != ranks):
        raise ValueError(
            f"padded_batch: {name} has {sorted(ranks)} axes, and is padded to "
            f"{'the longest of the batch' if shape is None else shape}.\n"
            "Fix: padded_shapes needs as many sizes as the component has axes, in every element."
        )
    longest = np.max([array.shape for array in arrays], axis=0).astype(int).tolist()
    wanted = [None] * len(longest) if shape is None else list(shape)
    sizes = [
        most if size in (None, -1) else int(size)
        for most, size in zip(longest, wanted, strict=True)
    ]
    if any(most > size for most, size in zip(longest, sizes, strict=True)):
        raise ValueError(
            f"padded_batch: {name} is up to {tuple(longest)} large, more than the padded shape "
            f"{tuple(sizes)}.\nFix: a larger padded_shapes, or None to pad to the longest."
        )
    if not sizes:
        return stack(column)
    if value is not None and dtype.kind in "US":
        dtype = np.result_type(dtype, np.asarray(value).dtype)
    batch = np.full((len(arrays), *sizes), _fill(name, value, arrays[0], dtype), dtype)
    for row, array in zip(batch, arrays, strict=True):
        row[tuple(map(slice, array.shape))] = array
    return batch


def _common_dtype(name: str, arrays: Sequence[np.ndarray]) -> np.dtype:
    first = arrays[0].dtype
    for array in arrays:
        if array.dtype != first and not {array.dtype.kind, first.kind} <= set("US"):
            raise TypeError(
                f"padded_batch: {name} is {first} in one element and {array.dtype} in another.\n"
                "Fix: convert it to one dtype in a map() before padded_batch()."
            )
    return np.result_type(*{array.dtype for array in arrays})


def _fill(name: str, value: ArrayLike, sample: np.ndarray, dtype: np.dtype) -> Component:
    if value is None:
        if dtype.kind == "O":
            return type(sample.flat[0])() if sample.size else b""
        return np.zeros((), dtype)[()]
    fill = np.asarray(value)
    if dtype.kind not in "OUS":
        with np.errstate(all="ignore"):
            fill = fill.astype(dtype)
        if dtype.kind in "biu" and fill != value:
            raise TypeError(
                f"padded_batch: {name} is {dtype}, and cannot be padded with {value!r}.\n"
                "Fix: another value, or map() the component to a dtype that holds it."
            )
    return fill[()] if dtype.kind != "O" else value
