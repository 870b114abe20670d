"""What the code of a replica sees of each kind of state, and what becomes of it."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from jax.sharding import Mesh

import spmd

MeshOf = Callable[[int], Mesh]


def test_a_replica_sees_its_own_view_of_each_kind(mesh_of: MeshOf) -> None:
    state = {
        "mirrored": spmd.Variable(jnp.float32(3.0)),
        "mean": spmd.Variable(jnp.float32(3.0), kind="mean"),
        "sum": spmd.Variable(jnp.float32(3.0), kind="sum"),
    }
    key = spmd.Variable(jax.random.key(0), kind="key")

    def look() -> Any:
        seen = {name: variable.value for name, variable in state.items()}
        state["mirrored"].value += 1.0
        state["mean"].value += spmd.replica_id()
        state["sum"].value += spmd.replica_id()
        return seen | {"key": jax.random.key_data(key.value)}

    seen = spmd.Step(look, mesh_of(4), keep_per_replica=True)()
    assert [float(value) for value in seen["mirrored"]] == [3.0] * 4
    assert [float(value) for value in seen["mean"]] == [3.0] * 4
    assert [float(value) for value in seen["sum"]] == [3.0, 0.0, 0.0, 0.0]
    folded = [jax.random.key_data(jax.random.fold_in(jax.random.key(0), i)) for i in range(4)]
    np.testing.assert_array_equal(np.stack(list(seen["key"])), np.stack(folded))
    after = {name: float(variable.value) for name, variable in state.items()}
    assert after == {"mirrored": 4.0, "mean": 4.5, "sum": 9.0}
    assert key.value == jax.random.key(0)


@pytest.mark.parametrize("rows", [1, 2, 3, 5, 6, 7])
def test_replicas_without_rows_do_not_count_in_batch_statistics(mesh_of: MeshOf, rows: int) -> None:
    mesh = mesh_of(4)
    norm = nnx.BatchNorm(2, momentum=0.0, rngs=nnx.Rngs(0))
    step = spmd.Step(
        lambda x: spmd.all_reduce(
            spmd.average_loss(norm(x, mask=spmd.valid_rows()[:, None])[:, 0])
        ),
        mesh,
    )
    data = np.arange(16.0 + 2 * rows, dtype=np.float32).reshape(-1, 2)
    batch = list(spmd.distribute(data, mesh, batch_size=8))[1]
    assert np.isfinite(float(step(batch)))
    blocks = [
        block for block in np.split(data[8:], np.cumsum(batch.mask.counts)[:-1]) if len(block)
    ]
    np.testing.assert_allclose(norm.mean[...], np.mean([b.mean(0) for b in blocks], axis=0))
    np.testing.assert_allclose(
        norm.var[...], np.mean([b.var(0) for b in blocks], axis=0), atol=1e-4
    )


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (object(), "['a'][1]"),
        (np.array(["text"]), "['a'][1]"),
        ({1}, "['a']"),
    ],
)
def test_a_result_that_is_no_array_is_refused_by_path(
    mesh_of: MeshOf, value: Any, path: str
) -> None:
    with pytest.raises(spmd.errors.StepOutputError) as error:
        spmd.Step(lambda: {"a": (1.0, value)}, mesh_of(2))()
    assert path in str(error.value)
    assert type(value).__name__ in str(error.value)
