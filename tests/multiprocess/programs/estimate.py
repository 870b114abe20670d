"""An estimator that is killed now and then: `python estimate.py FOLDER STEPS VICTIM KILLS [MODEL_DIR]`.

The task VICTIM, such as `worker:0`, kills itself at a random moment of each of its first KILLS attempts. Each task writes into
FOLDER/steps-TASK.txt from which step it starts, and what steps it has done.
"""

import os
import random
import signal
import sys
import threading
import time

import numpy as np

from frontends import tf

FOLDER, STEPS, VICTIM, KILLS = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
MODEL_DIR = sys.argv[5] if len(sys.argv) > 5 else f"{FOLDER}/model"
ATTEMPT = int(os.environ["JAXTRIBUTE_RESTART"])


def model_fn(features, labels, mode):
    loss = tf.losses.mean_squared_error(labels, tf.layers.dense(features, 1))
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss)
    global_step = tf.train.get_global_step()
    # Another count of the steps, and the sum of their numbers: one that is done twice shows.
    done = tf.get_variable("done", [], initializer=tf.zeros_initializer(), trainable=False)
    numbers = tf.get_variable("numbers", [], initializer=tf.zeros_initializer(), trainable=False)
    count = tf.assign_add(done, 1.0)
    add = tf.assign_add(numbers, tf.to_float(global_step))
    optimizer = tf.train.MomentumOptimizer(0.01, 0.9)
    with tf.control_dependencies([count, add]):
        train_op = optimizer.minimize(loss, global_step=global_step)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    rows = np.arange(8, dtype=np.float32).reshape(4, 2) / 8
    return tf.data.Dataset.from_tensors((rows, rows[:, :1])).repeat()


class Noting(tf.train.SessionRunHook):
    """Notes the steps, which take a while each."""

    def __init__(self, task):
        self.file = open(f"{FOLDER}/steps-{task}.txt", "a", buffering=1)  # noqa: SIM115

    def begin(self):
        self.step = tf.train.get_global_step()

    def after_create_session(self, session, coord):
        self.file.write(f"start {session.run(self.step)}\n")

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self.step)

    def after_run(self, run_context, run_values):
        time.sleep(0.03)
        self.file.write(f"{run_values.results}\n")


def kill_later(longest):
    """Kills this process at a random moment."""

    def kill():
        time.sleep(random.Random(os.getpid()).uniform(0, longest))
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=kill, daemon=True).start()


class Killing(tf.train.SessionRunHook):
    """Kills this process while it trains."""

    def after_create_session(self, session, coord):
        kill_later(STEPS * 0.03)


if __name__ == "__main__":
    config = tf.estimator.RunConfig()
    task = f"{config.task_type}:{config.task_id}"
    dies = task == VICTIM and ATTEMPT < KILLS
    if dies and config.task_type == "evaluator":
        kill_later(STEPS * 0.06)
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    estimator = tf.estimator.Estimator(
        model_fn,
        MODEL_DIR,
        tf.estimator.RunConfig(train_distribute=strategy, save_checkpoints_steps=10),
    )
    hooks = [Noting(task), *([Killing()] if dies else ())]
    tf.estimator.train_and_evaluate(
        estimator,
        tf.estimator.TrainSpec(input_fn, max_steps=STEPS, hooks=hooks),
        tf.estimator.EvalSpec(input_fn, steps=3, start_delay_secs=0, throttle_secs=0),
    )
