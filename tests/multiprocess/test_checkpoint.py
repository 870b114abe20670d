"""Checkpoints of several processes: written together, restored on another number, never left half."""

import pytest

from spmd.checkpoint import verify

pytestmark = pytest.mark.multiprocess

START = """
import os, sys
import jax, jax.numpy as jnp, numpy as np, optax
from flax import nnx
import spmd
from spmd.checkpoint import Checkpoint, CheckpointManager
from tests.multiprocess.programs.joined import me, mesh
"""

TRAIN = (
    START
    + """
class Input:  # its position counts global batches
    position = 0
    def get_state(self):
        return self.position
    def set_state(self, state):
        self.position = state

data = Input()
rngs = nnx.Rngs(0)
model = nnx.Sequential(nnx.Linear(4, 8, rngs=rngs), nnx.relu, nnx.Linear(8, 1, rngs=rngs))
optimizer = nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.Param)
local = spmd.Variable(jnp.zeros(()))  # no step uses it: it is on one device of each process
checkpoint = Checkpoint(model=model, optimizer=optimizer, data=data, local=local, epoch=0)

def train(x, y):
    def loss(model):
        return ((model(x) - y) ** 2).sum() / 8
    optimizer.update(model, nnx.grad(loss)(model))

step = spmd.Step(train, mesh)
manager = CheckpointManager(checkpoint, sys.argv[1])
print("restored", manager.restore_latest(), "epoch", checkpoint.epoch, "local", float(local.value))
for _ in range(2):
    x = np.random.default_rng(data.position).normal(size=(8, 4)).astype(np.float32)
    for batch in spmd.distribute((x, x[:, :1]), mesh, batch_size=8):
        step(*batch)
    data.position += 1
    checkpoint.epoch += 1
    local.value = local.value + 10
manager.save(data.position)
manager.wait()
print([float(value.sum()) for value in jax.tree.leaves(nnx.to_pure_dict(nnx.state(model)))])
"""
)


def numbers(task):
    return [float(word) for word in task.lines[-1].strip("[]").split(", ")]


@pytest.mark.slow
def test_state_crosses_numbers_of_processes_and_devices(run_cluster, tmp_path):
    """8 devices, 4, 1 and 2, in two processes and one: the numbers of an uninterrupted run."""
    folder, whole = tmp_path / "run", tmp_path / "whole"
    shapes = [(2, 4), (2, 2), (1, 1), (2, 1)]
    for position, (workers, devices) in enumerate(shapes):
        tasks = run_cluster(TRAIN, folder, workers=workers, devices=devices)
        for task in tasks:
            restored = 2 * position if position else None
            assert task.lines[0] == (
                f"restored {restored} epoch {2 * position} local {20.0 * position}"
            )
            assert task.lines[-1] == tasks[0].lines[-1]
        (alone,) = run_cluster(TRAIN, whole, workers=1, devices=2)
        assert numbers(tasks[0]) == pytest.approx(numbers(alone), rel=1e-5, abs=1e-6)
    assert sorted(entry.name for entry in folder.iterdir()) == [f"step-{n}" for n in (2, 4, 6, 8)]


TF_TRAIN = """
import sys
import numpy as np
from frontends import tf

tf.keras.utils.set_random_seed(0)
strategy = getattr(tf.distribute, sys.argv[2])()
x = np.random.default_rng(0).normal(size=(64, 4)).astype(np.float32)
data = tf.data.Dataset.from_tensor_slices((x, x[:, :1])).shuffle(64, seed=1).batch(8)
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(8, "relu"), tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.Adam(0.01)
    loss_metric = tf.keras.metrics.Mean()
batches = iter(strategy.experimental_distribute_dataset(data))
checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer, loss=loss_metric, batches=batches)
manager = tf.train.CheckpointManager(checkpoint, sys.argv[1], max_to_keep=1)
print("restored", manager.restore_or_initialize() is not None)

@tf.function
def train(batch):
    def step(batch):
        x, y = batch
        with tf.GradientTape() as tape:
            losses = tf.reduce_sum((model(x, training=True) - y) ** 2, axis=1)
            loss = tf.nn.compute_average_loss(losses, global_batch_size=8)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        loss_metric.update_state(losses)
        return loss
    return strategy.reduce("SUM", strategy.run(step, args=(batch,)), axis=None)

for _ in range(2):
    print(float(train(next(batches))))
manager.save()
print([round(float(np.asarray(v).sum()), 5) for v in model.variables] + [float(loss_metric.result())])
"""


