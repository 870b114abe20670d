"""What a script that ends leaves of a checkpoint that is being written."""

SAVE = """
import sys
import jax.numpy as jnp
from spmd.checkpoint import Checkpoint

{before}
checkpoint = Checkpoint(**{{f"x{{i}}": jnp.ones((800, 800)) for i in range(8)}})
checkpoint.save(sys.argv[1])
del checkpoint
"""
RESTORE = """
import sys
from spmd.checkpoint import verify

verify(sys.argv[1])
"""


def test_a_script_that_ends_has_saved(run_python, tmp_path):
    run_python("-c", SAVE.format(before=""), tmp_path / "ckpt")
    run_python("-c", RESTORE, tmp_path / "ckpt")


def test_a_save_that_failed_is_told_of_at_the_end(run_python, tmp_path):
    before = """
from spmd.checkpoint import manifest
def commit(*_):
    raise OSError("the disk is full")
manifest.commit = commit
import atexit
"""
    before += "atexit.register(print, 'the script\\'s own end')\n"
    done = run_python("-c", SAVE.format(before=before), tmp_path / "ckpt", status=1)
    assert "OSError: the disk is full" in done.stderr
    assert "the script's own end" in done.stdout
