"""Texts and arrays of several shapes, one for each replica, in host memory."""

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh

import spmd
from spmd.replica.host_values import HostPerReplica, is_text

MeshOf = Callable[[int], Mesh]


def texts(mesh: Mesh, *values: list[str]) -> HostPerReplica:
    return HostPerReplica([np.array(value, object) for value in values], mesh)


def test_texts_are_read_by_replica(mesh_of: MeshOf) -> None:
    value = texts(mesh_of(2), ["a", "b"], ["c"])
    assert [one.tolist() for one in value] == [["a", "b"], ["c"]]
    assert (value[1].tolist(), len(value), value.shape, value.is_text) == (["c"], 2, (2,), True)
    assert repr(value) == str(value) == "HostPerReplica(0: ['a' 'b'], 1: ['c'])"
    assert str(texts(mesh_of(1), ["a", "b"])) == "['a' 'b']"
    assert spmd.gather(value, 0).tolist() == ["a", "b", "c"]
    (first, second) = spmd.step.local_values((value, value))
    assert first[0].tolist() == first[1].tolist() == ["a", "b"]
    assert second[0].tolist() == ["c"]


def test_one_replicas_texts_stand_for_themselves(mesh_of: MeshOf) -> None:
    value = texts(mesh_of(1), ["a", "b"])
    assert value.numpy().tolist() == np.asarray(value).tolist() == ["a", "b"]
    assert (value == np.array(["a", "c"], object)).tolist() == [True, False]


def test_texts_are_no_numbers(mesh_of: MeshOf) -> None:
    for count in (1, 2):
        value = texts(mesh_of(count), *[["a"]] * count)
        for use in (lambda v: v + 1, jnp.asarray, spmd.reduce):
            with pytest.raises(TypeError, match="texts"):
                use(value)
    with pytest.raises(TypeError, match="for each of 2 replicas"):
        HostPerReplica([np.ones(1), np.ones((1, 1))], mesh_of(2)).numpy()


def test_arrays_of_several_shapes_are_gathered_along_the_axis_that_differs(mesh_of: MeshOf) -> None:
    wide, narrow = np.arange(4.0).reshape(2, 2), np.full((2, 1), 9.0)
    value = HostPerReplica([wide, narrow], mesh_of(2))
    whole = spmd.gather(value, 1)
    assert whole.tolist() == [[0.0, 1.0, 9.0], [2.0, 3.0, 9.0]]
    assert whole.sharding.is_fully_replicated
    step = spmd.step.CrossReplicaStep(lambda v: spmd.gather(v, -1) * 2, mesh_of(2))
    assert np.asarray(step(value)).tolist() == (whole * 2).tolist()
    with pytest.raises(ValueError, match=r"alike in all other axes.*\(2, 2\), \(2, 1\)"):
        spmd.gather(value, 0)
    with pytest.raises(ValueError, match="no axis 2"):
        spmd.gather(value, 2)
    with pytest.raises(TypeError, match=r"arrays of the shapes"):
        spmd.reduce(value)


def test_texts_pass_a_step_without_a_trace_for_each_batch(mesh_of: MeshOf) -> None:
    mesh, traces = mesh_of(2), []
    rows = {"x": np.arange(6.0), "name": np.array(["a", "b", "c", "d", "e", "f"])}

    def total(batch: dict[str, jnp.ndarray]) -> jnp.ndarray:
        traces.append(1)
        return spmd.all_reduce(batch["x"].sum())

    step = spmd.Step(total, mesh)
    seen = [
        (float(step(batch)), spmd.gather(batch["name"]).tolist())
        for batch in spmd.distribute(rows, mesh, batch_size=2)
    ]
    assert seen == [(1.0, ["a", "b"]), (5.0, ["c", "d"]), (9.0, ["e", "f"])]
    assert len(traces) == 1


def test_a_step_cannot_use_texts(mesh_of: MeshOf) -> None:
    for count in (1, 2):
        value = texts(mesh_of(count), *[["a"]] * count)
        for use in (lambda v: v + 1, lambda v: v.values, lambda v: v):
            with pytest.raises(TypeError, match="a compiled step cannot use it"):
                spmd.Step(use, mesh_of(count))(value)


def test_is_text() -> None:
    assert is_text(np.array(["a", b"b"], object))
    assert not is_text(np.array(["a", 1], object))
    assert not is_text(np.array([True]))