@pytest.mark.slow
def test_a_tensorflow_script_goes_on_with_other_workers_and_strategies(run_cluster, tmp_path):
    """The batches, losses and weights of a run on one worker that is stopped as often."""
    folder, whole = tmp_path / "run", tmp_path / "whole"
    many = "MultiWorkerMirroredStrategy"
    shapes = [(2, 2, many), (1, 4, "MirroredStrategy"), (2, 1, many), (1, 1, "get_strategy")]
    for turn, (workers, devices, strategy) in enumerate(shapes):
        tasks = run_cluster(TF_TRAIN, folder, strategy, workers=workers, devices=devices)
        (alone,) = run_cluster(TF_TRAIN, whole, many, workers=1, devices=2)
        for task in tasks:
            assert task.lines[0] == f"restored {turn > 0}"
            losses = [float(line) for line in task.lines[1:3]]
            expected = [float(line) for line in alone.lines[1:3]]
            assert losses == pytest.approx(expected, rel=1e-4)
            assert numbers(task) == pytest.approx(numbers(alone), rel=1e-4, abs=1e-4)
    assert sorted(entry.name for entry in folder.iterdir()) == ["checkpoint", "ckpt-4"]


def test_positions_of_each_process_come_back_to_it(run_cluster, tmp_path):
    script = (
        START
        + """
class Input:
    position = me * 10
    def get_state(self):
        return self.position
    def set_state(self, state):
        self.position = state

data = Input()
checkpoint = Checkpoint(data=data, v=spmd.Variable(jnp.ones(2)))
checkpoint.save(sys.argv[1])
data.position = None
checkpoint.restore(sys.argv[1])
print(data.position)
"""
    )
    path = tmp_path / "ckpt"
    assert [task.lines for task in run_cluster(script, path)] == [["0"], ["10"]]
    alone = START + (
        "class Input:\n    get_state = set_state = lambda *_: None\n"
        "Checkpoint(data=Input()).restore(sys.argv[1])\n"
    )
    (task,) = run_cluster(alone, path, workers=1, status=1)
    assert "saved by 2 processes, in which data had different positions" in task.stderr


@pytest.mark.slow
@pytest.mark.parametrize("call", ["save", "restore"])
def test_a_process_that_does_not_call_is_named(run_cluster, tmp_path, call):
    script = (
        START
        + f"""
checkpoint = Checkpoint(v=spmd.Variable(jnp.ones(2)), timeout=3.0)
checkpoint.save(sys.argv[1])
checkpoint.wait()
if me == 0:
    try:
        checkpoint.{call}(sys.argv[1])
    except TimeoutError as error:
        print(error)
"""
    )
    first, _ = run_cluster(script, tmp_path / "ckpt")
    assert "worker 1" in first.lines[0]
    assert f"'checkpoint/{call}'" in first.lines[0]


@pytest.mark.slow
def test_the_path_of_the_first_process_counts(run_cluster, tmp_path):
    script = (
        START
        + """
checkpoint = Checkpoint(a=1)
manager = CheckpointManager(checkpoint, f"{sys.argv[1]}-{me}")
path = manager.save(1)
manager.wait()
print(path, list(manager.checkpoints.values()))
checkpoint.a = 0
again = CheckpointManager(checkpoint, f"{sys.argv[1]}-{me}")
print(again.restore_latest(), checkpoint.a, list(again.checkpoints.values()))
"""
    )
    path = f"{tmp_path}/run-0/step-1"
    for task in run_cluster(script, tmp_path / "run"):
        assert task.lines == [f"{path} {[path]}", f"1 1 {[path]}"]
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["run-0", "script.py"]


@pytest.mark.slow
def test_a_damaged_checkpoint_is_told_of_by_all(run_cluster, tmp_path):
    script = (
        START
        + """
checkpoint = Checkpoint(v=spmd.Variable(jnp.arange(10.0)))
manager = CheckpointManager(checkpoint, sys.argv[1])
for number in (1, 2):
    manager.save(number)
    manager.wait()
if me == 0:
    os.remove(os.path.join(sys.argv[1], "step-2", "arrays", "manifest.ocdbt"))
try:
    checkpoint.restore(os.path.join(sys.argv[1], "step-2"))
except ValueError as error:
    print(error)
print(manager.restore_latest())
"""
    )
    for task in run_cluster(script, tmp_path / "run"):
        assert "step-2/arrays/manifest.ocdbt: it is missing" in task.lines[0]
        assert task.lines[1] == "1"


