"""Steps with hooks around them."""

from types import SimpleNamespace

import pytest

from frontends import tf
from frontends.tf.estimator import step_loop
from frontends.tf.estimator.step_loop import Run, run_steps, steps_of
from frontends.tf.graph import Graph


class Session(SimpleNamespace):
    """A session of steps that give numbers."""

    def __init__(self):
        super().__init__(graph=Graph(), fetches=[], asked=set(), outputs=None, is_training=True)

    def read(self, fetches):
        return fetches

    def fetched(self, wanted):
        return {name for name in wanted if name}

    def take(self, outputs):
        self.outputs = outputs

    def arguments(self, step):
        return ()

    def count_step(self):
        pass

    def values(self, fetches, outputs):
        return outputs[fetches]


class Step:
    """A step that gives what it was made to fetch."""

    def __init__(self, fetched=frozenset()):
        self.fetched = fetched

    def fetching(self, names):
        return Step(self.fetched | names)

    def __call__(self, features, labels):
        return dict.fromkeys(self.fetched, features + labels)


class Hook(tf.estimator.SessionRunHook):
    """Notes what it is called for, asks for a value, and stops at one."""

    def __init__(self, stop_at=None):
        self.calls, self.stop_at = [], stop_at

    def begin(self):
        self.calls.append("begin")

    def after_create_session(self, session, coord):
        self.calls.append("session")

    def before_run(self, run_context):
        self.calls.append("before")
        return tf.estimator.SessionRunArgs("sum")

    def after_run(self, run_context, run_values):
        self.calls.append(run_values.results)
        if run_values.results == self.stop_at:
            run_context.request_stop()

    def end(self, session):
        self.calls.append("end")


@pytest.fixture(autouse=True)
def no_losses(monkeypatch):
    monkeypatch.setattr(step_loop, "check_loss", lambda session: None)


@pytest.fixture
def run():
    strategy = SimpleNamespace(run=lambda step, args: step(*args))
    return Run(strategy, Step())


BATCHES = [(1, 10), (2, 20)]


def test_hooks_are_called_around_steps_until_batches_end(run):
    hook = Hook()
    run_steps(run, iter(BATCHES), Session(), [hook])
    # TensorFlow finds the end when it runs a step more.
    assert hook.calls == ["begin", "session", "before", 11, "before", 22, "before", "end"]
    assert run.step.fetched == {"sum"}


def test_a_hook_stops(run):
    hook = Hook(stop_at=11)
    assert list(steps_of(run, iter(BATCHES), Session(), [hook])) == [{"sum": 11}]
    assert hook.calls == ["begin", "session", "before", 11, "end"]


def test_a_step_that_returns_all_stays_as_it_is(run):
    run.step.fetched = None
    before = run.step
    run.fetch({"sum"})
    assert run.step is before
