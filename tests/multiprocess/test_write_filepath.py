"""TensorFlow's multi-worker tutorials, in which all workers but the chief save to folders that they delete."""

import pytest

pytestmark = pytest.mark.multiprocess

TUTORIAL = """
import os, sys
import numpy as np
from frontends import tf

num_epochs = int(sys.argv[2])

def _is_chief(task_type, task_id, cluster_spec):
  return (task_type is None
          or task_type == 'chief'
          or (task_type == 'worker'
              and task_id == 0
              and 'chief' not in cluster_spec.as_dict()))

def _get_temp_dir(dirpath, task_id):
  base_dirpath = 'workertemp_' + str(task_id)
  temp_dir = os.path.join(dirpath, base_dirpath)
  tf.io.gfile.makedirs(temp_dir)
  return temp_dir

def write_filepath(filepath, task_type, task_id, cluster_spec):
  dirpath = os.path.dirname(filepath)
  base = os.path.basename(filepath)
  if not _is_chief(task_type, task_id, cluster_spec):
    dirpath = _get_temp_dir(dirpath, task_id)
  return os.path.join(dirpath, base)

tf.keras.utils.set_random_seed(0)
checkpoint_dir = os.path.join(sys.argv[1], 'ckpt')
strategy = tf.distribute.MultiWorkerMirroredStrategy()
x = np.random.default_rng(0).normal(size=(32, 4)).astype(np.float32)
dataset = tf.data.Dataset.from_tensor_slices((x, x[:, :1])).batch(8)
with strategy.scope():
  model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
  optimizer = tf.keras.optimizers.RMSprop(learning_rate=0.01)
  multi_worker_dataset = strategy.experimental_distribute_dataset(dataset)

@tf.function
def train_step(batch):
  def step_fn(batch):
    x, y = batch
    with tf.GradientTape() as tape:
      loss = tf.nn.compute_average_loss(tf.reduce_sum((model(x) - y) ** 2, axis=1))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss
  return strategy.reduce(tf.distribute.ReduceOp.SUM, strategy.run(step_fn, args=(batch,)), axis=None)

epoch = tf.Variable(initial_value=tf.constant(0, dtype=tf.dtypes.int64), name='epoch')
task_type, task_id, cluster_spec = (strategy.cluster_resolver.task_type,
                                    strategy.cluster_resolver.task_id,
                                    strategy.cluster_resolver.cluster_spec())
checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer, epoch=epoch)
"""

MANAGER = (
    TUTORIAL
    + """
write_checkpoint_dir = write_filepath(checkpoint_dir, task_type, task_id, cluster_spec)
checkpoint_manager = tf.train.CheckpointManager(checkpoint, directory=write_checkpoint_dir, max_to_keep=1)
latest_checkpoint = tf.train.latest_checkpoint(checkpoint_dir)
if latest_checkpoint:
  checkpoint.restore(latest_checkpoint)

while epoch.numpy() < num_epochs:
  for batch in multi_worker_dataset:
    loss = train_step(batch)
  print('Epoch: %d, loss: %f.' % (epoch.numpy(), loss))
  epoch.assign_add(1)
  checkpoint_manager.save()
  if not _is_chief(task_type, task_id, cluster_spec):
    tf.io.gfile.rmtree(write_checkpoint_dir)

model_path = os.path.join(sys.argv[1], 'model.keras')
write_model_path = write_filepath(model_path, task_type, task_id, cluster_spec)
model.save(write_model_path)
if not _is_chief(task_type, task_id, cluster_spec):
  tf.io.gfile.rmtree(os.path.dirname(write_model_path))
print([value.tolist() for value in model.get_weights()])
"""
)


@pytest.mark.slow
def test_the_tutorial_runs_and_goes_on(run_cluster, tmp_path):
    run = tmp_path / "run"
    first, second = run_cluster(MANAGER, run, 2)
    assert first.lines == second.lines
    assert [line[:9] for line in first.lines[:-1]] == ["Epoch: 0,", "Epoch: 1,"]
    assert first.stderr.count("the path of process 0 is used") == 1
    assert "is used" not in second.stderr
    again, _ = run_cluster(MANAGER, run, 3)
    assert [line[:9] for line in again.lines[:-1]] == ["Epoch: 2,"]
    assert sorted(path.name for path in run.iterdir()) == ["ckpt", "model.keras"]
    assert sorted(path.name for path in (run / "ckpt").iterdir()) == ["checkpoint", "ckpt-3"]


@pytest.mark.slow
def test_the_tutorial_goes_on_with_the_same_numbers(run_cluster, tmp_path):
    run_cluster(MANAGER, tmp_path / "run", 2)
    again, _ = run_cluster(MANAGER, tmp_path / "run", 3)
    whole, _ = run_cluster(MANAGER, tmp_path / "whole", 3)
    assert again.lines == whole.lines[2:]


@pytest.mark.slow
def test_the_folders_that_stay_lead_to_the_one_checkpoint(run_cluster, tmp_path):
    """Whatever a worker asks its own folder for, also one that sees nothing there."""
    script = (
        TUTORIAL
        + """
own = write_filepath(checkpoint_dir, task_type, task_id, cluster_spec)
for number in (1, 2):
  epoch.assign(number)
  options = tf.train.CheckpointOptions(enable_async=number == 2)
  print(checkpoint.save(os.path.join(own, 'ckpt'), options=options))
print(tf.train.latest_checkpoint(own), tf.train.latest_checkpoint(checkpoint_dir))
print(checkpoint.write(os.path.join(own, 'other')), tf.io.gfile.listdir(own))
epoch.assign(0)
checkpoint.restore(tf.train.latest_checkpoint(own)).assert_existing_objects_matched()
print(epoch.numpy())
checkpoint.restore(os.path.join(own, 'ckpt-1') if task_id == 0 else None)
print(epoch.numpy())
manager = tf.train.CheckpointManager(checkpoint, own, max_to_keep=2)
print(manager.latest_checkpoint, manager.save(), manager.checkpoints[-1])
"""
    )
    first, second = run_cluster(script, tmp_path, 0)
    path = tmp_path / "ckpt"
    assert second.lines == [
        f"{path}/ckpt-1",
        f"{path}/ckpt-2",
        f"{path}/ckpt-2 {path}/ckpt-2",
        f"{path}/other ['checkpoint']",
        "2",
        "1",
        f"{path}/ckpt-2 {path}/ckpt-2 {path}/ckpt-2",
    ]
    assert [line for line in first.lines if "other" not in line] == [
        line for line in second.lines if "other" not in line
    ]
