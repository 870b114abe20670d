"""Facts of a TPU system."""

import types

from frontends.tf.tpu import system_metadata as module
from frontends.tf.tpu.system_metadata import TPUSystemMetadata, system_metadata


def test_of_simulated_cores(simulate):
    simulate("tpu:v6e-4")
    found = system_metadata()
    assert isinstance(found, TPUSystemMetadata)
    assert (found.num_cores, found.num_hosts, found.num_of_cores_per_host) == (4, 1, 4)
    assert found.topology.mesh_shape.tolist() == [2, 2, 1, 1]
    name, kind, memory, incarnation = found.devices[1]
    assert name == "/job:localhost/replica:0/task:0/device:TPU:1"
    assert (kind, memory, incarnation) == ("TPU", 0, 0)


def test_memory_is_that_of_this_process(monkeypatch):
    def device(task):
        stats = {"bytes_limit": 17}
        return types.SimpleNamespace(platform="tpu", process_index=task, memory_stats=lambda: stats)

    assert [module._memory(device(task)) for task in (0, 1)] == [17, 0]
