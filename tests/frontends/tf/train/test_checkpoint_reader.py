"""What is in a checkpoint can be read without the objects."""

import os

import numpy as np
import pytest

from frontends import tf

V, COUNTER = ("v/.ATTRIBUTES/VARIABLE_VALUE", "save_counter/.ATTRIBUTES/VARIABLE_VALUE")


@pytest.fixture
def path(tmp_path):
    return tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).save(tmp_path / "ckpt")


def test_names_and_shapes(path, tmp_path):
    assert (
        tf.train.list_variables(path)
        == tf.train.list_variables(tmp_path)
        == [(COUNTER, []), (V, [2])]
    )


def test_values(path):
    reader = tf.train.load_checkpoint(path)
    assert reader.get_variable_to_shape_map() == {V: [2], COUNTER: []}
    assert reader.get_variable_to_dtype_map() == {V: tf.float32, COUNTER: tf.int32}
    assert reader.has_tensor(V)
    assert not reader.has_tensor("v")
    np.testing.assert_array_equal(reader.get_tensor(V), [1.0, 2.0])
    assert reader.get_tensor(COUNTER) == 1
    np.testing.assert_array_equal(tf.train.load_variable(path, V), [1.0, 2.0])


def test_a_relative_path(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.testing.assert_array_equal(tf.train.load_checkpoint(".").get_tensor(V), [1.0, 2.0])
    np.testing.assert_array_equal(tf.train.load_variable(os.path.basename(path), V), [1.0, 2.0])


def test_one_whose_replacement_was_killed(path, tmp_path):
    os.rename(path, f"{path}.replaced")
    assert tf.train.latest_checkpoint(tmp_path) == path
    np.testing.assert_array_equal(tf.train.load_variable(path, V), [1.0, 2.0])


def test_what_is_not_there(path, tmp_path):
    with pytest.raises(ValueError, match=r"Key w not found in checkpoint .*It has: "):
        tf.train.load_checkpoint(path).get_tensor("w")
    with pytest.raises(tf.errors.NotFoundError, match="There is no checkpoint at"):
        tf.train.list_variables(tmp_path / "none")
    (tmp_path / "empty").mkdir()
    with pytest.raises(tf.errors.NotFoundError, match="There is no checkpoint in"):
        tf.train.list_variables(tmp_path / "empty")
