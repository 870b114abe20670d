"""Keras's `fit` in two processes: what callbacks do and write when all workers name the same paths."""

import csv
import json

import pytest

pytestmark = [pytest.mark.multiprocess, pytest.mark.slow]

START = """
import json, os, signal, sys
import numpy as np
from frontends import tf

keras = tf.keras
folder = sys.argv[1]
strategy = tf.distribute.MultiWorkerMirroredStrategy()
me = strategy.cluster_resolver.task_id or 0
keras.utils.set_random_seed(1)
x = np.random.default_rng(0).normal(size=(32, 3)).astype(np.float32)
y = x.sum(1, keepdims=True)
with strategy.scope():
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dropout(0.5), keras.layers.Dense(1)])
    model.compile(keras.optimizers.Adam(0.05), "mse", metrics=["mae"])

def weights(model):
    return [np.asarray(value).tolist() for value in model.get_weights()]
"""

RESUME = (
    START
    + """
save_freq = json.loads(sys.argv[2])
stop_at = int(sys.argv[3])

class Kill(keras.callbacks.Callback):
    batches = 0
    def on_train_batch_end(self, batch, logs=None):
        self.batches += 1
        if me == 1 and self.batches == stop_at:
            os.kill(os.getpid(), signal.SIGKILL)

data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(32).batch(4)
backup = keras.callbacks.BackupAndRestore(folder, save_freq=save_freq)
history = model.fit(data, epochs=4, verbose=0, callbacks=[backup, Kill()])
print(json.dumps([history.epoch, history.history["loss"][-1], weights(model), os.path.exists(folder)]))
"""
)


@pytest.mark.parametrize("save_freq", ["epoch", 3])
def test_a_worker_that_is_killed_leaves_no_trace(run_cluster, tmp_path, save_freq):
    whole, other = run_cluster(RESUME, tmp_path / "whole", json.dumps(save_freq), 0)
    assert whole.lines == other.lines
    _, killed = run_cluster(RESUME, tmp_path / "run", json.dumps(save_freq), 21, status=None)
    assert killed.status == -9
    for task in run_cluster(RESUME, tmp_path / "run", json.dumps(save_freq), 0):
        epochs, *rest = json.loads(task.lines[-1])
        assert epochs == [2, 3]
        assert rest == json.loads(whole.lines[-1])[1:]


def test_one_worker_writes_what_all_name(run_cluster, tmp_path):
    first, second = run_cluster(
        START
        + """
used = [
    keras.callbacks.CSVLogger(f"{folder}/log.csv"),
    keras.callbacks.ModelCheckpoint(f"{folder}/{{epoch}}.keras"),
    keras.callbacks.ModelCheckpoint(f"{folder}/prefix/{{epoch}}", save_weights_only=True),
    keras.callbacks.ModelCheckpoint(f"{folder}/own-{me}.weights.h5", save_weights_only=True),
    keras.callbacks.TensorBoard(f"{folder}/logs"),
]
model.fit(x, y, batch_size=8, epochs=2, verbose=0, shuffle=False, callbacks=used)
print(used[0].filename == f"{folder}/log.csv", used[4].log_dir == f"{folder}/logs")
model.save(f"{folder}/end.keras")
for name in ("2", "end"):
    again = keras.models.load_model(f"{folder}/{name}.keras")
    print(name, weights(again) == weights(model))
model.load_weights(tf.train.latest_checkpoint(f"{folder}/prefix"))
print(weights(again) == weights(model))
""",
        tmp_path,
    )
    assert first.lines == second.lines == ["True True", "2 True", "end True", "True"]
    with open(tmp_path / "log.csv", encoding="utf-8") as file:
        assert [row["epoch"] for row in csv.DictReader(file)] == ["0", "1"]
    events = [
        path for path in (tmp_path / "logs").rglob("*tfevents*") if path.parent.name == "train"
    ]
    assert len(events) == 1
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {
        *("log.csv", "1.keras", "2.keras", "end.keras", "prefix", "logs", "script.py"),
        *("own-0.weights.h5", "own-1.weights.h5"),
    }


def test_callbacks_decide_alike(run_cluster, tmp_path):
    first, second = run_cluster(
        START
        + """
never = {"monitor": "val_loss", "min_delta": 100.0}  # nothing is better by so much
used = [
    keras.callbacks.EarlyStopping(patience=3, restore_best_weights=True, **never),
    keras.callbacks.ReduceLROnPlateau(patience=1, **never),
    keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate * 0.5),
]
history = model.fit(
    x, y, batch_size=8, epochs=9, verbose=0, validation_data=(x, y), callbacks=used
)
print(history.epoch, history.history, weights(model))
print(model.predict(x, verbose=0).tolist())
""",
        tmp_path,
    )
    assert first.lines == second.lines
    assert first.lines[0].startswith("[0, 1, 2, 3] ")


def test_the_other_workers_may_write_elsewhere(run_cluster, tmp_path):
    """As TensorFlow's tutorial does: paths of their own, which they delete."""
    for task in run_cluster(
        START
        + """
import shutil
own = folder if me == 0 else os.path.join(folder, f"workertemp_{me}")
os.makedirs(own, exist_ok=True)
model.fit(x, y, batch_size=8, verbose=0)
model.save(os.path.join(own, "model.keras"))
if me:
    shutil.rmtree(own)
print(os.path.isdir(own))
""",
        tmp_path,
    ):
        assert len(task.lines) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.keras", "script.py"]


def test_sigterm_to_one_worker_makes_all_save_after_the_same_batch(run_cluster, tmp_path):
    script = (
        START
        + """
class Told(keras.callbacks.Callback):
    batches = 0
    def on_train_batch_end(self, batch, logs=None):
        self.batches += 1
        if me == 1 and self.batches == int(sys.argv[2]):
            os.kill(os.getpid(), signal.SIGTERM)

data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(32).batch(4)
backup = keras.callbacks.BackupAndRestore(folder, save_freq=False, save_before_preemption=True)
told = Told()
try:
    history = model.fit(data, epochs=EPOCHS, verbose=0, callbacks=[told, backup])
    print(json.dumps([history.epoch[0], weights(model)]))
finally:
    print(told.batches)
"""
    ).replace("EPOCHS", "1000")
    ended = run_cluster(script, tmp_path / "run", 5, status=143)
    batches = int(ended[0].lines[-1])
    assert batches == int(ended[1].lines[-1]) >= 5
    # As many epochs as it takes to come past the save, and not all of a thousand.
    script = script.replace("1000", str(batches // 8 + 2))
    whole = run_cluster(script, tmp_path / "whole", 0)
    for task, expected in zip(run_cluster(script, tmp_path / "run", 0), whole, strict=True):
        first_epoch, values = json.loads(task.lines[0])
        assert first_epoch == batches // 8
        assert values == json.loads(expected.lines[0])[1]
        assert int(task.lines[1]) == int(expected.lines[1]) - batches
