"""Runs a script on two simulated devices, with the MNIST digits that come with the repository.

    python run_script.py SCRIPT [DEVICES [WEIGHTS]]

The weights of the script's `model` go into the file WEIGHTS.

Keras downloads MNIST; there is no network in tests, so `tf.keras.datasets.mnist.load_data` reads digits
of examples/data instead, and only some of them.
"""

import runpy
import sys
import warnings
from pathlib import Path

import numpy as np
from absl import logging

import spmd

DIGITS = {"train": 3000, "test": 500}  # the last batch of 128 has 56 rows
DATA = Path(__file__).parents[3] / "examples" / "data"


def load_data(path="mnist.npz"):
    import tensorflow_datasets as tfds

    def arrays(split):
        source = tfds.data_source("mnist", split=split, data_dir=DATA, download=False)
        rows = [source[index] for index in range(DIGITS[split])]
        images = np.stack([row["image"][..., 0] for row in rows])
        return images, np.array([row["label"] for row in rows], np.uint8)

    return arrays("train"), arrays("test")


if __name__ == "__main__":
    spmd.simulate_devices(int(sys.argv[2]) if len(sys.argv) > 2 else 2)
    from frontends import tf

    tf.keras.datasets.mnist.load_data = load_data
    logging.set_verbosity(logging.ERROR)  # TFDS warns that OpenCV would decode faster
    warnings.simplefilter("error", UserWarning)
    names = runpy.run_path(sys.argv[1], run_name="__main__")
    if len(sys.argv) > 3:
        np.savez(sys.argv[3], *names["model"].get_weights())
