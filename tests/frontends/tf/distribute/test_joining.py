"""How a process joins the others; tests/multiprocess has real ones."""

import json

import jax
import pytest

from frontends import tf
from frontends.tf.distribute import joining
from spmd.cluster import from_tasks
from spmd.errors import ClusterConfigError


@pytest.fixture
def started(monkeypatch):
    """What the engine was asked to start."""
    found = []
    monkeypatch.setattr(
        joining, "initialize", lambda *arguments, **names: found.append((*arguments, names))
    )
    monkeypatch.setattr(joining, "shared_seed", lambda: found.append("seed"))
    return found


def test_workers_are_numbered_and_named(started):
    joining.join(from_tasks({"worker": ["a:1", "b:2"]}, "worker", 1, "a test"), 30)
    (addresses, number, names), seed = started
    assert (addresses, number) == (["a:1", "b:2"], 1)
    assert names["timeout_seconds"] == 30
    assert len(names["names"]) == 2
    assert seed == "seed"


def test_tasks_that_do_not_train_are_refused(started):
    cluster = from_tasks({"worker": ["a:1"], "ps": ["b:2"]}, "ps", 0, "a test")
    with pytest.raises(ClusterConfigError, match=r"takes no part in synchronous training.*a test"):
        joining.join(cluster)
    assert started == []


SLURM = {
    "SLURM_JOB_ID": "7",
    "SLURM_PROCID": "1",
    "SLURM_STEP_NUM_TASKS": "2",
    "SLURM_STEP_NODELIST": "node[1-2]",
    "SLURM_STEP_TASKS_PER_NODE": "1(x2)",
}


def test_tasks_of_a_slurm_step_that_do_not_know_each_other_are_warned(monkeypatch):
    for name, value in SLURM.items():
        monkeypatch.setenv(name, value)
    with pytest.warns(
        UserWarning, match=r"task 1 of a Slurm step of 2.*SlurmClusterResolver"
    ) as found:
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
    assert [one.filename for one in found] == [__file__]
    assert jax.process_count() == 1
    assert strategy.num_replicas_in_sync == jax.device_count()


@pytest.mark.parametrize(
    "changed", [{"SLURM_STEP_NUM_TASKS": "1"}, {"SLURM_STEP_NUM_TASKS": "many"}]
)
def test_other_shells_of_slurm_are_not_warned(monkeypatch, recwarn, changed):
    for name, value in (SLURM | changed).items():
        monkeypatch.setenv(name, value)
    tf.distribute.MultiWorkerMirroredStrategy()
    assert not recwarn.list


def test_a_task_that_was_told_of_its_cluster_is_not_warned(monkeypatch, recwarn):
    for name, value in SLURM.items():
        monkeypatch.setenv(name, value)
    task = {"type": "worker", "index": 0}
    config = {"cluster": {"worker": ["localhost:1"]}, "task": task}
    monkeypatch.setenv("TF_CONFIG", json.dumps(config))
    tf.distribute.MultiWorkerMirroredStrategy()
    assert not recwarn.list


def test_hosts_of_a_simulated_tpu_are_tasks(started, simulate, monkeypatch):
    simulate("tpu:4")
    joining.join_tpu_hosts()
    assert started == []  # of one host
    task = {"type": "worker", "index": 0}
    config = {"cluster": {"worker": ["localhost:1", "localhost:2"]}, "task": task}
    monkeypatch.setenv("TF_CONFIG", json.dumps(config))
    joining.join_tpu_hosts()
    assert started[0][:2] == (["localhost:1", "localhost:2"], 0)
    config["task"]["type"] = "evaluator"
    config["cluster"]["evaluator"] = ["localhost:3"]
    monkeypatch.setenv("TF_CONFIG", json.dumps(config))
    joining.join_tpu_hosts()
    assert started.count("seed") == 1


@pytest.mark.parametrize(
    ("method", "hosts", "joins"), [("gketpu", 1, True), (None, 4, True), (None, 1, False)]
)
def test_hosts_of_a_cloud_tpu_are_found_by_jax(started, monkeypatch, method, hosts, joins):
    monkeypatch.setattr(joining, "has_tpu", lambda: True)
    monkeypatch.setattr(joining, "jax_detection_method", lambda environment: method)
    monkeypatch.setattr(joining, "gce_tpu_hosts", lambda environment: hosts)
    monkeypatch.setattr(joining._jax_internals, "backend_is_running", lambda: False)
    monkeypatch.setattr(jax.distributed, "initialize", lambda: started.append("jax"))
    joining.join_tpu_hosts()
    assert started == (["jax", "seed"] if joins else [])
    monkeypatch.setattr(jax.distributed, "is_initialized", lambda: True)
    joining.join_tpu_hosts()
    assert len(started) == 2 * joins
