"""Names are found as a script finds them."""

import functools
import json
import subprocess
import sys

import pytest

from frontends import tf
from frontends.tf.check import names, stored
from frontends.tf.check.names import find, made, member, python_module
from frontends.tf.check.uses import uses_in
from tests.frontends.tf.check.scripts import ROOT, SCRIPTS
from tests.golden import recording


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_every_name_of_a_script_is_right(script):
    """What is said to exist is there, and what is said to be missing raises."""
    for use in uses_in(script.read_text()).uses:
        assert use.found.is_missing != exists(use.found.path), use.found.path


def exists(path):
    owner = tf
    for name in path.split(".")[1:]:
        if isinstance(owner, type) and name in stored.attributes(owner):
            return True  # what only its instances have
        if isinstance(owner, property | functools.cached_property):
            return True
        try:
            owner = getattr(owner, name)
        except AttributeError:
            return False
    return True


def test_every_name_of_tf_distribute_is_right():
    listed = recording.names()
    for module in listed:
        for name in listed[module] if module != "tf" else ():
            path = f"{module}.{name}"
            assert find(path).is_missing != exists(path), path


@pytest.mark.parametrize(
    "path",
    [
        *("tf.Session", "tf.kron", "tf.math.kron", "tf.keras.layers.CuDNNGRU", "tf.keras.Modell"),
        *("tf.keras.backend.get_session", "tf.lite.Interpreter", "tf.contrib.seq2seq", "tf.lite"),
        *("tf.compat.v1.Sessionn", "tf.losses.nothing", "tf.distribute.experimental.rpc.Server"),
        "tf.data.Dataset.nothing",
    ],
)
def test_a_missing_name_has_the_words_of_its_error(path):
    found = find(path)
    assert found.is_missing
    owner, _, name = found.path.rpartition(".")
    with pytest.raises(AttributeError) as error:
        getattr(functools.reduce(getattr, owner.split(".")[1:], tf), name)
    assert found.message == str(error.value)


def test_modules_without_words_of_their_own_get_the_usual_ones():
    assert find("tf.data.nothing").message.startswith("tf.data.nothing is not part of jaxtribute.")
    assert find("tf.optimizers.nothing").is_missing


def test_names_by_other_ways_are_the_same():
    assert find("tf.compat.v1.keras.layers").path == "tf.keras.layers"
    assert find("tf.compat.v2.cast").path == "tf.cast"
    assert find("tf.compat.v1.losses.mean_squared_error").kind == "function"
    assert find("tf.optimizers.Adam").kind == "class"


def test_methods_of_what_is_made():
    strategy = made(find("tf.distribute.MirroredStrategy"))
    assert member(strategy, "run").kind == "function"
    assert member(strategy, "num_replicas_in_sync").kind == "value"
    assert member(strategy, "make_dataset_iterator_v9").is_missing
    dataset = made(find("tf.data.Dataset.from_tensor_slices"))
    assert made(member(made(member(dataset, "map")), "batch")).path == "tf.data.Dataset"
    assert "has no attribute 'bucket'" in member(dataset, "bucket").message
    model = made(find("tf.keras.Sequential"))
    assert not member(model, "fit").is_missing
    assert "Keras 3" in member(model, "fit_generator").message
    assert made(find("tf.reduce_sum")) is None


def test_nothing_is_said_of_what_only_running_shows():
    assert find("tf.float32.__class__").kind == "unknown"
    value = member(made(find("tf.distribute.MirroredStrategy")), "cluster_resolver")
    assert member(value, "whatever").kind == "unknown"


@pytest.mark.parametrize(
    "path", [path for path in names.keras_names.MODULES if path.count(".") < 3]
)
def test_modules_can_be_imported_by_their_python_names(path):
    __import__(python_module(path))


@pytest.mark.parametrize(
    "path", ["tf.app.flags.FLAGS.batch_size", "tf.flags.FLAGS.x", "tf.compat.v1.flags.FLAGS.x"]
)
def test_flags_are_the_script_s_own(path, monkeypatch):
    """And the command line of the check is not theirs."""
    monkeypatch.setattr(sys, "argv", ["jaxtribute", "check", "--fix", "fl.py"])
    assert not names.find(path).is_missing


def test_what_is_no_module_has_no_python_name():
    assert python_module("tf.cast") is None
    assert python_module("tf.no_such_module") is None
    assert python_module("tf.data.experimental") == "frontends.tf.data.experimental"


def test_looking_up_names_imports_no_keras(tmp_path):
    program = f"""
import json, sys
from pathlib import Path
from frontends.tf.check.report import report_on
for path in {[str(path) for path in SCRIPTS]!r}:
    report_on(Path(path))
print(json.dumps([name for name in ("keras", "tensorflow", "ray", "tensorboard") if name in sys.modules]))
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert json.loads(done.stdout) == []


def test_hyperparameters_are_not_known():
    assert member(made(find("tf.contrib.training.HParams")), "hidden_size").kind == "unknown"
