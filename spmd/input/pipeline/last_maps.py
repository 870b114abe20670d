"""The last map functions of a pipeline, taken off it for the devices to apply.

`map(scale)` makes floats out of bytes, so that four times as much would travel to a GPU. Where a pipeline ends with
functions of single rows that make them larger, and with `batch`, devices can apply these functions to the
rows that they got.
"""

import dataclasses
from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import jaxpr_as_fun
from jax.sharding import Mesh

from spmd.input.device_map import DeviceMap
from spmd.input.pipeline.forms import Form
from spmd.input.pipeline.lazy import Lazy
from spmd.input.pipeline.map_function import MapFunction
from spmd.input.pipeline.row_sources import MappedSource, RowSource, row_bytes
from spmd.input.pipeline.spec import batch_spec
from spmd.input.pipeline.steps import Gather
from spmd.input.pipeline.stream import Stream
from spmd.typing import PyTree


class LastMaps:
    """A form without the functions that make its rows larger, and these functions.

    Examples:
        >>> from spmd.input.pipeline.origins import array_rows
        >>> pixels = array_rows(np.array([[0, 255]], np.uint8), 1)
        >>> scale = MapFunction(lambda x: x.astype(np.float32) / 255)
        >>> parts = LastMaps(lambda: pixels.map(scale, workers=0).batch(1, drop_remainder=False))
        >>> parts.form().spec()
        ArraySpec(shape=(None, 2), dtype=dtype('uint8'))
        >>> print(parts.apply(next(parts.form().elements())))
        [[0. 1.]]
    """

    def __init__(self, find_form: Callable[[], Form]) -> None:
        """Takes a form apart; reads and traces nothing before the first batch.

        Args:
            find_form: returns the form; called when the parts are first asked for.
        """
        self._parted = Lazy(lambda: _parted(find_form()))
        self._on: dict[Mesh, DeviceMap] = {}

    def form(self) -> Form:
        """Returns the form without the functions."""
        return self._parted()[0]

    def on(self, mesh: Mesh) -> DeviceMap:
        """Returns `apply` for batches on a mesh, compiled once for all passes.

        Its `is_needed` tells whether a function was taken off.
        """
        made = DeviceMap(self.apply, mesh, is_needed=lambda: bool(self._parted()[1]))
        return self._on.setdefault(mesh, made)

    def apply(self, batch: PyTree) -> PyTree:
        """Makes the given form's batch from one of `form`'s; the same batch where nothing is gained.

        The results are those that the functions have on the host, but for rounding. Functions are not called
        again: they were traced where the form was taken apart.

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

    def __call__(self, batch: PyTree) -> PyTree:
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
    while isinstance(source, MappedSource) and _may_be_on_devices(source):
        programs.insert(0, _RowProgram(source.function, source.source))
        source = source.source
        if row_bytes(source) < row_bytes(smallest) and _fits_devices(source, programs[0]):
            smallest, of_smallest = source, list(programs)
    if not of_smallest:
        return form, ()
    found = Lazy(lambda: batch_spec(smallest.spec, None))
    step = dataclasses.replace(form.step, source=smallest)
    return dataclasses.replace(form, step=step, find_spec=found), of_smallest


def _may_be_on_devices(source: MappedSource) -> bool:
    """Tells whether a function takes numbers, and draws none: rows on devices have no number to draw from."""
    kinds = [leaf.dtype for leaf in jax.tree.leaves(source.source.spec)]
    return not source.function.is_random and all(
        jnp.issubdtype(kind, np.number) or kind == np.bool_ for kind in kinds
    )


def _fits_devices(source: RowSource, first: _RowProgram) -> bool:
    """Tells whether a function only returns 64-bit integers, and computes nothing from them.

    On the host integers that do not fit into 32 bits are computed with by NumPy, or left out; on the way to a
    device they would be an error.
    """
    taken = [variable for equation in first.jaxpr.eqns for variable in equation.invars]
    return all(
        variable in first.jaxpr.outvars and variable not in taken
        for variable, leaf in zip(first.jaxpr.invars, jax.tree.leaves(source.spec), strict=True)
        if leaf.dtype.kind in "iu" and leaf.dtype.itemsize > 4
    )
