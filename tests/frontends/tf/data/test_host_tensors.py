"""Elements of datasets have the methods of tensors."""

import collections
import copy
import pickle
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from frontends import tf
from frontends.tf.data.host_tensors import HostTensor, as_tensors

Pair = collections.namedtuple("Pair", ["image", "label"])


def test_arrays():
    ((image, label),) = tf.data.Dataset.from_tensors((np.ones((4, 3), np.float32), [1, 2]))
    assert image.shape.as_list() == image.get_shape().as_list() == [4, 3]
    assert image.dtype.is_floating
    assert image.dtype == tf.float32
    assert type(image.numpy()) is np.ndarray
    assert image.numpy() is not image.numpy()
    assert image.ref().deref() is image
    image.set_shape([None, 3])
    with pytest.raises(ValueError, match=r"\(4, 3\) is not compatible .* \(5,\)"):
        image.set_shape(5)
    assert label[1].numpy() == 2
    assert [entry.numpy() for entry in label] == [1, 2]
    assert isinstance(image[0], HostTensor)
    assert isinstance(image * 2, HostTensor)
    assert repr(label) == "array([1, 2], dtype=int32)"


@pytest.mark.parametrize("dtype", ["int64", "int8", "float32", "float16", "bool", "complex64"])
def test_scalars(dtype):
    (value,) = tf.data.Dataset.from_tensors(np.array(1, dtype))
    assert isinstance(value.numpy(), np.generic)
    assert value.numpy() == value == 1
    assert value.numpy().dtype == value.dtype == dtype
    assert value.shape == value.get_shape() == ()
    assert value.get_shape().rank == 0
    assert f"{value}" == str(value) == str(value.numpy())
    if dtype != "bool":
        assert isinstance(value, np.generic)
        assert {value: "found"}[value.numpy()] == "found"
        assert repr(value) == repr(value.numpy())


@pytest.mark.parametrize("made_of", ["text", b"text"])
def test_texts(made_of):
    (text,) = tf.data.Dataset.from_tensors(made_of)
    assert text == made_of
    assert text.numpy() == b"text"
    assert type(text.numpy()) is bytes
    assert text.numpy().decode() == "text"


def test_structures():
    array = np.ones(2)
    for element in (
        {"a": array, "b": (array, np.int32(1))},
        Pair(array, np.int32(1)),
        [array, {"c": np.float32(1)}],
    ):
        found = as_tensors(element)
        assert jax.tree.structure(found) == jax.tree.structure(element)
        assert all(hasattr(leaf, "numpy") for leaf in jax.tree.leaves(found))
    assert as_tensors(None) is None
    windows = list(tf.data.Dataset.range(4).window(2))
    assert [[value.numpy() for value in window] for window in windows] == [[0, 1], [2, 3]]


def test_steps_take_them():
    dataset = tf.data.Dataset.from_tensor_slices(np.arange(6, dtype=np.float32)).batch(3)

    @tf.function
    def step(x):
        assert x.shape.as_list() == [3]
        return tf.reduce_sum(x)

    assert [step(batch).numpy() for batch in dataset] == [3, 12]
    for batch in dataset:
        assert jnp.sum(batch) == jax.jit(jnp.sum)(batch) == tf.reduce_sum(batch)
        assert (batch + tf.ones(3)).numpy().tolist() == (tf.ones(3) + batch).numpy().tolist()
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    value = strategy.run(tf.reduce_sum, args=(batch,))
    assert [part.numpy() for part in value.values] == [12, 12]


def test_copies_and_views():
    array = np.arange(6).view(HostTensor)
    for same in (copy.deepcopy(array), pickle.loads(pickle.dumps(array))):  # noqa: S301
        np.testing.assert_array_equal(same, array)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # NumPy 2.5 prefers reshape
        array.shape = (2, 3)
    assert array.shape == (2, 3)
    array[0, 0] = 9
    assert array.tolist() == [[9, 1, 2], [3, 4, 5]]
    assert type(np.asarray(array)) is np.ndarray


def test_numpys_iterator_has_numpys_own():
    (array,) = tf.data.Dataset.from_tensors([1.0]).as_numpy_iterator()
    (number,) = tf.data.Dataset.from_tensors(1).as_numpy_iterator()
    assert (type(array), type(number)) == (np.ndarray, np.int32)
