"""Pictures from TFRecords, and from folders, run as a person runs it."""

import re
from pathlib import Path

import numpy as np
import pytest

from frontends import tf

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "image_classification.py"


def right(done):
    """The part of pictures that the model was right about."""
    found = re.search(r"Pictures that it has not seen: loss [\d.]+, (\d+)% right", done.stdout)
    return int(found[1]) / 100


@pytest.mark.slow
def test_drawings_are_learned(run_python):
    done = run_python("-W", "error::UserWarning", EXAMPLE)
    assert "Devices: 2 x CPU (simulated" in done.stdout
    assert right(done) > 0.6


@pytest.mark.slow
def test_resnet_of_keras_applications(run_python):
    options = ("--resnet50", "--size", "32", "--images", "40", "--batch-size", "8", "--epochs", "2")
    done = run_python(EXAMPLE, *options)
    losses = [float(loss) for loss in re.findall(r"accuracy: [\d.]+ - loss: ([\d.]+)", done.stdout)]
    assert (
        len(losses) == 2
    )  # Eight steps of 23 million weights teach nothing yet, but diverge if wrong.
    assert all(0 < loss < 5 for loss in losses)
    assert 0 <= right(done) <= 1


@pytest.mark.slow
def test_folders_of_pictures(run_python, tmp_path):
    for number, name in enumerate(("dark", "light")):
        for index in range(10):
            pixels = np.full((20 + index, 30, 3), 40 + 150 * number, np.uint8)
            tf.io.write_file(str(tmp_path / name / f"{index}.jpg"), tf.io.encode_jpeg(pixels))
    options = ("--data-dir", tmp_path, "--size", "16", "--batch-size", "4", "--epochs", "2")
    done = run_python(EXAMPLE, *options)
    assert "Pictures: dark, light; scaled to 16 x 16" in done.stdout
    assert 0 <= right(done) <= 1
