"""A function that is called for the variables that it makes."""

import numpy as np
import pytest

import spmd
from frontends import tf
from frontends.tf.distribute.standalone import making

MESH = spmd.make_mesh(["cpu:0"])


def test_what_is_written_is_undone():
    before = tf.Variable(1.0)
    assert not making.is_making()
    with making.making(MESH, [before]):
        assert making.is_making()
        before.assign(2.0)
        made = tf.Variable(3.0)
    assert float(before.numpy()) == 1.0
    assert float(made.numpy()) == 3.0


def test_batches_are_zeros():
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    dataset = tf.data.Dataset.from_tensor_slices((np.ones((5, 3)), np.arange(5))).batch(2)
    spec = strategy.experimental_distribute_dataset(dataset).element_spec
    with making.making(MESH, []):
        x, y = making.batch_of(spec)
        value = making.one_value((4,), np.float32)
    assert (x.num_replicas, x.block_shape[1:], y.dtype) == (1, (3,), np.int32)
    assert not np.asarray(x).any()
    assert value.shape == (4,)


def test_texts_and_unknown_elements_are_refused():
    texts = tf.data.Dataset.from_tensor_slices(["a"]).batch(1)
    with making.making(MESH, []):
        with pytest.raises(NotImplementedError, match=r"model.build\(shape\)"):
            making.batch_of(None)
        with pytest.raises(NotImplementedError, match="no example can be made"):
            making.batch_of(texts.element_spec)
