"""The last map functions of a dataset, taken apart from it for the devices to apply.

`map(scale)` makes floats out of bytes, so that four times as much would travel to a GPU. Where a pipeline ends with
functions of single rows that make them larger, and with `batch`, devices can apply these functions to the
rows that they got.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Var, jaxpr_as_fun
from jax.sharding import Mesh

from frontends.tf.data import spec as specs
from frontends.tf.data.forms import Form
from frontends.tf.data.lazy import Lazy
from frontends.tf.data.map_function import MapFunction
from frontends.tf.data.row_sources import MappedSource, RowSource, row_bytes
from frontends.tf.data.steps import Gather
from frontends.tf.data.stream import Stream
from spmd.input import DeviceMap


class LastMaps:
    """A dataset without the functions that make its rows larger, and these functions.

    Examples:
        >>> from frontends.tf.data import Dataset
        >>> pixels = Dataset.from_tensor_slices(np.array([[0, 255]], np.uint8))
        >>> scaled = pixels.map(lambda x: x.astype(np.float32) / 255).batch(1)
        >>> parts = LastMaps(scaled)
        >>> parts.dataset.element_spec
        TensorSpec(shape=(None, 2), dtype=uint8, name=None)
        >>> print(parts.apply(next(iter(parts.dataset))))
        [[0. 1.]]
    """

    def __init__(self, dataset: Any) -> None:
        """Takes a dataset apart; reads and traces nothing before the first batch.

        Args:
            dataset: a `Dataset`.
        """
        self._parted = Lazy(lambda: _parted(dataset._form()))
        self.dataset = dataset._derive(lambda _: self._parted()[0], dataset._cardinality)
        self._on: dict[Mesh, DeviceMap] = {}

    def on(self, mesh: Mesh) -> DeviceMap:
        """Returns `apply` for batches on a mesh, compiled once for all passes."""
        return self._on.setdefault(mesh, DeviceMap(self.apply, mesh))

    def apply(self, batch: Any) -> Any:
        """Makes the given dataset's batch of one of `dataset`'s; where nothing is gained they are the same.

        The results are those that the functions have on the host, but for rounding. Functions are not called
        again: they were traced where the dataset was taken apart.

        Args:
            batch: arrays, on devices or in a program.
        """
        for program in self._parted()[1]:
            batch = program(batch)
        return batch


class _RowProgram:
    """A map function as a program of one row, applied to all rows of a batch."""

    def __init__(self, function: MapFunction, source: RowSource) -> None:
        closed, self._structure = function.program(source.spec)
        self.jaxpr = closed.jaxpr
        self._rows = jax.vmap(jaxpr_as_fun(closed))

    def __call__(self, batch: Any) -> Any:
        leaves = [
            jnp.asarray(leaf, variable.aval.dtype)
            for leaf, variable in zip(jax.tree.leaves(batch), self.jaxpr.invars, strict=True)
        ]
        # Not only of the same type: weak types are not to change what the next function does.
        results = [jax.lax.convert_element_type(x, x.dtype) for x in self._rows(*leaves)]
        return jax.tree.unflatten(self._structure, results)


def _parted(form: Form) -> tuple[Form, Sequence[_RowProgram]]:
    """Divides a form where its rows are smallest."""
    if not isinstance(form, Stream) or not isinstance(form.step, Gather):
        return form, ()
    source = smallest = form.step.source
    programs: list[_RowProgram] = []
    of_smallest: list[_RowProgram] = []
    while isinstance(source, MappedSource) and _are_numbers(source.source.spec):
        programs.insert(0, _RowProgram(source.function, source.source))
        source = source.source
        if row_bytes(source) < row_bytes(smallest) and _fits_devices(source, programs[0]):
            smallest, of_smallest = source, list(programs)
    if not of_smallest:
        return form, ()
    found = Lazy(lambda: specs.batched(smallest.spec, None))
    return dataclasses.replace(form, step=form.step.of(smallest), find_spec=found), of_smallest


def _are_numbers(spec: Any) -> bool:
    kinds = [leaf.dtype for leaf in jax.tree.leaves(spec)]
    return all(jnp.issubdtype(kind, np.number) or kind == np.bool_ for kind in kinds)


def _fits_devices(source: RowSource, first: _RowProgram) -> bool:
    """Tells whether a function does nothing with integers of 64 bits but to return them.

    On the host integers that do not fit into 32 bits are computed with by NumPy, or left out; on the way to a
    device they would be an error.
    """
    leaves = jax.tree.leaves(source.spec)
    wide = {
        variable
        for variable, leaf in zip(first.jaxpr.invars, leaves, strict=True)
        if leaf.dtype.kind in "iu" and leaf.dtype.itemsize > 4
    }
    taken = {
        variable
        for equation in first.jaxpr.eqns
        for variable in equation.invars
        if isinstance(variable, Var)
    }
    returned = {variable for variable in first.jaxpr.outvars if isinstance(variable, Var)}
    return wide <= returned and not wide & taken
