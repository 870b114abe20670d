"""Estimators on parameter servers, by the roles of TF_CONFIG, some in processes of their own."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from frontends import tf
from frontends.tf.distribute.server import Server
from frontends.tf.distribute.strategies import parameter_server
from frontends.tf.estimator.end_mark import EndMark
from spmd.errors import UnavailableError
from spmd.servers import Store
from spmd.servers.remote import ServerLostError
from tests.frontends.tf.estimator.clusters import cluster as cluster
from tests.frontends.tf.estimator.models import data, linear
from tests.frontends.tf.estimator.test_server_loop import Saved, Seen, estimator
from tests.ports import free_addresses

ROOT = Path(__file__).parents[4]
STRATEGIES = [
    tf.contrib.distribute.ParameterServerStrategy,
    tf.distribute.experimental.ParameterServerStrategy,
    tf.compat.v1.distribute.experimental.ParameterServerStrategy,
    lambda: None,
]


def be(task, monkeypatch, jobs=("chief", "worker", "ps")):
    """Makes this process a task of a cluster whose other tasks are not there."""
    cluster = {job: [f"localhost:{port}"] for port, job in enumerate(jobs, 1)}
    config = {"cluster": cluster, "task": {"type": task, "index": 0}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(config))


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("task", ["ps", "worker"])
def test_all_tasks_but_one_serve(strategy, task, monkeypatch, tmp_path):
    be(task, monkeypatch)
    calls = []
    monkeypatch.setattr(Server, "serve", lambda self, until: calls.append((self.server_def, until)))
    made = estimator(tmp_path, train_distribute=strategy())
    specs = tf.estimator.TrainSpec(data(), max_steps=3), tf.estimator.EvalSpec(data())
    assert tf.estimator.train_and_evaluate(made, *specs) is None
    ((definition, until),) = calls
    assert (definition["job_name"], definition["task_index"]) == (task, 0)
    assert not until()
    # A launcher ends them.
    monkeypatch.setenv("JAXTRIBUTE_RESTART", "0")
    assert made.train(data()) is made
    assert calls[1][1] is None


@pytest.mark.parametrize("call", ["train", "train_and_evaluate"])
def test_a_task_that_serves_learns_from_the_folder_that_training_has_ended(
    call, monkeypatch, tmp_path
):
    """Its coordinator did not tell it: it was not there at the end, or the coordinator was killed before."""
    be("worker", monkeypatch)
    served = []
    monkeypatch.setattr(Server, "serve", lambda self, until: served.append(until))
    made = estimator(tmp_path)

    def run(max_steps):
        if call == "train":
            made.train(data(), max_steps=max_steps)
        else:
            specs = (
                tf.estimator.TrainSpec(data(), max_steps=max_steps),
                tf.estimator.EvalSpec(data()),
            )
            tf.estimator.train_and_evaluate(made, *specs)
        return served.pop()

    ended = [run(2), run(3), run(None)]
    assert not any(has_ended() for has_ended in ended)
    (tmp_path / "checkpoint").write_text('model_checkpoint_path: "model.ckpt-2"')
    (tmp_path / "model.ckpt-2.index").touch()
    assert [has_ended() for has_ended in ended] == [True, False, False]
    # Training that ends with its data leaves a mark.
    EndMark(tmp_path, None).write()
    assert ended[2]() == (call == "train_and_evaluate")


def test_a_strategy_in_a_task_that_serves_waits_for_nobody(monkeypatch):
    be("ps", monkeypatch)
    strategy = tf.distribute.ParameterServerStrategy()
    with strategy.scope():
        assert float(tf.Variable(1.0)) == 1
    with pytest.raises(RuntimeError, match="a task that serves or evaluates"):
        tf.distribute.coordinator.ClusterCoordinator(strategy)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_coordinator_that_has_nothing_left_to_train_waits_for_nobody(
    strategy, monkeypatch, tmp_path
):
    """It was started again after the end, when the others had left."""

    def connected(cluster):
        raise UnavailableError("Nobody is there.")

    monkeypatch.setattr(parameter_server, "connected", connected)
    be("chief", monkeypatch)
    (tmp_path / "checkpoint").write_text('model_checkpoint_path: "model.ckpt-2"')
    (tmp_path / "model.ckpt-2.index").touch()
    made = estimator(tmp_path, train_distribute=strategy())
    specs = tf.estimator.TrainSpec(data(), max_steps=2), tf.estimator.EvalSpec(data())
    assert tf.estimator.train_and_evaluate(made, *specs) is None
    strategy = tf.distribute.ParameterServerStrategy()
    assert repr(strategy) == "ParameterServerStrategy(1 workers, 1 parameter servers)"
    with pytest.raises(UnavailableError):
        tf.distribute.coordinator.ClusterCoordinator(strategy)
    with strategy.scope(), pytest.raises(UnavailableError):
        tf.Variable(1.0)


@pytest.mark.parametrize(("task", "jobs"), [("chief", {"chief": 1}), ("worker", {"worker": 2})])
def test_the_first_task_coordinates(task, jobs, cluster, tmp_path):
    cluster(task, ps=1, **jobs)
    made = estimator(tmp_path)
    specs = tf.estimator.TrainSpec(data(None), max_steps=6), tf.estimator.EvalSpec(data())
    assert tf.estimator.train_and_evaluate(made, *specs) is None
    assert made.get_variable_value("global_step") == 6
    assert not (tmp_path / "eval").exists()


def model_fn(features, labels, mode):
    return linear(features, labels, mode, {"rate": 0.1})


def test_a_master_evaluates(cluster, tmp_path):
    cluster("master", master=1, worker=1, ps=1)
    config = tf.estimator.RunConfig(save_checkpoints_steps=2)
    made = tf.estimator.Estimator(model_fn, str(tmp_path), config)
    specs = (
        tf.estimator.TrainSpec(data(None), max_steps=6),
        tf.estimator.EvalSpec(data(), throttle_secs=0),
    )
    metrics, _ = tf.estimator.train_and_evaluate(made, *specs)
    assert metrics["global_step"] == 6


def test_training_goes_on_when_a_server_was_lost(cluster, tmp_path, monkeypatch, caplog):
    cluster(worker=2, ps=1)
    push, pushes = Store.push, []

    def lose_some(self, changes):
        pushes.append(len(changes))
        if len(pushes) in (3, 30, 31):
            raise ServerLostError("It is gone.", "Make it anew.")
        push(self, changes)

    monkeypatch.setattr(Store, "push", lose_some)
    saved, seen = Saved(), Seen()
    made = estimator(tmp_path, save_checkpoints_steps=5)
    made.train(data(None), [seen], steps=20, saving_listeners=[saved])
    assert made.get_variable_value("global_step") == 20
    steps = [step for step, _ in saved.steps]
    assert steps == sorted(steps)
    assert all(step == variable for step, variable in saved.steps)
    assert seen.ends == 1
    told = "It is gone. Training goes on from the last checkpoint once it runs again."
    assert caplog.messages.count(told) == 3


def test_a_server_that_is_lost_after_the_last_checkpoint_costs_no_step(cluster, tmp_path):
    cluster(worker=2, ps=1)

    class Reading(tf.train.SessionRunHook):
        ends = 0

        def end(self, session):
            self.ends += 1
            if self.ends == 1:
                raise UnavailableError("It is gone.")

    saved, reading = Saved(), Reading()
    made = estimator(tmp_path, save_checkpoints_steps=5)
    saver = tf.train.CheckpointSaverHook(str(tmp_path), save_steps=5, listeners=[saved])
    made.train(data(None), [saver, reading], steps=10)
    assert reading.ends == 1
    assert saved.steps[-1] == (10, 10)
    assert made.get_variable_value("global_step") == 10


def test_a_program_that_is_no_task_has_the_cluster_train(cluster, monkeypatch, tmp_path):
    cluster("nobody", worker=2, ps=1)
    jobs = json.loads(os.environ["TF_CONFIG"])["cluster"]
    monkeypatch.delenv("TF_CONFIG")
    given = tf.contrib.distribute.DistributeConfig(
        train_distribute=tf.contrib.distribute.ParameterServerStrategy(), remote_cluster=jobs
    )
    config = tf.estimator.RunConfig(experimental_distribute=given, save_checkpoints_steps=4)
    made = tf.estimator.Estimator(model_fn, str(tmp_path), config)
    saved, workers = Saved(), set()

    def input_fn(input_context):
        workers.add(input_context.input_pipeline_id)
        return data(None)()

    train_spec = tf.estimator.TrainSpec(input_fn, max_steps=10, saving_listeners=[saved])
    metrics, _ = tf.estimator.train_and_evaluate(made, train_spec, tf.estimator.EvalSpec(data()))
    assert metrics["global_step"] == 10
    assert workers == {0, 1}
    assert saved.steps == [(step, step) for step in (0, 4, 8, 10)]


def test_strategies_without_servers_have_no_use_for_them(monkeypatch, tmp_path):
    be("ps", monkeypatch)
    made = estimator(tmp_path, train_distribute=tf.distribute.MirroredStrategy(["cpu:0"]))
    with pytest.raises(
        ValueError, match=r'the job "ps".*\bMirroredStrategy.*MultiWorkerMirroredStrategy'
    ):
        made.train(data())


def test_on_one_machine_all_devices_compute(tmp_path):
    values = []
    for name in ("ParameterServerStrategy", "MirroredStrategy"):
        strategy = getattr(tf.contrib.distribute, name)()
        assert strategy.num_replicas_in_sync > 1
        config = tf.estimator.RunConfig(train_distribute=strategy, eval_distribute=strategy)
        made = tf.estimator.Estimator(model_fn, str(tmp_path / name), config)
        made.train(data(None), max_steps=5)
        loss = made.evaluate(data(None), steps=2)["loss"]
        values.append([made.get_variable_value("dense/kernel"), loss])
    np.testing.assert_allclose(values[0][0], values[1][0], rtol=1e-6)
    assert values[0][1] == pytest.approx(values[1][1], rel=1e-6)


# Seed 002's programs as one script of all tasks.
_SCRIPT = """
import os
import sys
import time
from frontends import tf

