"""One value for each replica, put on the devices or left on the host."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import spmd
from spmd.replica.host_values import HostPerReplica
from spmd.replica.stacking import stack_replicas

MeshOf = Callable[[int], Mesh]


def lists(values: Any) -> list[Any]:
    return [np.asarray(value).tolist() for value in values]


def test_values_are_stacked_onto_their_replicas(mesh_of: MeshOf) -> None:
    mesh = mesh_of(3)
    value = stack_replicas([np.array([1, 2]), jnp.array([3, 4]), [5, 6]], mesh)
    assert lists(value) == [[1, 2], [3, 4], [5, 6]]
    assert value.stacked
    assert value.array.sharding == NamedSharding(mesh, PartitionSpec("replica"))
    assert lists(stack_replicas([1.0, 2.0, 3.0], mesh)) == [1.0, 2.0, 3.0]


def test_what_devices_cannot_hold_stays_on_the_host(mesh_of: MeshOf) -> None:
    mesh = mesh_of(2)
    for values in ([np.zeros((1, 3)), np.zeros((1, 2))], [np.zeros(1), 0.0], ["a", "b"]):
        value = stack_replicas(values, mesh)
        assert isinstance(value, HostPerReplica)
        assert lists(value) == lists(values)
    with pytest.raises(TypeError, match="numbers and booleans"):
        stack_replicas([object(), object()], mesh)


def test_values_of_different_numbers_of_rows_are_padded(mesh_of: MeshOf) -> None:
    mesh = mesh_of(2)
    value = stack_replicas([np.arange(2.0), np.zeros(0)], mesh)
    assert [v.tolist() for v in value.values] == [[0.0, 1.0], []]
    assert value.mask is not None
    assert value.mask.counts == (2, 0)
    assert float(spmd.reduce(value, "mean", axis=0)) == 0.5
    assert spmd.gather(value).tolist() == [0.0, 1.0]
