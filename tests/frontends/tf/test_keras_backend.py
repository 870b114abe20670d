"""Keras's backend after the front end was imported."""

import os
import sys
import types

import pytest

from frontends.tf import _keras_backend


@pytest.mark.parametrize(
    ("chosen", "imported", "expected"),
    [
        (None, False, "jax"),
        ("", False, "jax"),
        ("tensorflow", False, "jax"),
        ("tensorflow", True, "tensorflow"),
        ("numpy", False, "numpy"),
        ("numpy", True, "numpy"),
        (None, True, None),
    ],
)
def test_jax_is_chosen_where_nothing_else_is(monkeypatch, chosen, imported, expected):
    monkeypatch.delenv("KERAS_BACKEND", raising=False)
    if chosen is not None:
        monkeypatch.setenv("KERAS_BACKEND", chosen)
    monkeypatch.delitem(sys.modules, "keras", raising=False)
    if imported:
        monkeypatch.setitem(sys.modules, "keras", sys)
    _keras_backend.choose()
    assert os.environ.get("KERAS_BACKEND") == expected


@pytest.mark.parametrize(
    ("chosen", "lines", "expected"),
    [
        ("", "from frontends import tf; import keras", "jax"),
        (
            "",
            "from frontends import tf; import os; os.environ['KERAS_BACKEND'] = 'tensorflow'; import keras",
            "jax",
        ),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in [
                ("numpy", "from frontends import tf; import keras", "numpy"),
                ("numpy", "import keras; from frontends import tf", "numpy"),
            ]
        ),
    ],
)
def test_a_plain_import_of_keras_gets_it(run_python, chosen, lines, expected, tmp_path):
    environment = {"KERAS_BACKEND": chosen, "KERAS_HOME": str(tmp_path)}
    done = run_python("-c", f"{lines}; print(keras.backend.backend())", environment=environment)
    assert done.stdout.strip() == expected


FIT = """
from frontends import tf
import keras
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with strategy.scope():
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", "mse")
model.fit(tf.data.Dataset.from_tensors((tf.ones([4, 2]), tf.ones([4, 1]))), verbose=0)
print(len(model.weights[0].value.sharding.device_set))
"""


def test_a_plain_import_of_keras_knows_strategies_and_datasets(run_python, tmp_path):
    environment = {
        "XLA_FLAGS": "--xla_force_host_platform_device_count=2",
        "KERAS_HOME": str(tmp_path),
    }
    done = run_python("-c", FIT, environment=environment)
    assert done.stdout.strip() == "2", done.stderr


def test_a_keras_on_another_backend_is_left_alone(monkeypatch):
    monkeypatch.delitem(sys.modules, "frontends.tf.keras", raising=False)
    other = types.SimpleNamespace(config=types.SimpleNamespace(backend=lambda: "numpy"))
    monkeypatch.setitem(sys.modules, "keras", other)
    _keras_backend.connect()
    assert "frontends.tf.keras" not in sys.modules


def test_a_module_without_backends_is_left_alone(monkeypatch):
    monkeypatch.delitem(sys.modules, "frontends.tf.keras", raising=False)
    monkeypatch.setitem(sys.modules, "keras", types.ModuleType("keras"))
    _keras_backend.connect()
    assert "frontends.tf.keras" not in sys.modules


def test_another_backend_of_tensorflow_s_is_named(monkeypatch, caplog):
    monkeypatch.setenv("KERAS_BACKEND", "tensorflow")
    monkeypatch.delitem(sys.modules, "keras", raising=False)
    _keras_backend.choose()
    assert "KERAS_BACKEND is 'tensorflow'. Keras runs on 'jax' instead" in caplog.text