tf.logging.set_verbosity(tf.logging.INFO)


def model_fn(features, labels, mode):
    layer = tf.layers.Dense(1)
    logits = layer(features)
    loss = tf.losses.mean_squared_error(labels=labels, predictions=tf.reshape(logits, []))
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss)
    optimizer = tf.train.GradientDescentOptimizer(0.2)
    train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    features = tf.data.Dataset.from_tensors([[1.]]).repeat()
    labels = tf.data.Dataset.from_tensors(1.).repeat()
    return tf.data.Dataset.zip((features, labels))


class Slow(tf.train.SessionRunHook):
    def after_run(self, run_context, run_values):
        time.sleep(float(os.environ["SECONDS"]))


def model_main():
    distribution = tf.contrib.distribute.ParameterServerStrategy()
    config = tf.estimator.RunConfig(train_distribute=distribution, save_checkpoints_steps=10)
    estimator = tf.estimator.Estimator(model_fn=model_fn, config=config, model_dir="model")
    train_spec = tf.estimator.TrainSpec(input_fn=input_fn, max_steps=150, hooks=[Slow()])
    eval_spec = tf.estimator.EvalSpec(input_fn=input_fn, steps=2, start_delay_secs=0, throttle_secs=0)
    tf.estimator.train_and_evaluate(estimator, train_spec, eval_spec)
    print("ended", estimator.get_variable_value("global_step"))


