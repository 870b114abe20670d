"""`tf.distribute.experimental.PreemptionCheckpointHandler` in one process."""

import os
import signal

import pytest

from frontends import tf
from frontends.tf.distribute import preemption_checkpoint_handler

experimental = tf.distribute.experimental


@pytest.fixture
def told(monkeypatch):
    """What the agreement says at each call, instead of a thread."""
    answers = []

    class Sync:
        task, told_at = "worker 0", 0.0

        def __init__(self, watch):
            self.rounds = self.tells = 0

        def reached(self):
            return answers.pop(0) if answers else False

        def begin_last_round(self):
            self.rounds += 1

        def tell(self):
            answers.insert(0, True)

        def close(self):
            pass

    monkeypatch.setattr(preemption_checkpoint_handler, "PreemptionSync", Sync)
    return answers


def test_saves_exits_and_goes_on(told, tmp_path):
    def start():
        step = tf.Variable(0)
        iterator = iter(tf.data.Dataset.range(10))
        checkpoint = tf.train.Checkpoint(step=step, iterator=iterator)
        return step, iterator, experimental.PreemptionCheckpointHandler(None, checkpoint, tmp_path)

    step, iterator, handler = start()
    told[:] = [False, False, True]
    seen = []

    def train():
        while True:
            handler.run(lambda element: seen.append(int(element)), next(iterator))
            step.assign_add(1)

    with pytest.raises(SystemExit) as exited:
        train()
    assert exited.value.code == 143
    assert seen == [0, 1]
    step, iterator, handler = start()
    assert (int(step.numpy()), handler.total_run_calls, int(next(iterator))) == (2, 2, 2)


def test_configured(told, tmp_path):
    calls = []
    config = experimental.TerminationConfig(
        exit_fn=lambda: calls.append("exit"),
        save_fn=lambda *args, **kwargs: calls.append((args, kwargs)),
    )
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(), tmp_path, max_to_keep=2)
    handler = experimental.PreemptionCheckpointHandler(None, manager, termination_config=config)
    told[:] = [False, True]
    with handler.watch_preemption_scope():
        handler.save_checkpoint_if_preempted()
        handler.save_checkpoint_if_preempted(3, check_interval=False)
    assert calls == [((3,), {"check_interval": False}), "exit"]
    assert handler.total_run_calls == 2


def test_a_grace_period_that_is_over_saves_again_and_exits(told, tmp_path):
    saved = []
    config = experimental.TerminationConfig(grace_period=1.0, save_fn=lambda: saved.append(True))
    handler = experimental.PreemptionCheckpointHandler(
        None, tf.train.Checkpoint(), tmp_path, config
    )
    told[:] = [True]
    assert handler.run(lambda: 5) == 5
    with pytest.raises(SystemExit):
        handler.run(lambda: 5)
    assert saved == [True, True]


def test_a_checkpoint_needs_a_folder():
    with pytest.raises(ValueError, match="checkpoint_dir"):
        experimental.PreemptionCheckpointHandler(None, tf.train.Checkpoint())


def test_parameter_servers_take_no_steps_together(tmp_path):
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(
        tf.train.ClusterSpec({"ps": ["a:1"], "worker": ["b:1"]})
    )
    with pytest.raises(NotImplementedError, match="ParameterServer"):
        experimental.PreemptionCheckpointHandler(resolver, tf.train.Checkpoint(), tmp_path)


def test_a_watcher_tells_of_sigterm():
    watcher = experimental.PreemptionWatcher()
    assert watcher.preemption_message is None
    os.kill(os.getpid(), signal.SIGTERM)
    while watcher.preemption_message is None:
        pass
    assert watcher.preemption_message == "worker 0"
    watcher.block_until_worker_exit()


def test_the_scope_decorates_and_the_calls_are_read_only(told, tmp_path):
    handler = experimental.PreemptionCheckpointHandler(None, tf.train.Checkpoint(), tmp_path)
    assert handler.watch_preemption_scope()(lambda x: x + 1)(1) == 2
    with pytest.raises(AttributeError):
        handler.total_run_calls = 3
