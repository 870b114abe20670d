"""Training that is saved on a GPU goes on elsewhere, and the other way round."""

from pathlib import Path

import numpy as np
import pytest

from frontends import tf

PROGRAM = Path(__file__).parents[1] / "multiprocess" / "programs" / "train.py"
ONE, FOUR = ["GPU:0"], [f"CPU:{index}" for index in range(4)]


class Training:
    """A model that learns, and the directory of its checkpoints."""

    def __init__(self, directory, devices):
        self.strategy = tf.distribute.MirroredStrategy(devices)
        tf.keras.utils.set_random_seed(0)
        with self.strategy.scope():
            self.model = tf.keras.Sequential(
                [tf.keras.Input((12,)), tf.keras.layers.Dense(16, "relu"), tf.keras.layers.Dense(2)]
            )
            self.optimizer = tf.keras.optimizers.Adam(0.01)
            self.optimizer.build(self.model.trainable_variables)
        self.losses = tf.keras.losses.SparseCategoricalCrossentropy(
            from_logits=True, reduction="none"
        )
        self.step = tf.Variable(0)
        checkpoint = tf.train.Checkpoint(model=self.model, optimizer=self.optimizer, step=self.step)
        self.manager = tf.train.CheckpointManager(checkpoint, str(directory), max_to_keep=2)
        self.train = tf.function(self._train)

    def _train(self, inputs):
        def of_replica(inputs):
            x, y = inputs
            with tf.GradientTape() as tape:
                loss = tf.nn.compute_average_loss(self.losses(y, self.model(x, training=True)))
            weights = self.model.trainable_variables
            self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
            self.step.assign_add(1)
            return loss

        return self.strategy.reduce("SUM", self.strategy.run(of_replica, args=(inputs,)), axis=None)

    def go_on(self, steps):
        """Losses of some more steps; each of 30 rows."""
        found = []
        for seed in range(int(self.step), int(self.step) + steps):
            x = np.random.default_rng(seed).normal(size=(30, 12)).astype(np.float32)
            rows = tf.data.Dataset.from_tensor_slices((x, (x.sum(1) > 0).astype(np.int32)))
            (batch,) = self.strategy.experimental_distribute_dataset(rows.batch(30))
            found.append(float(self.train(batch)))
        return found


@pytest.mark.parametrize(("first", "then"), [(ONE, FOUR), (FOUR, ONE)])
def test_training_goes_on_over_other_devices(tmp_path, first, then, full_precision):
    undisturbed = Training(tmp_path / "undisturbed", ONE).go_on(8)
    before = Training(tmp_path / "moved", first)
    losses = before.go_on(4)
    before.manager.save()
    after = Training(tmp_path / "moved", then)
    assert after.manager.restore_or_initialize()
    np.testing.assert_allclose(losses + after.go_on(4), undisturbed, rtol=2e-4)


def test_a_killed_job_goes_on_where_it_was(run_python, tmp_path):
    weights = []
    for name, kills in (("undisturbed", 0), ("killed", 2)):
        directory = tmp_path / name
        directory.mkdir()
        done = run_python(
            *("-m", "spmd.cli", "launch", "--workers", 1, "--max-restarts", kills),
            *("--backoff-seconds", 0, "--env", "JAX_PLATFORMS=cuda,cpu"),
            *("--env", "XLA_PYTHON_CLIENT_PREALLOCATE=false", PROGRAM, directory, kills),
        )
        assert done.stderr.count("SIGKILL") >= kills
        with np.load(directory / "weights.npz") as arrays:
            weights.append([arrays[name] for name in arrays.files])
    for ours, theirs in zip(*weights, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)
