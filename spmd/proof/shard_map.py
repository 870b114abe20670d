"""The proof for a function of one's own, as `jax.shard_map` takes it."""

import dataclasses
from collections.abc import Callable, Collection
from typing import TypeVar

import jax
from jax.sharding import Mesh, PartitionSpec

from spmd.proof.dataflow import origin, per_device_program, varying_outputs
from spmd.topology import axes_of
from spmd.typing import PyTree

_Tree = TypeVar("_Tree")


@dataclasses.dataclass(frozen=True)
class Variation:
    """How an output differs between devices; false if it is equal on all of them.

    Attributes:
        axes: mesh axes along which it may differ.
        line: the user's line that computes it, `"file.py:12 (function)"`; None for an input that is handed on.
    """

    axes: tuple[str, ...]
    line: str | None = None

    def __bool__(self) -> bool:
        return bool(self.axes)


def varying(
    function: Callable[..., PyTree],
    *args: PyTree,
    mesh: Mesh,
    in_specs: PyTree,
    axis_names: Collection[str] | None = None,
) -> PyTree:
    """Tells which outputs of a function differ between the devices of a mesh, and which line made them so.

    The function is traced, and not run. Unlike `shard_map(..., check_vma=True)`, this accepts loops whose carry
    starts as a constant. What it does not know it takes to vary, so an output that is said to be equal is.

    Args:
        function: what `jax.shard_map` would get.
        *args: its arguments: global arrays, or `jax.ShapeDtypeStruct`s.
        mesh: the devices.
        in_specs: as for `jax.shard_map`.
        axis_names: axes that the function is mapped over; None for all.

    Returns:
        The structure of the function's result, with a `Variation` for every array.

    Raises:
        ReplicaDivergenceError: only some devices would reach a collective.

    Examples:
        >>> import jax.numpy as jnp, spmd
        >>> from jax.sharding import PartitionSpec as P
        >>> mesh = spmd.make_mesh(["cpu:0", "cpu:1"])
        >>> def step(w, x):
        ...     loss, gradient = jax.value_and_grad(lambda w: ((x @ w) ** 2).mean())(w)
        ...     return w - 0.1 * gradient, jax.lax.pmean(loss, "replica")
        >>> w, x = jnp.ones(3), jnp.ones((8, 3))
        >>> weights, loss = varying(step, w, x, mesh=mesh, in_specs=(P(), P("replica")))
        >>> weights.axes, loss.axes
        (('replica',), ())

    Source: `jax.shard_map`, whose `check_vma` answers the same for fewer programs.
    """
    axes = tuple(mesh.axis_names if axis_names is None else axis_names)
    mapped = jax.shard_map(
        function,
        mesh=mesh,
        in_specs=in_specs,
        out_specs=PartitionSpec(),
        axis_names=set(axes),
        check_vma=False,
    )
    program, result = jax.make_jaxpr(mapped, return_shape=True)(*args)
    jaxpr = per_device_program(program)
    specs = jax.tree.leaves(jax.tree.broadcast(in_specs, args))
    constants = [PartitionSpec()] * (len(jaxpr.invars) - len(specs))
    by_axis = {
        axis: varying_outputs(
            jaxpr, [axis in axes_of(spec) for spec in [*constants, *specs]], [axis]
        )
        for axis in axes
    }
    variations: list[Variation] = []
    for index in range(len(jaxpr.outvars)):
        found = tuple(axis for axis in axes if by_axis[axis][index])
        variations.append(Variation(found, origin(jaxpr, index) if found else None))
    return jax.tree.unflatten(jax.tree.structure(result), variations)


def replicated_outputs(
    function: Callable[..., _Tree],
    *args: PyTree,
    mesh: Mesh,
    in_specs: PyTree,
    axis_names: Collection[str] | None = None,
) -> PyTree:
    """Tells which outputs of a function are equal on all devices, so that `PartitionSpec()` describes them.

    Args:
        function: what `jax.shard_map` would get.
        *args: its arguments: global arrays, or `jax.ShapeDtypeStruct`s.
        mesh: the devices.
        in_specs: as for `jax.shard_map`.
        axis_names: axes that the function is mapped over; None for all.

    Returns:
        The structure of the function's result, with a bool for every array.

    Raises:
        ReplicaDivergenceError: only some devices would reach a collective.

    Examples:
        >>> import jax.numpy as jnp, spmd
        >>> from jax.sharding import PartitionSpec as P
        >>> mesh = spmd.make_mesh(["cpu:0", "cpu:1"])
        >>> def sums(x):
        ...     return {"own": x.sum(), "all": jax.lax.psum(x.sum(), "replica")}
        >>> replicated_outputs(sums, jnp.ones(4), mesh=mesh, in_specs=P("replica"))
        {'all': True, 'own': False}
    """
    found = varying(function, *args, mesh=mesh, in_specs=in_specs, axis_names=axis_names)
    return jax.tree.map(lambda variation: not variation, found)
