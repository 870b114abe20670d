"""Import statements, and what they import."""

import ast

import pytest

from frontends.tf.check.imports import imported, tensorflow_path


def read(line):
    (statement,) = ast.parse(line).body
    return imported(statement)


@pytest.mark.parametrize(
    ("line", "path", "module", "written"),
    [
        ("import tensorflow as tf", "tf", "frontends", "tf"),
        ("import tensorflow", "tf", "frontends", "tf as tensorflow"),
        ("import tensorflow.keras", "tf", "frontends", "tf as tensorflow"),
        ("import tensorflow.compat.v1 as tf", "tf.compat.v1", "frontends.tf.compat", "v1 as tf"),
        ("import tensorflow.compat.v2 as tf", "tf", "frontends", "tf"),
        ("from tensorflow.compat import v2 as tf", "tf", "frontends", "tf"),
        ("from tensorflow import keras", "tf.keras", "frontends.tf", "keras"),
        (
            "from tensorflow.keras import layers as L",
            "tf.keras.layers",
            "frontends.tf.keras",
            "layers as L",
        ),
        (
            "from tensorflow.python.keras import layers",
            "tf.keras.layers",
            "frontends.tf.keras",
            "layers",
        ),
        (
            "from tensorflow.optimizers import Adam",
            "tf.optimizers.Adam",
            "frontends.tf.keras.optimizers",
            "Adam",
        ),
        (
            "from tensorflow.compat.v1.keras.layers import Dense",
            "tf.compat.v1.keras.layers.Dense",
            "frontends.tf.keras.layers",
            "Dense",
        ),
    ],
)
def test_what_a_statement_imports(line, path, module, written):
    (one,) = read(line)
    assert (one.path, one.module, one.written, one.problem) == (path, module, written, "")


@pytest.mark.parametrize(
    "line",
    [
        "from frontends import tf",
        "import frontends.tf.keras as K",
        "from frontends.tf import keras",
    ],
)
def test_imports_of_this_front_end_stay(line):
    (one,) = read(line)
    assert one.module is None
    assert one.path.startswith("tf")


@pytest.mark.parametrize(
    ("line", "path", "problem"),
    [
        (
            "from tensorflow.keras.layers import CuDNNLSTM",
            "tf.keras.layers.CuDNNLSTM",
            "Use tf.keras.layers.LSTM",
        ),
        ("from tensorflow import Session", "tf.Session", "TensorFlow 1"),
        (
            "from tensorflow.python.ops import gen_math_ops",
            "tensorflow.python.ops.gen_math_ops",
            "internals",
        ),
        ("import tensorflow.python.ops", "tensorflow.python.ops", "internals"),
        (
            "from tensorflow.examples.tutorials.mnist import input_data",
            "tf.examples.tutorials.mnist.input_data",
            "tf.keras.datasets.mnist.load_data()",
        ),
        ("from tensorflow.keras import *", "tf.keras.*", "star import"),
        ("from frontends.tf import Session", "tf.Session", "TensorFlow 1"),
    ],
)
def test_what_cannot_be_imported(line, path, problem):
    (one,) = read(line)
    assert one.path == path
    assert problem in one.problem


def test_other_modules_are_left_out():
    first, second = read("import numpy as np, tensorflow as tf")
    assert first is None
    assert second.path == "tf"
    assert read("from . import tensorflow") == [None]
    assert read("from frontends import torch") == [None]
    assert tensorflow_path("tensorflow_datasets") is None
