"""`tf.keras` is Keras on JAX, with the names of Keras 2 that scripts still use."""

import gc
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import jax.extend as jex
import keras
import numpy as np
import pytest

from frontends import tf

ROOT = Path(tf.__file__).parents[2]


def run(code, **environment):
    inherited = {k: v for k, v in os.environ.items() if k != "KERAS_BACKEND"}
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**inherited, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def test_keras_is_imported_when_it_is_used():
    code = """
import json, os, sys
from frontends import tf
from spmd import _jax_internals
before = "keras" in sys.modules
from frontends.tf.keras.layers import Dense
import frontends.tf.keras.applications.resnet50 as resnet
print(json.dumps([before, tf.keras.backend.backend(), os.environ["KERAS_BACKEND"],
    tf.keras.layers.Dense is Dense, resnet.ResNet50 is tf.keras.applications.ResNet50,
    tf.losses.Reduction.SUM, _jax_internals.backend_is_running()]))
"""
    done = run(code)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [False, "jax", "jax", True, True, "sum", False]


@pytest.mark.parametrize(
    ("code", "backend", "message"),
    [
        ("", "torch", "KERAS_BACKEND is 'torch'. .*export KERAS_BACKEND=jax"),
        pytest.param(
            "import keras",
            "numpy",
            "imported before with 'numpy' .*os.environ..KERAS_BACKEND.. = .jax.",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "import importlib.util; importlib.util.find_spec = lambda name: None",
            "jax",
            r"pip install \"jaxtribute\[keras\]\"",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_another_backend_is_an_error_with_a_remedy(code, backend, message):
    done = run(
        f"import sys\nfrom frontends import tf\n{code}\ntry:\n  tf.keras\n"
        "except ImportError as error:\n  print(error)",
        KERAS_BACKEND=backend,
    )

    assert re.search(message, done.stdout), (done.stdout, done.stderr)


@pytest.mark.parametrize(
    "name",
    [
        *("Input", "Model", "Sequential", "Variable", "activations", "applications", "callbacks"),
        *("constraints", "datasets", "initializers", "losses", "metrics", "mixed_precision"),
        *("models", "ops", "optimizers.schedules", "preprocessing.sequence", "random"),
        *("regularizers", "utils.to_categorical", "__version__", "layers.experimental"),
        *("layers.experimental.preprocessing.Rescaling", "optimizers.experimental.AdamW"),
        *("mixed_precision.experimental.set_policy", "experimental.CosineDecay"),
        *("mixed_precision.Policy", "mixed_precision.set_global_policy"),
        *("losses.mean_squared_error", "losses.mse", "metrics.kl_divergence"),
    ],
)
def test_names(name):
    found = tf.keras
    for part in name.split("."):
        assert part in dir(found) or part.startswith("__")
        found = getattr(found, part)


def test_it_is_keras_itself():
    assert tf.keras.layers.Dense is keras.layers.Dense
    assert tf.losses.MeanSquaredError is keras.losses.MeanSquaredError
    assert tf.metrics.Mean is keras.metrics.Mean
    assert tf.optimizers.Adam is keras.optimizers.Adam
    assert tf.initializers.Zeros is keras.initializers.Zeros
    assert tf.keras.layers.AlphaDropout is keras.layers.AlphaDropout


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("layers.Dens", r"tf\.keras\.layers\.Dens .*Did you mean tf\.keras\.layers\.Dense"),
        ("utils.multi_gpu_model", "MirroredStrategy"),
        ("no_such_thing", r"tf\.keras\.no_such_thing is not part of jaxtribute"),
        ("metrics.no_such_thing", r"tf\.keras\.metrics\.no_such_thing is not part"),
    ],
)
def test_unknown_names(name, hint):
    *path, last = name.split(".")
    found = tf.keras
    for part in path:
        found = getattr(found, part)
    with pytest.raises(AttributeError, match=hint):
        getattr(found, last)


def test_reductions():
    assert set(tf.keras.losses.Reduction.all()) == {"none", "sum", "sum_over_batch_size"}
    for reduction in tf.keras.losses.Reduction.all():
        assert tf.keras.losses.MeanSquaredError(reduction=reduction).reduction == reduction


def test_synchronized_batch_normalization_is_a_class():
    cls = tf.keras.layers.experimental.SyncBatchNormalization
    layer = type("Own", (cls,), {})(momentum=0.5)
    assert isinstance(layer, cls)
    assert layer.synchronized
    again = cls.from_config(cls(-1, 0.25).get_config())
    assert (again.synchronized, again.momentum) == (True, 0.25)


@pytest.mark.parametrize("module", [tf.keras.backend, tf.keras.utils])
def test_a_cleared_session_frees_programs_and_models_train_on(module):
    x = np.ones((8, 2), np.float32)
    with tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"]).scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="zeros")])
        model.compile(tf.keras.optimizers.SGD(0.1), "mse")
    model.fit(x, x[:, :1], batch_size=8, verbose=0)
    before = model.get_weights()[0]
    gc.collect()
    kept = _programs()
    module.clear_session()
    assert _programs() < kept
    np.testing.assert_array_equal(model.get_weights()[0], before)
    model.fit(x, x[:, :1], batch_size=8, verbose=0)
    assert (model.get_weights()[0] > before).all()


def _programs() -> int:
    return sum(isinstance(each, jex.core.Jaxpr) for each in gc.get_objects())


def test_one_seed_for_all():
    drawn = []
    for _ in range(2):
        tf.keras.utils.set_random_seed(3)
        dataset = tf.data.Dataset.range(20).shuffle(20)
        drawn.append([float(tf.random.normal([])), *map(int, dataset)])
    assert drawn[0] == drawn[1]
    tf.random.set_seed(None)
