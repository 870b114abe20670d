"""What a script that ends leaves of a checkpoint that is being written."""

from spmd.checkpoint import verify

SAVES = """
import sys
import jax.numpy as jnp
from spmd.checkpoint import Checkpoint

Checkpoint(**{f"x{i}": jnp.ones((800, 800)) for i in range(8)}).save(sys.argv[1])
"""
FAILS = """
import atexit, sys
from spmd.checkpoint import Checkpoint, layout

def publish(*_):
    raise OSError("the disk is full")

atexit.register(print, "the script's own end")
layout.publish = publish
Checkpoint(a=1).save(sys.argv[1])
"""


def test_a_script_that_ends_has_saved(run_python, tmp_path):
    run_python("-c", SAVES, tmp_path / "ckpt")
    verify(str(tmp_path / "ckpt"))


def test_a_save_that_failed_is_told_of_at_the_end(run_python, tmp_path):
    done = run_python("-c", FAILS, tmp_path / "ckpt", status=1)
    assert "OSError: the disk is full" in done.stderr
    assert "the script's own end" in done.stdout
