"""The last map functions of a dataset, taken apart from it for the devices to apply.

`map(scale)` makes floats out of bytes, so that four times as much would travel to a GPU. Where a pipeline ends with
functions of single rows that make them larger, and with `batch`, devices can apply these functions to the
rows that they got.
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax.extend.core import Var

from frontends.tf.data import spec as specs
from frontends.tf.data.cpu import call_on_cpu
from frontends.tf.data.forms import Form
from frontends.tf.data.lazy import Lazy
from frontends.tf.data.map_function import MapFunction
from frontends.tf.data.row_sources import MappedSource, RowSource, row_bytes
from frontends.tf.data.steps import Gather
from frontends.tf.data.stream import Stream


def without_last_maps(dataset: Any) -> tuple[Any, Callable[[Any], Any]]:
    """Takes the functions off that make a dataset's rows larger; reads and traces nothing yet.

    Args:
        dataset: a `Dataset`.

    Returns:
        A dataset, and a function of its batches whose results are those of the given one. Where there is
        nothing to be gained the dataset is as the given one, and the function returns what it gets.

    Examples:
        >>> import numpy as np
        >>> from frontends.tf.data import Dataset
        >>> pixels = Dataset.from_tensor_slices(np.array([[0, 255]], np.uint8))
        >>> scaled = pixels.map(lambda x: x.astype(np.float32) / 255).batch(1)
        >>> raw, scale = without_last_maps(scaled)
        >>> raw.element_spec
        TensorSpec(shape=(None, 2), dtype=uint8, name=None)
        >>> print(scale(next(iter(raw))))
        [[0. 1.]]
    """
    parted = Lazy(lambda: _parted(dataset._form()))

    def finish(batch: Any) -> Any:
        for function in parted()[1]:
            batch = function.traced(batch)
        return batch

    return dataset._derive(lambda _: parted()[0], dataset._cardinality), finish


def _parted(form: Form) -> tuple[Form, Sequence[MapFunction]]:
    """Divides a form where its rows are smallest."""
    if not isinstance(form, Stream) or not isinstance(form.step, Gather):
        return form, ()
    source = smallest = form.step.source
    functions: list[MapFunction] = []
    of_smallest: list[MapFunction] = []
    while isinstance(source, MappedSource):
        functions.insert(0, source.function)
        source = source.source
        if row_bytes(source) < row_bytes(smallest) and _fits_devices(source, functions):
            smallest, of_smallest = source, list(functions)
    if not of_smallest:
        return form, ()
    found = Lazy(lambda: specs.batched(smallest.spec, None))
    return dataclasses.replace(form, step=form.step.of(smallest), find_spec=found), of_smallest


def _fits_devices(source: RowSource, functions: Sequence[MapFunction]) -> bool:
    """Tells whether functions take no integers of 64 bits but to give them on, perhaps as another type.

    On the host integers that do not fit into 32 bits are computed with by NumPy, which devices cannot.
    """

    def apply(batch: Any) -> Any:
        for function in functions:
            batch = function.traced(batch)
        return batch

    rows = specs.shape_dtypes(specs.batched(source.spec, 2), 0)
    program = call_on_cpu(lambda given: jax.make_jaxpr(apply)(given), rows).jaxpr
    wide = {
        variable
        for variable, leaf in zip(program.invars, jax.tree.leaves(source.spec), strict=True)
        if leaf.dtype.kind in "iu" and leaf.dtype.itemsize > 4
    }
    return not any(
        wide & {variable for variable in equation.invars if isinstance(variable, Var)}
        for equation in program.eqns
        if equation.primitive.name != "convert_element_type"
    )
