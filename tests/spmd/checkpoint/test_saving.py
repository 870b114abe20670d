"""All processes save the same, and keep nothing of it."""

import json
import tracemalloc

import jax.numpy as jnp
import pytest

from spmd.checkpoint import Checkpoint, CheckpointError, saving
from spmd.checkpoint.snapshot import fingerprints, take_snapshot


@pytest.mark.parametrize(
    ("others", "difference"),
    [
        ({"a": jnp.zeros(2), "b": 2}, "b: it is not the same in process 0 and process 1"),
        ({"a": jnp.zeros(3), "b": 1}, "a: it is not the same in process 0 and process 1"),
        ({"a": jnp.zeros(2), "b": 1, "c": 3}, "c: only process 1 has it"),
        ({"a": jnp.zeros(2)}, "b: only process 0 has it"),
    ],
)
def test_what_differs_between_processes_is_named(tmp_path, store, others, difference):
    def answer(key, text):
        """Gives what this process says, and what one with the others says."""
        objects = json.dumps(fingerprints(take_snapshot(Checkpoint(**others)).nodes))
        if key == "checkpoint/save":
            return (text, json.dumps({**json.loads(text), "objects": objects}))
        return (text, objects)

    store.answer = answer
    with pytest.raises(CheckpointError, match=rf"\n  {difference}\n"):
        Checkpoint(a=jnp.ones(2), b=1).save(tmp_path / "ckpt")
    assert not list(tmp_path.iterdir())


def test_a_save_that_is_done_keeps_no_copy_of_the_state(tmp_path):
    checkpoint = Checkpoint(x=jnp.zeros(2**20))
    checkpoint.save(tmp_path / "first")  # imports what writes
    checkpoint.wait()
    tracemalloc.start()
    try:
        checkpoint.save(tmp_path / "second")
        saving.wait_for_saves()
        left, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most >= checkpoint.x.nbytes > left
