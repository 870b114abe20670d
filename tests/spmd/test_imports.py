"""What importing the package does not do: no backend, no heavy libraries, no threads, no variables but one."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import spmd

ROOT = Path(spmd.__file__).parents[1]
HEAVY = ["tensorflow", "tensorflow_datasets", "keras", "tf_keras", "ray", "torch", "matplotlib"]
HEAVY += ["kubernetes", "googleapiclient", "google.auth"]


@pytest.mark.parametrize(
    ("statement", "variables"),
    [
        ("import spmd, spmd.cluster; spmd.cluster.from_tf_config({})", []),
        # The only variable the front end sets: Keras reads it when it is imported, and cannot change it later.
        (
            "from frontends import tf; tf.distribute.cluster_resolver, tf.nn.relu, tf.image.resize, tf.compat.v1.logging; "
            "dir(tf); hasattr(tf, 'no_such_name')",
            ["KERAS_BACKEND"],
        ),
    ],
)
def test_an_import_starts_nothing(statement: str, variables: list[str]) -> None:
    code = f"""
import json, os, sys, threading
import jax  # sets variables of its own
environment = dict(os.environ)
{statement}
changed = sorted(k for k in environment | os.environ if environment.get(k) != os.environ.get(k))
from spmd import _jax_internals
print(json.dumps({{
    "backend": _jax_internals.backend_is_running(),
    "heavy": sorted(set({HEAVY!r}) & set(sys.modules)),
    "environment": changed,
    "threads": threading.active_count(),
}}))
"""
    # Not what conftest.py set for the tests: a variable that is already there could not be seen to change.
    clean = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**clean, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "backend": False,
        "heavy": [],
        "environment": variables,
        "threads": 1,
    }
    assert done.stderr == ""


def test_a_star_import_brings_the_front_page() -> None:
    names: dict[str, object] = {}
    exec("from spmd import *", names)
    assert names.keys() - {"__builtins__"} == set(spmd.__all__)