@pytest.mark.slow
def test_scripts_that_end_have_saved(run_cluster, tmp_path):
    values = "**{f'x{i}': jnp.ones((800, 800)) for i in range(8)}"
    run_cluster(START + f"Checkpoint({values}).save(sys.argv[1])\n", tmp_path / "ckpt")
    verify(str(tmp_path / "ckpt"))


def test_all_restore_what_the_first_process_finds(run_cluster, tmp_path):
    script = (
        START
        + """
from spmd.checkpoint import manager as module

checkpoint = Checkpoint(v=spmd.Variable(jnp.ones(2)))
manager = CheckpointManager(checkpoint, sys.argv[1])
for number in (1, 2):
    manager.save(number)
if me == 1:  # as if the other one had not come to its disk yet
    module.newest_intact = lambda paths: os.path.join(sys.argv[1], "step-1")
print(manager.restore_latest())
"""
    )
    for task in run_cluster(script, tmp_path / "run"):
        assert task.lines == ["2"]


def test_objects_that_differ_are_told_of(run_cluster, tmp_path):
    script = (
        START
        + """
values = {"v": spmd.Variable(jnp.ones(2)), "same": 1, "x": me, **({"y": 2} if me else {})}
Checkpoint(**values).save(sys.argv[1])
"""
    )
    for task in run_cluster(script, tmp_path / "ckpt", status=1):
        assert (
            "x: it is not the same in process 0 and process 1\n  y: only process 1" in task.stderr
        )
        assert "same:" not in task.stderr


@pytest.mark.parametrize(
    "full", [0, pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow)]
)
def test_a_failed_write_ends_the_save_of_all(run_cluster, tmp_path, full):
    script = (
        START
        + """
import resource, time

folder, full = sys.argv[1], int(sys.argv[2])
x = np.random.default_rng(0).normal(size=(1000, 8)).astype(np.float32)
whole = jax.make_array_from_callback(
    x.shape, jax.sharding.NamedSharding(mesh, jax.P(*mesh.axis_names)), lambda index: x[index]
)
checkpoint = Checkpoint(whole=whole, own=x)
checkpoint.save(folder + "/ckpt-1")
checkpoint.wait()
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
if me in (full, full - 2):
    # As on a full disk; the operating system refuses to write longer files.
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
begun = time.monotonic()
try:
    checkpoint.save(folder + "/ckpt-2")
    checkpoint.wait()
except OSError as error:
    print(error)
print(time.monotonic() - begun)
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
checkpoint.save(folder + "/ckpt-3")
checkpoint.wait()
print(sorted(name for name in os.listdir(folder) if not name.endswith(".saving")))
"""
    )
    for task in run_cluster(script, tmp_path / "run", full):
        message, seconds, names = task.lines
        process = min(full, 1) if full < 2 else 0
        assert message.startswith(
            f"The checkpoint {tmp_path}/run/ckpt-2 was not saved, because process {process} could not write it: "
        )
        assert message.endswith(": File too large (EFBIG)")
        assert float(seconds) < 30
        assert names == "['ckpt-1', 'ckpt-3']"
        assert "Traceback" not in task.stderr
    verify(f"{tmp_path}/run/ckpt-3")


def test_a_failed_read_ends_the_restore_of_all(run_cluster, tmp_path):
    script = (
        START
        + """
from spmd.checkpoint import reading

def fail(directory, targets):
    raise OSError(5, "Input/output error", directory)

checkpoint = Checkpoint(v=jnp.ones(2))
checkpoint.save(sys.argv[1])
checkpoint.wait()
if me == 1:  # as if its disk did not answer
    reading.read = fail
try:
    checkpoint.restore(sys.argv[1])
except ValueError as error:
    print(error)
"""
    )
    first, second = run_cluster(script, tmp_path / "ckpt")
    reason = f"The arrays of the checkpoint {tmp_path}/ckpt cannot be read: {tmp_path}/ckpt/arrays: Input/output error (EIO)"
    assert second.lines == [reason]
    assert first.lines == [f"Process 1 says: {reason}"]
