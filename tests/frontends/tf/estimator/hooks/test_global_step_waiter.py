"""Workers of parameter servers that begin later."""

from types import SimpleNamespace

from frontends import tf
from frontends.tf.estimator.hooks import SessionRunArgs, SessionRunContext

CONFIG = '{"cluster": {"ps": ["a:1"], "worker": ["b:1"]}, "task": {"type": "worker", "index": 0}}'


def run(hook, monkeypatch):
    """Runs two steps; gives how often the global step was read, which grows by two."""
    reads = []
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    session = SimpleNamespace(read_global_step=lambda: reads.append(1) or 2 * len(reads))
    hook.begin()
    for _ in range(2):
        hook.before_run(SessionRunContext(SessionRunArgs(None), session))
    return len(reads)


def test_a_worker_waits_once(monkeypatch):
    monkeypatch.setenv("TF_CONFIG", CONFIG)
    assert run(tf.train.GlobalStepWaiterHook(5), monkeypatch) == 3
    assert run(tf.train.GlobalStepWaiterHook(0), monkeypatch) == 0


def test_nobody_waits_without_parameter_servers(monkeypatch):
    assert run(tf.train.GlobalStepWaiterHook(5), monkeypatch) == 0