model_main()
"""
ray = [
    pytest.mark.slow,
    pytest.mark.multiprocess,
    pytest.mark.xdist_group("ray"),
    pytest.mark.skipif(sys.platform != "linux", reason="Ray's nodes are ended by way of /proc"),
]
_SECONDS = 400.0


class Job:
    """The tasks of a cluster, each a process whose output goes to a file."""

    def __init__(self, folder, environment, seconds=0.0, **jobs):
        addresses = iter(free_addresses(sum(jobs.values())))
        self.cluster = {job: [next(addresses) for _ in range(n)] for job, n in jobs.items()}
        self.folder, self.processes = folder, {}
        self.environment = environment | {"SECONDS": str(seconds), "JAX_PLATFORMS": "cpu"}
        (folder / "main.py").write_text(_SCRIPT)
        for job, addresses in [*self.cluster.items(), ("evaluator", [""])]:
            for index in range(len(addresses)):
                self.start(f"{job} {index}")

    def start(self, name):
        job, index = name.split()
        config = {"cluster": self.cluster, "task": {"type": job, "index": int(index)}}
        with open(self.folder / f"{name}.txt", "ab") as output:
            self.processes[name] = subprocess.Popen(
                [sys.executable, "main.py"],
                env=self.environment | {"TF_CONFIG": json.dumps(config)},
                cwd=self.folder,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def output(self, name):
        return (self.folder / f"{name}.txt").read_text()

    def until(self, reached):
        end = time.monotonic() + _SECONDS
        while not reached():
            assert time.monotonic() < end, {name: self.output(name) for name in self.processes}
            time.sleep(0.1)

    def end(self):
        self.until(lambda: all(one.poll() is not None for one in self.processes.values()))
        return {name: one.returncode for name, one in self.processes.items()}


@pytest.fixture
def job(tmp_path, fresh_environment):
    """Starts the tasks of a cluster."""
    started = []

    def start(**options):
        started.append(Job(tmp_path, os.environ | fresh_environment, **options))
        return started[-1]

    yield start
    for one in started:
        for process in one.processes.values():
            process.kill()
            process.wait()


def saved(output):
    return [int(step) for step in re.findall(r"after saving checkpoint (\d+)", output)]


class TestProcesses:
    pytestmark = ray

    @pytest.mark.parametrize("killed", ["worker 1", "ps 0", "worker 0", "evaluator 0"])
    def test_a_task_that_is_killed_and_started_again_ends_the_training(self, killed, job):
        one = job(worker=2, ps=1, seconds=0.05)
        one.until(lambda: 30 in saved(one.output("worker 0")))
        one.processes[killed].send_signal(signal.SIGKILL)
        one.processes[killed].wait()
        one.start(killed)
        assert set(one.end().values()) == {0}
        output = one.output("worker 0")
        steps = saved(output)
        assert steps == sorted(steps)
        assert set(steps) == set(range(0, 160, 10))
        assert output.endswith("ended 150\n")
        evaluated = re.findall(r"Saving dict for global step (\d+)", one.output("evaluator 0"))
        assert evaluated.count("150") == 1
        assert evaluated[-1] == "150"

    def test_a_launcher_starts_them(self, tmp_path, run_python):
        (tmp_path / "main.py").write_text(_SCRIPT)
        options = ("--workers", 2, "--ps", 1, "--evaluator", "--env", "JAX_PLATFORMS=cpu")
        done = run_python(
            *("-m", "spmd.cli", "launch", *options, "main.py"),
            cwd=tmp_path,
            environment={"SECONDS": "0"},
        )
        assert "[chief 0] ended 150" in done.stdout
        assert "[evaluator 0] ended 150" in done.stdout
        assert saved(done.stderr) == list(range(0, 160, 10))
        assert done.stderr.count("Saving dict for global step 150") == 1
        assert "worker 0, worker 1, ps 0 stopped" in done.stderr
