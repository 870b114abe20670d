"""What libraries ask a TPU strategy for."""

import types

import numpy as np
import pytest

from frontends import tf
from frontends.tf.distribute.tpu_extended import TPUExtended


def test_as_in_tensorflow(simulate):
    simulate("tpu:4")
    extended = tf.distribute.TPUStrategy().extended
    assert (extended.num_hosts, extended.num_replicas_per_host) == (1, 4)
    assert extended.experimental_require_static_shapes
    assert extended.experimental_should_init
    assert extended.should_checkpoint
    assert extended.should_save_summary
    assert not extended.experimental_between_graph
    assert extended.tpu_hardware_feature.num_embedding_devices_per_chip == 0
    assert extended.device_assignment is None


@pytest.mark.parametrize(("tasks", "hosts", "each"), [([0, 0, 1, 1], 2, 2), ([0, 0, 1], 2, None)])
def test_hosts_of_a_pod(simulate, tasks, hosts, each):
    """Made-up devices of several processes."""
    simulate("tpu:4")
    devices = [types.SimpleNamespace(process_index=task) for task in tasks]
    mesh = types.SimpleNamespace(devices=np.array(devices, object))
    strategy = types.SimpleNamespace(mesh=mesh, num_replicas_in_sync=len(tasks))
    extended = TPUExtended.__new__(TPUExtended)
    extended._strategy = strategy
    assert extended.num_hosts == hosts
    if each is None:
        with pytest.raises(ValueError, match="3 replicas are on 2 hosts"):
            _ = extended.num_replicas_per_host
    else:
        assert extended.num_replicas_per_host == each
