"""Checkpoints in an object store: written by several processes, whole whenever one is killed, and no process waits for one that failed."""

import random
import signal
import subprocess
import sys

import pytest

from frontends import tf
from tests.multiprocess.s3 import BUCKET
from tests.multiprocess.s3 import s3 as s3

pytestmark = [pytest.mark.multiprocess, pytest.mark.slow]

START = """
import os, sys
import jax, jax.numpy as jnp, numpy as np
import spmd
from spmd.checkpoint import Checkpoint, CheckpointManager
from tests.multiprocess.programs.joined import me, mesh
from jax.sharding import NamedSharding, PartitionSpec
"""

SHARDED = (
    START
    + """
values = np.random.default_rng(0).normal(size=(64, 8)).astype(np.float32)
devices = jax.sharding.Mesh(np.array(jax.devices()), "all")
def placed(array, spec):
    sharding = NamedSharding(devices, spec)
    return jax.make_array_from_callback(array.shape, sharding, lambda index: array[index])
split, whole = PartitionSpec("all"), PartitionSpec()
checkpoint = Checkpoint(split=placed(values, split), whole=placed(values + 1, whole), epoch=1)
manager = CheckpointManager(checkpoint, sys.argv[1])
if sys.argv[2] == "save":
    manager.save(1)
    manager.wait()
checkpoint.split, checkpoint.whole = placed(values * 0, split), placed(values * 0, whole)
checkpoint.epoch = 0
print(manager.restore_latest(), checkpoint.epoch)
for array, expected in ((checkpoint.split, values), (checkpoint.whole, values + 1)):
    for shard in array.addressable_shards:
        assert (np.asarray(shard.data) == expected[shard.index]).all()
"""
)


def test_state_crosses_numbers_of_processes_by_way_of_a_store(run_cluster, s3):
    """No process sees a disk of another: each writes into a folder of its own, and merges what it reads."""
    for workers, devices, what in ((2, 2, "save"), (1, 4, "restore"), (2, 1, "restore")):
        tasks = run_cluster(
            SHARDED, "s3://bucket/shapes", what, workers=workers, devices=devices, **s3
        )
        assert [task.lines for task in tasks] == [["1 1"]] * workers


FAILING = (
    START
    + """
import time
if me == int(sys.argv[2]):
    os.environ["AWS_ENDPOINT_URL"] = sys.argv[3]
devices = jax.sharding.Mesh(np.array(jax.devices()), "all")
sharding = NamedSharding(devices, PartitionSpec("all"))  # each process has a part to write
array = jax.make_array_from_callback((4,), sharding, lambda index: np.arange(4.0)[index])
checkpoint = Checkpoint(array=array)
begin = time.monotonic()
try:
    checkpoint.save(sys.argv[1])
    checkpoint.wait()
except OSError as error:
    print(error, flush=True)
print(round(time.monotonic() - begin), flush=True)
"""
)


@pytest.mark.parametrize("process", [0, 1])
def test_what_one_process_cannot_put_there_fails_in_all(run_cluster, s3, process):
    """One process reaches no store."""
    nowhere = "http://127.0.0.1:9"
    tasks = run_cluster(FAILING, "s3://bucket/failing", process, nowhere, **s3)
    for task in tasks:
        error, seconds = task.lines
        assert error.startswith(
            f"The checkpoint s3://bucket/failing was not saved, because process {process} could not write it: s3://bucket/"
        )
        assert "Could not connect to the endpoint" in error
        assert int(seconds) < 60


