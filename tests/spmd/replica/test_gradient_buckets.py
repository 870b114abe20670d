"""Gradients travel in buckets and in two levels, and come out as sums over all replicas."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import spmd
from spmd.replica.gradient_buckets import CollectiveOptions, collective_options

SHAPES = [(3, 2), (), (5,), (1, 1), (0, 2)]


def gradients():
    own = spmd.replica_id() + 1.0
    leaves = [own * jnp.arange(np.prod(shape)).reshape(shape) for shape in SHAPES]
    return [*leaves, (own * jnp.ones(4)).astype(jnp.bfloat16)]


def summed(options, mesh):
    tx = spmd.sum_over_replicas()

    def step():
        own = gradients()
        return tx.update(own, tx.init(own))[0]

    compiled = spmd.Step(step, mesh)
    with collective_options(options):
        return compiled(), compiled.lower().collectives


@pytest.mark.parametrize("bucket_bytes", [0, 1, 24, 10_000])
@pytest.mark.parametrize("groups", [0, 2, 4, 3, 8])
def test_sums_are_the_same(mesh_of, bucket_bytes, groups):
    mesh = mesh_of(8)
    expected, _ = summed(CollectiveOptions(), mesh)
    result, _ = summed(CollectiveOptions(bucket_bytes, groups), mesh)
    for ours, theirs in zip(result, expected, strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(
            np.asarray(ours, np.float32), np.asarray(theirs, np.float32), rtol=1e-6
        )


def test_packs_are_of_one_type_and_no_larger_than_said(mesh_of):
    _, collectives = summed(CollectiveOptions(bucket_bytes=24), mesh_of(2))
    # (3, 2) fills a bucket, (1, 1) is left over, bfloat16 is another type: alone; () and (5,) together.
    assert [one.bytes for one in collectives] == [24, 4, 8, 24]


def test_on_the_cpu_small_gradients_travel_together_and_large_ones_alone(mesh_of):
    tx = spmd.sum_over_replicas()

    def step():
        own = [jnp.ones(3), jnp.ones(2**14 + 1), jnp.ones(2**14), jnp.ones((2, 2))]
        return tx.update(own, tx.init(own))[0]

    collectives = spmd.Step(step, mesh_of(2)).lower().collectives
    assert [one.bytes for one in collectives] == [4 * (2**14 + 1), 4 * (3 + 2**14 + 4)]


def test_compressed_gradients_travel_with_half_the_bits(mesh_of):
    options = CollectiveOptions(compression="bfloat16")
    result, collectives = summed(options, mesh_of(4))
    expected, plain = summed(CollectiveOptions(), mesh_of(4))
    (bucket,), (_, plain_bucket) = collectives, sorted(plain, key=lambda one: one.bytes)
    assert bucket.bytes - 8 == plain_bucket.bytes // 2  # with the gradient that is bfloat16 already
    for ours, theirs in zip(result, expected, strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(
            np.asarray(ours, np.float32), np.asarray(theirs, np.float32), rtol=2**-7
        )


def test_on_one_device_nothing_travels_and_nothing_is_lost(mesh_of):
    tx = spmd.sum_over_replicas()
    value = jnp.float32(1.001)
    with collective_options(CollectiveOptions(compression="bfloat16")):
        step = spmd.Step(lambda: tx.update([value, value], tx.init(()))[0], mesh_of(1))
        assert [float(sum_) for sum_ in step()] == [float(value)] * 2


def test_there_is_one_compression():
    with pytest.raises(ValueError, match="compression must be 'bfloat16' or '', but is 'int8'"):
        CollectiveOptions(compression="int8")


def test_the_proof_still_finds_sums_over_some_replicas(mesh_of):
    weight = spmd.Variable(jnp.zeros(4), name="weight")
    groups = [[0, 1], [2, 3]]

    def step():
        own = jnp.ones(4) * spmd.replica_id()
        part = jax.lax.psum_scatter(own, "replica", axis_index_groups=groups, tiled=True)
        part = jax.lax.psum(part, "replica", axis_index_groups=groups)
        weight.value += jax.lax.all_gather(part, "replica", axis_index_groups=groups, tiled=True)

    with pytest.raises(spmd.errors.ReplicaDivergenceError, match="weight"):
        spmd.Step(step, mesh_of(4))()


@pytest.mark.parametrize("name", ["bucket_bytes", "group_size"])
def test_sizes_are_not_negative(name):
    with pytest.raises(ValueError, match=name):
        CollectiveOptions(**{name: -1})
