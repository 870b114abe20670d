"""Estimators that train in a cluster which their program is no task of."""

import json
import sys

import numpy as np
import pytest

from frontends import tf
from frontends.tf.estimator.remote_cluster import in_remote_cluster
from tests.conftest import environment_of_processes
from tests.frontends.tf.distribute.standalone import estimating
from tests.frontends.tf.distribute.standalone.servers import ROOT, serving

pytest.importorskip("ray")
pytestmark = [
    pytest.mark.xdist_group("ray"),
    pytest.mark.skipif(sys.platform != "linux", reason="Ray's nodes are ended by way of /proc"),
]
SEED = ROOT / "tests" / "frontends" / "seeds" / "002_standalone.txt"


@pytest.fixture(scope="module")
def environment(pytestconfig, tmp_path_factory):
    return environment_of_processes(pytestconfig, tmp_path_factory)


def run(servers, *words):
    """Runs a program; gives what it printed."""
    with servers.program(*map(str, words)) as program:
        output, _ = program.communicate(timeout=400)
    assert program.returncode == 0, output
    return output


def test_it_trains_as_replicas_of_one_process_do(environment, tmp_path):
    with serving(2, environment) as servers:
        output = run(servers, "estimating.py", tmp_path / "there", 5)
    found = json.loads(next(one for one in output.splitlines() if one[:2] == '{"'))
    here = estimating.train(
        tmp_path / "here",
        5,
        train_distribute=tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"]),
    )
    assert found["names"] == here["names"]
    assert found["replicas"] == here["replicas"] == 2
    assert found["metrics"] == pytest.approx(here["metrics"], rel=1e-4)
    np.testing.assert_allclose(found["y"], here["y"], rtol=1e-4)
    assert len(found["losses"]) == 5
    for line in (
        *("global_step/sec", "loss = ", "own loss: ", "Saving checkpoints for 5 into"),
        "Saving dict for global step 5: global_step = 5, loss = ",
    ):
        assert line in output
    assert list((tmp_path / "there" / "eval").glob("events*"))


@pytest.mark.slow
def test_seed_002_runs_again_and_again_in_servers_that_tf_config_names(environment, tmp_path):
    script = tmp_path / "laptop.py"
    text = SEED.read_text()
    for old, new in (
        ("import tensorflow as tf", "import json, sys\nfrom frontends import tf\n"),
        ('{"worker": ["host1:port", "host2:port", "host3:port"]}', "json.loads(sys.argv[1])"),
        ("eval_input_fn", "input_fn"),
        ("tf.estimator.train_and_evaluate(", "print(*tf.estimator.train_and_evaluate("),
    ):
        assert old in text, old
        text = text.replace(old, new)
    script.write_text(f"{text.rstrip()[:-1]})[:1])\n")
    serve = tmp_path / "serve.py"
    serve.write_text(
        "from frontends import tf\ntf.contrib.distribute.run_standard_tensorflow_server().join()\n"
    )
    with serving(3, environment, script=serve) as servers:
        for _ in range(2):
            assert "'loss': np.float32(0.0)" in run(servers, script)


def test_only_replicas_that_train_together_can_be_there():
    with pytest.raises(ValueError, match="replicas train together"):
        in_remote_cluster(tf.distribute.OneDeviceStrategy("cpu:0"), tf.train.ClusterSpec({}))
    given = tf.contrib.distribute.DistributeConfig(remote_cluster={"worker": ["a:1"]})
    config = tf.estimator.RunConfig(experimental_distribute=given)
    with pytest.raises(ValueError, match="takes a strategy"):
        tf.estimator.Estimator(estimating.model_fn, config=config)