KILLED = """
import os, signal, sys

killed_at, count = int(sys.argv[2]), 0
import numpy as np
from frontends import tf
from spmd.files import StorePath

def counted(method):
    def call(*args, **kwargs):
        for _ in range(2):  # before, and after
            global count
            count += 1
            if count == killed_at:
                os.kill(os.getpid(), signal.SIGKILL)
            if _ == 0:
                found = method(*args, **kwargs)
        return found
    return call

state = tf.Variable(np.zeros((64, 64), np.float32))
checkpoint = tf.train.Checkpoint(state=state, numbers=[0] * 8)
manager = tf.train.CheckpointManager(checkpoint, sys.argv[1], max_to_keep=2)
manager.restore_or_initialize()
step = int(state.numpy()[0, 0])
assert (state.numpy() == step).all() and checkpoint.numbers == [step] * 8
print("restored", step, flush=True)
for name in ("upload", "write_bytes", "unlink", "rmtree", "files", "iterdir"):
    setattr(StorePath, name, counted(getattr(StorePath, name)))
while True:
    step += 1
    state.assign(np.full((64, 64), step, np.float32))
    checkpoint.numbers = [step] * 8
    manager.save()
    print("saved", step, flush=True)
"""


def test_a_checkpoint_is_always_there(fresh_environment, s3, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(KILLED)
    moments, last = random.Random(0), 0
    for _ in range(12):
        task = subprocess.run(
            [sys.executable, script, "s3://bucket/killed", str(moments.randrange(1, 100))],
            env={**fresh_environment, **s3, "TMPDIR": str(tmp_path)},
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
    assert last > 6
    assert len(list(tmp_path.glob("jaxtribute-staging-*"))) <= 1  # the next start deletes them


FILES = """
import sys
from frontends import tf
gfile, url = tf.io.gfile, sys.argv[1]
with tf.io.TFRecordWriter(url + "/a/1.tfrecord") as writer:
    writer.write(b"one")
with gfile.GFile(url + "/a/b/2.txt", "w") as file:
    file.write("two")
assert gfile.listdir(url + "/a/") == ["1.tfrecord", "b"] and gfile.isdir(url + "/a/b")
gfile.rename(url + "/a", url + "/c")
gfile.copy(url + "/c/b/2.txt", "local")
gfile.copy("local", url + "/d")
assert list(gfile.walk(url)) == [
    (url, ["c"], ["d"]), (url + "/c", ["b"], ["1.tfrecord"]), (url + "/c/b", [], ["2.txt"])
]
files = tf.data.Dataset.list_files(url + "/c/*.tfrecord")
assert list(files.interleave(tf.data.TFRecordDataset).as_numpy_iterator()) == [b"one"]
gfile.makedirs(url + "/e")
gfile.rmtree(url + "/e")
gfile.rmtree(url)
assert not gfile.exists(url)
"""


def test_files_of_a_store(fresh_environment, s3, tmp_path):
    subprocess.run(
        [sys.executable, "-c", FILES, "s3://bucket/files"],
        env={**fresh_environment, **s3},
        cwd=tmp_path,
        timeout=400,
        check=True,
    )


SUMMARIES = """
import sys
from frontends import tf

writer = tf.summary.create_file_writer(sys.argv[1])
with writer.as_default():
    tf.summary.scalar("loss", 0.5, step=7)
if sys.argv[2] == "fails":
    raise ValueError("as scripts do")
if sys.argv[2] == "loses":
    import os
    os.environ["AWS_ENDPOINT_URL"] = "http://127.0.0.1:9"
    import fsspec
    fsspec.get_filesystem_class("s3").clear_instance_cache()
"""


@pytest.mark.parametrize("how", ["ends", "fails", "loses"])
def test_what_an_open_writer_has_is_there_when_the_script_ends(
    fresh_environment, s3, tmp_path, monkeypatch, how
):
    script = tmp_path / "script.py"
    script.write_text(SUMMARIES)
    url = f"s3://{BUCKET}/summaries/{how}"
    task = subprocess.run(
        [sys.executable, script, url, how],
        env={**fresh_environment, **s3, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert task.returncode == (how == "fails"), task.stderr
    lost = "The last summaries are lost, the store does not take them: s3://bucket/"
    assert task.stderr.count(lost) == (how == "loses"), task.stderr
    for name, value in s3.items():
        monkeypatch.setenv(name, value)
    (path,) = tf.io.gfile.glob(f"{url}/*")
    steps = [
        event.step for event in tf.compat.v1.train.summary_iterator(path) if event.summary.value
    ]
    assert steps == ([] if how == "loses" else [7])
