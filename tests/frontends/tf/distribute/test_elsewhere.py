"""`tf.function`s that run elsewhere."""

import pytest

from frontends import tf
from frontends.tf.distribute import elsewhere


class Runner:
    """Notes what it is given."""

    takes = True

    def __init__(self):
        self.ran: list[object] = []

    def takes_functions(self):
        return self.takes

    def run_function(self, function, args, kwargs):
        self.ran.append((args, kwargs))
        return "elsewhere"


@pytest.fixture
def runner(monkeypatch):
    monkeypatch.setattr(elsewhere, "_RUNNERS", [])
    runner = Runner()
    elsewhere.run_functions_by(runner)
    return runner


def test_a_function_is_handed_over(runner):
    double = tf.function(lambda x: x * 2)
    assert double(2) == "elsewhere"
    assert runner.ran == [((2,), {})]
    runner.takes = False
    assert int(double(2)) == 4


def test_no_runner_outlives_its_strategy(monkeypatch):
    monkeypatch.setattr(elsewhere, "_RUNNERS", [])
    elsewhere.run_functions_by(Runner())
    assert elsewhere.runner_now() is None
    assert int(tf.function(lambda x: x * 2)(2)) == 4
