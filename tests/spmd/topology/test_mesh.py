"""Meshes, and simulated devices: these in processes of their own, since a backend starts once."""

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax
import numpy as np
import pytest
from jax.sharding import AxisType, Mesh

import spmd

MeshOf = Callable[[int], Mesh]
ROOT = Path(spmd.__file__).parents[1]
COUNT_FLAG = "--xla_force_host_platform_device_count"


def run_code(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs code in a process that does not see what conftest.py set for this one."""
    inherited = {k: v for k, v in os.environ.items() if k not in ("XLA_FLAGS", "NPROC")}
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=ROOT,
        env={**inherited, "PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu", **environment},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def result_of(code: str, **environment: str) -> Any:
    done = run_code(code, **environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# Meshes.


def test_a_mesh_has_one_axis_and_keeps_the_order_of_the_devices() -> None:
    mesh = spmd.make_mesh(["cpu:3", "cpu:0", "/CPU:5"])
    devices = jax.devices("cpu")
    assert list(mesh.devices) == [devices[3], devices[0], devices[5]]
    assert mesh.axis_names == ("replica",)
    assert mesh.axis_types == (AxisType.Auto,)
    assert spmd.topology.num_replicas(mesh) == 3


def test_a_mesh_without_names_takes_every_device() -> None:
    mesh = spmd.make_mesh()
    assert list(mesh.devices) == jax.devices()
    assert spmd.topology.num_replicas(mesh) == 8
    assert mesh == spmd.make_mesh(["cpu"]) == spmd.make_mesh(jax.devices())


def test_a_mesh_needs_a_device() -> None:
    with pytest.raises(spmd.errors.MeshError, match="one device at least"):
        spmd.make_mesh([])


def test_platforms_are_not_mixed() -> None:
    class Fake(SimpleNamespace):
        def __str__(self) -> str:
            return f"{self.platform}#{self.id}"

    with pytest.raises(spmd.errors.MeshError, match=r"of cpu, gpu: \['gpu#0', 'cpu#1'\]"):
        spmd.make_mesh([Fake(platform="gpu", id=0), Fake(platform="cpu", id=1)])


def test_replicas_lie_along_one_axis_of_several() -> None:
    devices = np.array(jax.devices()[:6]).reshape(3, 2)
    assert spmd.topology.num_replicas(Mesh(devices, ("replica", "model"))) == 3
    assert spmd.topology.num_replicas(Mesh(devices, ("model", "replica"))) == 2


def test_a_mesh_without_replicas_is_refused() -> None:
    mesh = Mesh(np.array(jax.devices()[:2]), ("batch",))
    with pytest.raises(spmd.errors.MeshError) as error:
        spmd.topology.num_replicas(mesh)
    for part in ("'replica'", "'batch'", "spmd.make_mesh(devices)"):
        assert part in str(error.value)


# Replicas of several devices.


def test_devices_that_follow_one_another_are_a_replica() -> None:
    mesh = spmd.make_mesh(model=2)
    assert mesh.devices.tolist() == np.array(jax.devices()).reshape(4, 2).tolist()
    assert mesh.axis_names == ("replica", "model")
    assert mesh.axis_types == (AxisType.Auto,) * 2
    assert spmd.make_mesh(["cpu:5", "cpu:2"], model=2).devices.tolist() == [
        [jax.devices()[5], jax.devices()[2]]
    ]


def test_several_model_axes() -> None:
    assert dict(spmd.make_mesh(model=(2, 2)).shape) == {"replica": 2, "model_0": 2, "model_1": 2}
    assert spmd.make_mesh(model=(1, 1)) == spmd.make_mesh(model=1) == spmd.make_mesh()


@pytest.mark.parametrize("model", [3, 16, 0, -2, (2, 3), (4, 0)])
def test_devices_that_do_not_divide(model: int | tuple[int, ...]) -> None:
    with pytest.raises(spmd.errors.MeshError, match=r"8 device\(s\) cannot be divided"):
        spmd.make_mesh(model=model)


def test_an_array_says_which_devices_a_replica_has() -> None:
    cores = np.array(jax.devices()).reshape(2, 4).T
    mesh = spmd.topology.mesh_of_replicas(cores)
    assert mesh.devices.tolist() == cores.tolist()
    assert dict(mesh.shape) == {"replica": 4, "model": 2}
    # One device for each is a mesh like any other.
    flat = spmd.topology.mesh_of_replicas(cores[:, :1])
    assert flat == spmd.make_mesh(list(cores[:, 0]))
    with pytest.raises(spmd.errors.MeshError, match="one replica only"):
        spmd.topology.mesh_of_replicas(cores[[0, 0]])
    with pytest.raises(spmd.errors.MeshError, match="one device at least"):
        spmd.topology.mesh_of_replicas(cores[:0])


@pytest.mark.parametrize(
    ("cores", "axes"),
    [
        (1, {}),
        (2, {"model": 2}),
        (4, {"model_0": 2, "model_1": 2}),
        (6, {"model_0": 2, "model_1": 3}),
        (8, {"model_0": 2, "model_1": 2, "model_2": 2}),
    ],
)
def test_cores_are_model_axes_by_prime_factors(cores: int, axes: dict[str, int]) -> None:
    devices = np.array(jax.devices()[:cores]).reshape(1, cores)
    assert dict(spmd.topology.mesh_of_cores(devices).shape) == {"replica": 1, **axes}


def test_a_replica_is_of_one_process() -> None:
    class Fake(SimpleNamespace):
        __hash__ = object.__hash__  # type: ignore[assignment]

    devices = np.array([Fake(platform="cpu", id=i, process_index=i // 3) for i in range(4)])
    with pytest.raises(spmd.errors.MeshError, match=r"replica 1 belong to the processes \[0, 1\]"):
        spmd.topology.mesh_of_replicas(devices.reshape(2, 2))


# Simulated devices.


def test_flags_that_were_set_already_are_kept_and_the_count_is_replaced() -> None:
    seen = result_of(
        """
        import json, os
        import spmd
        spmd.simulate_devices(6)
        import jax, numpy as np
        mesh = spmd.make_mesh()
        step = spmd.Step(lambda: spmd.all_reduce(spmd.replica_id()), mesh)
        print(json.dumps([
            len(jax.devices("cpu")), int(step()), os.environ["XLA_FLAGS"], os.environ["NPROC"]
        ]))
        """,
        XLA_FLAGS=f"--xla_cpu_enable_fast_math=false {COUNT_FLAG}=3",
        NPROC="2",
    )
    count, total, flags, threads = seen
    assert (count, total) == (6, 15)
    assert sorted(flags.split()) == ["--xla_cpu_enable_fast_math=false", f"{COUNT_FLAG}=6"]
    assert int(threads) >= 16
    # A child process that asks for nothing has as many devices.
    child = result_of("import jax; print(len(jax.devices()))", XLA_FLAGS=flags, NPROC=threads)
    assert child == 6


def test_the_thread_pool_grows_and_never_shrinks() -> None:
    # None of these calls starts a backend, so one process makes them all.
    seen = result_of(
        """
        import json, os
        import spmd
        from spmd import _jax_internals
        threads = []
        for before, count in [(None, 2), ("", 2), ("2", 40), ("1000", 40), ("1", 1)]:
            os.environ.pop("NPROC", None)
            if before is not None:
                os.environ["NPROC"] = before
            spmd.simulate_devices(count)
            threads.append(int(os.environ["NPROC"]))
        assert not _jax_internals.backend_is_running()
        print(json.dumps([threads, os.environ["XLA_FLAGS"]]))
        """
    )
    threads, flags = seen
    assert threads[0] == threads[1] >= 8
    assert threads[2] >= 80
    assert threads[3] == 1000
    assert threads[4] == 1  # a single device waits for nobody
    assert flags == f"{COUNT_FLAG}=1"


def test_too_late_is_an_error_that_says_what_to_do() -> None:
    done = run_code(
        """
        import os
        import jax, spmd
        jax.devices()
        before = dict(os.environ)
        spmd.simulate_devices(1)  # as many as there are: nothing to do
        try:
            spmd.simulate_devices(4)
        finally:
            assert os.environ == before
        """
    )
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("spmd.errors.MeshError: simulate_devices(4) came too late")
    assert "1 CPU device(s)" in last
    assert "top of the script" in last


def test_as_many_devices_as_there_are_may_be_asked_for_again() -> None:
    before = dict(os.environ)
    spmd.simulate_devices(8)
    assert len(jax.devices("cpu")) == 8
    with pytest.raises(spmd.errors.MeshError, match=r"simulate_devices\(9\).*8 CPU device"):
        spmd.simulate_devices(9)
    assert os.environ == before


@pytest.mark.parametrize("count", [0, -1])
def test_less_than_one_device_is_refused(count: int) -> None:
    with pytest.raises(
        spmd.errors.MeshError, match=f"1 device at least, but was asked for {count}"
    ):
        spmd.simulate_devices(count)
