"""Traces of steps."""

from pathlib import Path

import jax
import pytest

from frontends import tf
from tests.frontends.tf.estimator.models import data, linear


@pytest.fixture
def traced(monkeypatch):
    """Lists the folders that are traced to, and where a trace ends."""
    found = []
    monkeypatch.setattr(jax.profiler, "start_trace", lambda folder: found.append(str(folder)))
    monkeypatch.setattr(jax.profiler, "stop_trace", lambda: found.append("stop"))
    return found


def test_steps_are_traced_but_not_the_first(tmp_path, traced):
    steps = []

    class Noting(tf.train.SessionRunHook):
        def after_run(self, run_context, run_values):
            steps.append(len(traced))

    hook = tf.train.ProfilerHook(save_steps=3, output_dir=tmp_path / "p")
    estimator = tf.estimator.Estimator(linear, tmp_path, params={"rate": 0.1})
    estimator.train(data(10), hooks=[hook, Noting()], steps=6)
    assert steps == [0, 0, 2, 2, 2, 4]  # the third, and three later
    assert traced == [f"{tmp_path}/p", "stop"] * 2


def test_a_trace_goes_to_a_store(bucket, tmp_path, monkeypatch):
    def start(folder):
        made.append(Path(folder))
        made[-1].mkdir()

    made = []
    monkeypatch.setattr(jax.profiler, "start_trace", start)
    monkeypatch.setattr(jax.profiler, "stop_trace", lambda: (made[-1] / "a.pb").write_text("a"))
    estimator = tf.estimator.Estimator(linear, tmp_path, params={"rate": 0.1})
    estimator.train(data(10), hooks=[tf.train.ProfilerHook(2, output_dir=f"{bucket}/p")], steps=3)
    assert tf.io.read_file(f"{bucket}/p/a.pb") == b"a"
    assert not made[0].exists()


def test_another_trace_goes_on(tmp_path, monkeypatch, traced):
    def refuse(folder):
        raise RuntimeError("Only one profile may be run at a time.")

    monkeypatch.setattr(jax.profiler, "start_trace", refuse)
    estimator = tf.estimator.Estimator(linear, tmp_path, params={"rate": 0.1})
    estimator.train(data(10), hooks=[tf.estimator.ProfilerHook(1, output_dir=tmp_path)], steps=3)
    assert traced == []
