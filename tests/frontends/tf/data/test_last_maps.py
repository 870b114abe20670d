"""Which map functions devices apply, and that results stay what they were."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import NamedSharding, PartitionSpec

import spmd
from frontends import tf

IMAGES = np.arange(5 * 4 * 4, dtype=np.uint8).reshape(5, 4, 4, 1)
LABELS = np.arange(5)


def scale(image, label):
    return tf.cast(image, tf.float32) / 255, label


def flip(image, label):
    return image[:, ::-1], tf.cast(label, tf.int32)


def rows():
    return tf.data.Dataset.from_tensor_slices((IMAGES, LABELS))


def apart(dataset):
    raw, maps = dataset._last_maps
    return raw, maps.apply


def elements(dataset, finish=None):
    """All elements, finished in a compiled program as on devices."""
    finish = (lambda batch: batch) if finish is None else jax.jit(finish)
    return [list(map(np.asarray, jax.tree.leaves(finish(batch)))) for batch in dataset]


PIPELINES = {
    "scale": lambda: rows().map(scale).batch(2),
    "scale and flip": lambda: rows().map(scale).map(flip).batch(2),
    "flip and scale": lambda: rows().map(flip).map(scale).batch(2),
    "shuffled": lambda: rows().map(scale).shuffle(5, seed=1).batch(2).prefetch(1),
    "repeated": lambda: rows().shuffle(5, seed=1).map(scale).repeat(2).batch(2).take(4).skip(1),
    "of dicts": lambda: rows().map(lambda x, y: {"x": tf.cast(x, tf.float32), "y": y}).batch(2),
    "weak types between": lambda: (
        tf.data.Dataset.from_tensor_slices((IMAGES, LABELS.astype(np.uint8)))
        .map(lambda x, y: (x * 0.5, 1))
        .map(lambda x, y: (x * jnp.float16(2), y + np.uint8(3)))
        .batch(2)
    ),
    "cached before": lambda: rows().cache().map(scale).batch(2, drop_remainder=True),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_takes_off_what_makes_rows_larger(name):
    expected = elements(PIPELINES[name]())
    raw, finish = apart(PIPELINES[name]())
    assert raw.element_spec[0].dtype == np.uint8
    assert len(raw) == len(expected)
    found = elements(raw, finish)
    for ours, theirs in zip(found, expected, strict=True):
        for one, other in zip(ours, theirs, strict=True):
            assert one.dtype == other.dtype
            np.testing.assert_allclose(one, other, rtol=2e-7)  # compiled for another batch


def _not_traceable(image, label):
    return np.asarray(image).astype(np.float32), label


STAY = {
    "smaller": lambda: rows().map(lambda x, y: (tf.reduce_mean(x, axis=0), y)).batch(2),
    "cached after": lambda: rows().map(scale).cache().batch(2),
    "of whole batches": lambda: rows().batch(2).map(scale),
    "not compiled": lambda: rows().map(_not_traceable).batch(2),
    "drops what devices cannot hold": lambda: (
        tf.data.Dataset.from_tensor_slices({"x": IMAGES, "id": np.array(list("abcde"), object)})
        .map(lambda row: tf.cast(row["x"], tf.float32))
        .batch(2)
    ),
    "drops integers of 64 bits": lambda: (
        tf.data.Dataset.from_tensor_slices((IMAGES, LABELS + 5_000_000_000))
        .map(lambda x, y: tf.cast(x, tf.float32))
        .batch(2)
    ),
    "computes with 64 bits": lambda: (
        rows().map(lambda x, y: (tf.cast(x, tf.float32), y % 2)).batch(2)
    ),
    "without a batch": lambda: rows().map(scale),
}


@pytest.mark.parametrize("name", STAY)
def test_leaves_what_gains_nothing_or_could_differ(name):
    expected = elements(STAY[name]())
    raw, finish = apart(STAY[name]())
    assert raw.element_spec == STAY[name]().element_spec
    for batch in raw:
        assert finish(batch) is batch
    for ours, theirs in zip(elements(raw), expected, strict=True):
        for one, other in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(one, other)


def test_reads_and_traces_nothing_before_the_first_batch():
    traced = []

    def seen(image, label):
        traced.append(image)
        return scale(image, label)

    raw, _ = apart(rows().map(seen).batch(2))
    assert not traced
    next(iter(raw))
    assert traced


def test_shuffles_go_on_from_pass_to_pass_as_those_of_the_dataset():
    def shuffled():
        return rows().map(scale).shuffle(5, seed=1).batch(2)

    dataset = shuffled()
    raw, finish = apart(shuffled())
    for _ in range(2):
        for ours, theirs in zip(elements(raw, finish), elements(dataset), strict=True):
            np.testing.assert_array_equal(ours[1], theirs[1])


def test_functions_are_traced_once_for_all_distributions():
    traced = []

    def seen(image, label):
        traced.append(image)
        return scale(image, label)

    dataset = rows().map(seen).batch(2)
    parts, mesh = dataset._last_maps, spmd.make_mesh(["cpu:0"])
    raw, maps = parts
    counts = []
    for _ in range(3):
        assert dataset._last_maps is parts
        assert maps.on(mesh) is maps.on(mesh)
        list(spmd.distribute(raw, mesh, map_on_devices=maps.on(mesh)))
        counts.append(len(traced))
    assert counts[0] == counts[2]


def test_arrays_of_a_mesh_may_be_closed_over():
    mesh = spmd.make_mesh(["cpu:0", "cpu:1"])
    table = jax.device_put(jnp.arange(256.0), NamedSharding(mesh, PartitionSpec()))
    dataset = tf.data.Dataset.from_tensor_slices(IMAGES).map(lambda x: table[x]).batch(2)
    raw, maps = dataset._last_maps
    batches = spmd.distribute(raw, mesh, map_on_devices=maps.on(mesh))
    found = np.concatenate([spmd.gather(batch) for batch in batches])
    np.testing.assert_array_equal(found, IMAGES.astype(np.float32))


def test_matrix_products_are_as_precise_as_on_the_host():
    dataset = tf.data.Dataset.from_tensor_slices(np.ones((4, 2, 2), np.uint8))
    dataset = dataset.map(lambda x: tf.cast(x, tf.float32) @ np.eye(2, dtype=np.float32)).batch(2)
    raw, maps = dataset._last_maps
    program = jax.make_jaxpr(maps.apply)(next(iter(raw)))
    (product,) = [e for e in program.eqns if e.primitive.name == "dot_general"]
    assert set(product.params["precision"]) == {jax.lax.Precision.HIGHEST}


def test_leaves_what_draws():
    raw, finish = apart(
        rows().map(lambda x, y: (tf.cast(x, tf.float32) + tf.random.uniform([]), y)).batch(2)
    )
    batch = next(iter(raw))
    assert batch[0].dtype == np.float32
    assert finish(batch) is batch
