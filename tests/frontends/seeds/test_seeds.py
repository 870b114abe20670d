"""Scripts from TensorFlow's documents and tutorials, as they are but for the import line.

The `.txt` files beside this one are the documents' code, with the indentation that their pages lost.
Each test makes a script of one, lists the lines that it changes, and runs it on two simulated devices.

Left out of both documents are the parts for `model.fit`, TPUs and clusters. `"/gpu:0"`
becomes `"/cpu:0"`, because a device that is not there is an error here.
"""

import math
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
IMPORT = ("import tensorflow as tf", "from frontends import tf")


@pytest.fixture
def run(tmp_path, fresh_environment):
    """Runs a document's code with some lines changed; gives what it prints."""

    def run(name, *changes):
        text = (HERE / f"{name}.txt").read_text()
        for old, new in (IMPORT, *changes):
            assert text.count(old) >= 1, old
            text = text.replace(old, new)
        script = tmp_path / f"{name}.py"
        script.write_text(text)
        done = subprocess.run(
            [sys.executable, HERE / "run_script.py", script],
            env=fresh_environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def epochs(output):
    found = re.findall(r"Epoch (\d), Loss: ([\d.]+), Accuracy: ([\d.]+)", output)
    return [(int(epoch), float(loss), float(accuracy)) for epoch, loss, accuracy in found]


def test_003_custom_training_loop(run):
    output = run("003_custom_training_loop")
    lines = output.splitlines()
    assert lines[0] == "Number of devices: 2"
    assert lines[1].startswith("Epoch 1, Step 0, Loss: ")
    results = epochs(output)
    assert [epoch for epoch, _, _ in results] == [1, 2, 3, 4, 5]
    losses = [loss for _, loss, _ in results]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < losses[0] / 3
    assert results[-1][2] > 0.9


MIXED = """
policy = tf.keras.mixed_precision.Policy('mixed_float16')
tf.keras.mixed_precision.set_global_policy(policy)
"""
SEEDS = """
import random
import numpy as np
def set_seeds(seed=42):
    tf.random.set_seed(seed)
    np.random.seed(seed)
    random.seed(seed)

set_seeds()
"""
PREFETCH = "train_dataset = train_dataset.cache().prefetch(tf.data.AUTOTUNE)\n"


def test_003_challenges(run):
    """The document's answers to slow training: mixed precision, caching; and to irreproducible runs."""
    dist = "dist_dataset ="
    changes = [
        ("# Create a strategy\n", f"{MIXED}{SEEDS}# Create a strategy\n"),
        (dist, f"{PREFETCH}{dist}"),
        ("epochs = 5", "epochs = 2"),
    ]
    output = run("003_custom_training_loop", *changes)
    assert run("003_custom_training_loop", *changes) == output
    (_, first, _), (_, second, accuracy) = epochs(output)
    assert second < first
    assert accuracy > 0.8


# What the document prints: its model starts from a random weight, here from the one that it had.
PRINTED = {
    **{0: 0.9024367, 1: 0.8953863, 2: 0.8884038, 3: 0.88148874, 4: 0.87464076, 5: 0.86785895},
    **{
        10: 0.83492863,
        20: 0.77374756,
        50: 0.6229345,
        99: 0.4552598,
        100: 0.45259115,
        109: 0.42965108,
    },
}


def test_004_custom_training_loop(run):
    start = 0.0  # a weight w whose loss log(1 + exp(-w)) + 1e-4 * w**2 is the first one printed
    for _ in range(5):
        start = -math.log(math.expm1(PRINTED[0] - 1e-4 * start**2))
    changes = [
        ('"/gpu:0", "/gpu:1"', '"/cpu:0", "/cpu:1"'),
        ('device="/gpu:0"', 'device="/cpu:0"'),
        (
            "  optimizer = tf.keras.optimizers.SGD()\n",
            "  optimizer = tf.keras.optimizers.SGD()\n"
            f"  model.layers[0].kernel.assign([[{start}]])\n",
        ),
    ]
    output = run("004_distributed_training", *changes)
    first, *lines = output.splitlines()
    assert "Variable" in first
    losses = [float(re.search(r"\d\.\d+", line)[0]) for line in lines]
    assert len(losses) == 110
    assert losses == sorted(losses, reverse=True)
    for step, loss in PRINTED.items():
        assert losses[step] == pytest.approx(loss, rel=1e-5), step
