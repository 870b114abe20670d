"""Devices that are not here, and meshes of them."""

import os
import subprocess
import sys

import jax
import numpy as np
import pytest

from spmd.errors import PlanError
from spmd.plan import parse_topology
from spmd.plan.environment import worker_environment
from spmd.plan.target_devices import find_target_devices, target_mesh
from spmd.topology.layout import replica_mesh
from tests.spmd.plan.compilers import needs_gpu_compiler, needs_tpu_compiler

ASK = """
import sys
import numpy as np
from spmd.plan import parse_topology
from spmd.plan.target_devices import find_target_devices, target_mesh
from spmd.topology import simulate_devices
from spmd.topology.layout import replica_mesh
import jax
for text in sys.argv[1:]:
    topology = parse_topology(text)
    devices = find_target_devices(topology)
    simulate_devices(64)
    mesh = target_mesh(replica_mesh(jax.devices()[:topology.devices]), devices)
    found = list(mesh.devices.flat)
    slices = [getattr(one, "slice_index", None) or 0 for one in found]
    near = 0
    if topology.platform == "tpu":
        steps = [np.abs(np.subtract(a.coords, b.coords)).sum() for a, b in zip(found, found[1:]) ]
        near = sum(step == 1 for step in steps)
    print(text, len(devices), len(set(found)), devices[0].device_kind.replace(" ", "_"), slices == sorted(slices), near)
"""


def ask(*topologies: str) -> list[list[str]]:
    """In a process of its own, as in a plan."""
    environment = worker_environment(parse_topology(topologies[0]), dict(os.environ))
    run = subprocess.run(
        [sys.executable, "-c", ASK, *topologies],
        env={**environment, "XLA_FLAGS": "", "NPROC": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return [line.split() for line in run.stdout.splitlines()]


@needs_tpu_compiler
def test_every_kind_of_tpu_has_one_device_for_each_chip_and_neighbours_are_close() -> None:
    asked = ["v4:2x2x2", "v5e:4x4", "v5p:2x2x1", "v6e:8x8", "v6e:1x1", "2xv5e:2x4"]
    found = ask(*asked)
    sizes = [parse_topology(text).devices for text in asked]
    assert [line[0] for line in found] == asked
    assert [line[1:3] for line in found] == [[str(size)] * 2 for size in sizes]
    kinds = ["TPU_v4", "TPU_v5_lite", "TPU_v5", "TPU_v6_lite", "TPU_v6_lite", "TPU_v5_lite"]
    assert [line[3] for line in found] == kinds
    # Replicas of a slice stand together, and nearly all are next to each other in it.
    assert all(line[4] == "True" for line in found)
    assert all(
        int(line[5]) >= size // 2 for line, size in zip(found, sizes, strict=True) if size > 1
    )


@needs_gpu_compiler
def test_gpus_have_one_device_each() -> None:
    found = ask("h100:8", "h200:1", "a100:16")
    assert [line[:4] for line in found] == [
        ["h100:8", "8", "8", "NVIDIA_H100_80GB_HBM3"],
        ["h200:1", "1", "1", "NVIDIA_H200_141GB_HBM3e"],
        ["a100:16", "16", "16", "NVIDIA_A100-SXM4-80GB"],
    ]


def test_some_of_the_devices_form_a_smaller_mesh() -> None:
    devices = jax.devices()
    mesh = target_mesh(replica_mesh(devices[:2]), devices[4:8])
    assert list(mesh.devices) == devices[4:6]
    assert mesh.axis_names == ("replica",)


def test_a_mesh_of_two_axes_keeps_its_shape() -> None:
    devices = np.array(jax.devices()).reshape(4, 2)
    mesh = jax.sharding.Mesh(devices, ("replica", "model"))
    assert target_mesh(mesh, jax.devices()).devices.shape == (4, 2)


def test_what_the_compiler_refuses_is_an_error(monkeypatch) -> None:
    def refuse(*arguments, **options):
        raise RuntimeError("no such chips")

    monkeypatch.setattr("spmd.plan.target_devices.topologies.get_topology_desc", refuse)
    with pytest.raises(PlanError, match="cannot compile for v5e:2x2: no such chips"):
        find_target_devices(parse_topology("v5e:2x2"))
