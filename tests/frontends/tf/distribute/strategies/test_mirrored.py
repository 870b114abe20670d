"""Which devices a MirroredStrategy takes, and how they are named."""

import copy
import re
from typing import Any

import jax
import numpy as np
import optax
import pytest

import spmd
from frontends import tf

LONG = "/job:localhost/replica:0/task:0/device:CPU:{}"


def replica_context() -> Any:  # never None where the tests ask for it
    return tf.distribute.get_replica_context()


def names(strategy):
    return [device.id for device in strategy.mesh.devices.flat]


@pytest.mark.parametrize(
    "form", ["/cpu:{}", "cpu:{}", "CPU:{}", "/CPU:{}", "/device:CPU:{}", LONG, LONG.lower()]
)
def test_device_strings(form):
    strategy = tf.distribute.MirroredStrategy([form.format(0), form.format(1)])
    assert strategy.num_replicas_in_sync == 2
    assert names(strategy) == [0, 1]


def test_an_error_about_a_missing_device_gives_the_lines_that_make_it(run_python):
    program = """if True:
        import sys
        from frontends import tf
        {line}
        strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
        print(strategy.num_replicas_in_sync)
    """

    error = run_python("-c", program.format(line="pass"), status=1).stderr
    assert "No device '/cpu:1'" in error
    (line,) = re.findall(r"tf\.config\.set_logical_device_configuration\(.*?\* 2\)", error)
    assert run_python("-c", program.format(line=line)).stdout == "2\n"


def test_order_is_the_users():
    strategy = tf.distribute.MirroredStrategy(("/cpu:3", "/cpu:1"))
    assert names(strategy) == [3, 1]
    ids = strategy.run(lambda: replica_context().replica_id_in_sync_group)
    assert [(int(value), *value.devices()) for value in ids.values] == [
        (0, jax.devices("cpu")[3]),
        (1, jax.devices("cpu")[1]),
    ]


def test_without_devices_it_takes_all():
    assert tf.distribute.MirroredStrategy().num_replicas_in_sync == len(jax.devices())


def test_an_unknown_device_is_answered_with_those_there_are():
    with pytest.raises(ValueError, match=r"'/cpu:64'.*cpu:0, cpu:1, .*cpu:7"):
        tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:64"])


@pytest.mark.skipif(
    any(device.platform == "gpu" for device in jax.devices()), reason="there is a GPU"
)
def test_a_gpu_that_is_not_there():
    with pytest.raises(ValueError, match=r"'/gpu:0'.*cpu:0"):
        tf.distribute.MirroredStrategy(["/gpu:0"])


@pytest.mark.parametrize("devices", [["/foo:0"], ["nonsense"], ["/cpu:x"], "CPU:0"])
def test_what_is_no_device(devices):
    with pytest.raises(ValueError, match="device"):
        tf.distribute.MirroredStrategy(devices)


def test_a_device_named_twice():
    with pytest.raises(ValueError, match=r"cpu:1.*more than once"):
        tf.distribute.MirroredStrategy(["/cpu:1", "/device:CPU:1"])


def test_copies_of_a_strategy_are_the_strategy():
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    assert copy.deepcopy({"strategy": strategy})["strategy"] is strategy
    assert copy.copy(strategy).num_replicas_in_sync == 2


def test_repr_tells_devices():
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    assert repr(strategy) == "MirroredStrategy(2 x cpu)"


@pytest.mark.parametrize("devices", [1, 2, 6])
def test_hierarchical_copy_sums_the_same(devices):
    def train(operations):
        names = [f"cpu:{index}" for index in range(devices)]
        strategy = tf.distribute.MirroredStrategy(names, cross_device_ops=operations)
        with strategy.scope():
            weight = tf.Variable([1.0, 2.0, 3.0])
        optimizer = optax.chain(spmd.sum_over_replicas(), optax.sgd(0.1))

        def step():
            context = tf.distribute.get_replica_context()
            own = tf.cast(context.replica_id_in_sync_group, tf.float32)
            gradient = own * weight
            weight.assign_add(optimizer.update(gradient, optimizer.init(gradient))[0])

        strategy.run(step)
        return weight.numpy()

    expected = train(None)
    np.testing.assert_allclose(
        train(tf.distribute.HierarchicalCopyAllReduce()), expected, rtol=1e-6
    )
