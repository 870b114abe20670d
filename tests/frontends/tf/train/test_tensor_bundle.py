"""Checkpoints that TensorFlow 2.15 wrote, by `tf.compat.v1.train.Saver`."""

import base64
import os

import ml_dtypes
import numpy as np
import pytest

from frontends import tf
from frontends.tf.train.tensor_bundle import TensorBundle, is_bundle

INDEX = (
    "AAAGCAEaAggBAAwRAHBhcnRzAAEBAYCCCAESBBICCAIgRigINejjRlkKAhGCgggBEgQSAggCIE4oCDXo40ZZAAoP"
    "ZGVuc2UvYmlhcwgBEgQSAggDKAw1I+0uygYGFWtlcm5lbAgBEggSAggCEgIIAyAMKBg1wNs9FwwFFS9BZGFtCAES"
    "CBICCAISAggDICQoGDXP9F98AAsNZ2xvYmFsX3N0ZXAICRIAIDwoCDW7158RAAQRaGFsZggOEgQSAggBIEQoAjVi"
    "IfgfAAUWcGFydHMIARIEEgIIBDoECgIQAjoGCgQIAhACAAQRdGV4dAgHEgQSAggCIFYoCTXp5DaFAAAAAAEAAAAA"
    "z4cAaQAAAAABAAAAAMDyobAAAQN1AIcCAAAAAAEAAAAAo/Vj8owCCJkCDwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    "AAAAAAAAAAAAAABX+4CLJHVH2w=="
)
DATA = (
    "AAAAPwAAgL8AAABAAAAAAAAAgD8AAABAAABAQAAAgEAAAKBAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABwAAAAAA"
    "AADAPwAAgD8AAIA/AACAPwAAgD8BAr/f23phYmM="
)
VALUES = {
    "dense/bias": np.array([0.5, -1, 2], np.float32),
    "dense/kernel": np.arange(6, dtype=np.float32).reshape(2, 3),
    "dense/kernel/Adam": np.zeros((2, 3), np.float32),
    "global_step": np.int64(7),
    "half": np.array([1.5], ml_dtypes.bfloat16),
}


@pytest.fixture
def path(tmp_path):
    (tmp_path / "model.ckpt-7.index").write_bytes(base64.b64decode(INDEX))
    (tmp_path / "model.ckpt-7.data-00000-of-00001").write_bytes(base64.b64decode(DATA))
    (tmp_path / "checkpoint").write_text('model_checkpoint_path: "model.ckpt-7"\n')
    return str(tmp_path / "model.ckpt-7")


def test_values_are_read_by_name(path, tmp_path):
    assert is_bundle(path)
    assert not is_bundle(str(tmp_path))
    shapes = {name: list(np.shape(value)) for name, value in VALUES.items()}
    expected = sorted((shapes | {"parts": [4], "text": [2]}).items())
    assert tf.train.list_variables(tmp_path) == expected
    reader = tf.train.load_checkpoint(path)
    assert reader.get_variable_to_dtype_map()["half"] == tf.bfloat16
    for name, value in VALUES.items():
        found = reader.get_tensor(name)
        assert found.dtype == value.dtype
        np.testing.assert_array_equal(found, value)


def test_values_are_the_callers_own(path):
    value = tf.train.load_variable(path, "dense/bias")
    value += 1
    np.testing.assert_array_equal(value, VALUES["dense/bias"] + 1)
    np.testing.assert_array_equal(tf.train.load_variable(path, "dense/bias"), VALUES["dense/bias"])


def test_a_missing_file_is_told(path):
    os.unlink(f"{path}.data-00000-of-00001")
    with pytest.raises(tf.errors.DataLossError, match=r"dense/kernel is in .*, which is not there"):
        _read_kernel(path)


@pytest.mark.parametrize(("name", "why"), [("parts", "saved in 2 parts"), ("text", "holds texts")])
def test_what_is_not_read_is_told(path, name, why):
    with pytest.raises(NotImplementedError, match=f"{why}, which is not read here"):
        tf.train.load_variable(path, name)


@pytest.mark.parametrize(
    ("file", "byte"), [("index", 9), ("index", 345), ("data-00000-of-00001", 13)]
)
def test_damage_is_found(path, file, byte):
    with open(f"{path}.{file}", "r+b") as opened:
        opened.seek(byte)
        opened.write(b"?")
    with pytest.raises(tf.errors.DataLossError, match=f"{file}.* is .*damaged"):
        _read_kernel(path)


def _read_kernel(path):
    bundle = TensorBundle(path)
    return bundle.read(bundle.entries["dense/kernel"])


def _model_fn(features, labels, mode):
    y = tf.layers.dense(features, 3)
    loss = tf.losses.mean_squared_error(labels, y)
    train_op = tf.train.GradientDescentOptimizer(0.0).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def test_an_estimator_begins_with_them(path, tmp_path):
    def input_fn():
        return tf.ones([1, 2]), tf.ones([1, 3])

    estimator = tf.estimator.Estimator(_model_fn, str(tmp_path / "new"), warm_start_from=path)
    estimator.train(input_fn, steps=1)
    for name in ("dense/bias", "dense/kernel"):
        np.testing.assert_array_equal(estimator.get_variable_value(name), VALUES[name])
    there = tf.estimator.Estimator(_model_fn, str(tmp_path))
    found = there.evaluate(input_fn, steps=1)
    expected = np.mean((np.array([3, 5, 7]) + VALUES["dense/bias"] - 1) ** 2)
    assert (float(found["loss"]), found["global_step"]) == (pytest.approx(expected), 7)
    with pytest.raises(ValueError, match="begin a new folder with its values"):
        there.train(input_fn, steps=1)
