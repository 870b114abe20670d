"""Keras's backend after the front end was imported."""

import os
import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("chosen", "lines", "expected"),
    [
        (None, "from frontends import tf; import keras", "jax"),
        ("", "from frontends import tf; import keras", "jax"),
        ("numpy", "from frontends import tf; import keras", "numpy"),
        ("numpy", "import keras; from frontends import tf", "numpy"),
    ],
)
def test_a_plain_import_of_keras_gets_jax(chosen, lines, expected, tmp_path):
    environment = {key: value for key, value in os.environ.items() if key != "KERAS_BACKEND"}
    environment["KERAS_HOME"] = str(tmp_path)
    if chosen is not None:
        environment["KERAS_BACKEND"] = chosen
    code = f"{lines}; print(keras.backend.backend())"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == expected, done.stderr
