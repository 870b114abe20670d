"""Variables that a function makes at its first call: it is traced here for them, on data without content.

A worker makes no variables, which the program would lack. So a function that does is called here instead, as Python.
In it `strategy.run` traces what replicas do, and returns zeros; batches are zeros, too. What it writes is undone.
"""

import contextlib
from collections.abc import Generator, Iterable
from contextvars import ContextVar
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh

import spmd
from frontends.tf._typing import Nested
from frontends.tf.data.spec import TensorSpec
from frontends.tf.distribute.values import PerReplicaSpec
from frontends.tf.dtypes import jax_dtype
from spmd.assigned import assigned
from spmd.replica import PerReplica
from spmd.state import LIFTING, Kind, adapter_of, silently
from spmd.typing import LibraryVariable

_MESH: ContextVar[Mesh | None] = ContextVar("making_variables", default=None)
_ROWS = 2  # of a batch, where none are declared


def is_making() -> bool:
    """Tells whether a function is called here for the variables that it makes."""
    return _MESH.get() is not None


@contextlib.contextmanager
def making(mesh: Mesh, variables: Iterable[LibraryVariable]) -> Generator[None]:
    """Marks such a call, and gives variables the values back that they have before.

    Args:
        mesh: a device of this process.
        variables: those that there are.
    """
    distinct = {id(one): one for one in variables}.values()
    before = [(one, adapter) for one in distinct if (adapter := adapter_of(one)) is not None]
    values = [(one, adapter, adapter.get(one)) for one, adapter in before]
    try:
        with LIFTING, assigned(_MESH, mesh), silently():
            for variable, adapter, value in values:
                if adapter.kind(variable) is Kind.LOCAL:  # there is one replica here
                    adapter.set(variable, jax.tree.map(lambda leaf: leaf[:1], value))
            yield
    finally:
        for variable, adapter, value in values:
            adapter.set(variable, value)


def batch_of(element_spec: Nested) -> Nested:
    """Makes a batch of zeros, over a device of this process.

    Args:
        element_spec: of a distributed dataset.

    Raises:
        NotImplementedError: it is not known, or has texts.
    """
    if element_spec is None:
        raise NotImplementedError(
            "A function that makes variables at its first call reads a source whose elements are not known before they are "
            "read. Distribute a tf.data.Dataset, or make the variables before: model.build(shape), "
            "optimizer.build(model.trainable_variables)."
        )
    return batch_like(jax.tree.map(_zeros, element_spec, is_leaf=_is_spec))


def batch_like(rows: Nested) -> Nested:
    """Makes a batch of arrays, over a device of this process."""
    mesh = _MESH.get()
    assert mesh is not None
    (batch,) = spmd.distribute([rows], mesh, prefetch=0, scalars=True)
    return batch


def one_value(shape: tuple[int, ...], dtype: Any) -> PerReplica:
    """Makes a value of zeros for the only replica of this process."""
    return PerReplica(jax.device_put(jnp.zeros((1, *shape), dtype), _sharding()), 1, stacked=True)


def _sharding() -> Any:
    mesh = _MESH.get()
    assert mesh is not None
    return spmd.topology.layout_of(mesh).rows


def _zeros(spec: Any) -> np.ndarray[Any, Any]:
    if isinstance(spec, PerReplicaSpec):
        spec = spec.value_specs[0]
    if not isinstance(spec, TensorSpec) or spec.shape is None or spec.dtype.kind in "OSU":
        raise NotImplementedError(
            f"A function that makes variables at its first call reads {spec!r}, of which no example can be made. Make the "
            "variables before: model.build(shape), optimizer.build(model.trainable_variables)."
        )
    return np.zeros([_ROWS if size is None else size for size in spec.shape], jax_dtype(spec.dtype))


def _is_spec(leaf: object) -> bool:
    return isinstance(leaf, (PerReplicaSpec, TensorSpec))
