"""Keras's backend after the front end was imported."""

import os
import sys

import pytest

from frontends.tf import _keras_backend


@pytest.mark.parametrize(
    ("chosen", "imported", "expected"),
    [
        (None, False, "jax"),
        ("", False, "jax"),
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
