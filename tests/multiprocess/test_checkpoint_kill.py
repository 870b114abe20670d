"""A process that is killed while it saves leaves a checkpoint that can be restored."""

import random
import signal
import subprocess
import sys

import pytest

pytestmark = [pytest.mark.multiprocess, pytest.mark.slow]

KILLS = 20
# What Python tells of before it does it, and about how often it does it for one checkpoint.
EVENTS = ("open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.scandir", "os.listdir")
PER_SAVE = 76

SCRIPT = """
import os, signal, sys, threading

killed_at, count = int(sys.argv[2]), 0
EVENTS = {events!r}

def kill(event, arguments):
    global count
    if event in EVENTS:
        count += 1
        if count == killed_at:
            os.kill(os.getpid(), signal.SIGKILL)

import numpy as np
from frontends import tf

state = tf.Variable(np.zeros((64, 64), np.float32))
checkpoint = tf.train.Checkpoint(state=state, numbers=[0] * 8)
manager = tf.train.CheckpointManager(checkpoint, sys.argv[1], max_to_keep=2)
path = manager.restore_or_initialize()
step = int(state.numpy()[0, 0])
assert (state.numpy() == step).all() and checkpoint.numbers == [step] * 8
print("restored", step, flush=True)
checkpoint.write(sys.argv[1] + "-first")  # imports what saving needs
sys.addaudithook(kill)
while True:
    step += 1
    state.assign(np.full((64, 64), step, np.float32))
    checkpoint.numbers = [step] * 8
    manager.save()
    print("saved", step, flush=True)
"""


def test_a_checkpoint_is_always_there(fresh_environment, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(events=EVENTS))
    moments = random.Random(0)
    last, folder = 0, tmp_path / "run"
    for _ in range(KILLS):
        # Within the first save, when leftovers of the one before go, or in one of the next.
        moment = moments.randrange(1, 3 * PER_SAVE)
        task = subprocess.run(
            [sys.executable, "-W", "error", script, folder, str(moment)],
            env=fresh_environment,
            capture_output=True,
            text=True,
            timeout=400,
            check=False,
        )
        assert task.returncode == -signal.SIGKILL, task.stderr
        lines = [line.split() for line in task.stdout.splitlines()]
        assert lines[0][0] == "restored", task.stderr
        # What save() had returned from is there; so may be what was killed on its way back.
        assert int(lines[0][1]) in (last, last + 1)
        last = int(lines[-1][1])
    assert last > KILLS // 2  # there were whole saves between the kills
    left = [entry for entry in folder.glob("ckpt-*") if not entry.suffix]
    assert 2 <= len(left) <= 4
