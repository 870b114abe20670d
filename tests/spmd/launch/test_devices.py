"""Which devices each task gets."""

from pathlib import Path

import pytest

from spmd.cluster import Task
from spmd.errors import LaunchError
from spmd.launch import devices
from spmd.launch.devices import devices_of_tasks
from spmd.launch.tasks import Roles

FOUR_GPUS = {"JAX_PLATFORMS": "cuda", "CUDA_VISIBLE_DEVICES": "0,1,GPU-c,GPU-d"}


def test_a_processor_is_split_where_that_is_asked_for() -> None:
    divided = devices_of_tasks(Roles(2), 3, {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--a=b"})
    for task in Roles(2).all:
        assert divided[task]["JAX_PLATFORMS"] == "cpu"
        assert divided[task]["XLA_FLAGS"] == "--a=b --xla_force_host_platform_device_count=3"
        assert int(divided[task]["NPROC"]) >= 10
    assert devices_of_tasks(Roles(1), None, {"JAX_PLATFORMS": "cpu"}) == {Task("worker", 0): {}}


def test_gpus_are_divided_in_order() -> None:
    divided = devices_of_tasks(Roles(2), None, FOUR_GPUS)
    assert divided[Task("worker", 0)] == {"CUDA_VISIBLE_DEVICES": "0,1"}
    assert divided[Task("worker", 1)] == {"CUDA_VISIBLE_DEVICES": "GPU-c,GPU-d"}


def test_gpus_are_used_where_jax_has_a_plugin_for_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {"/dev/nvidia[0-9]*": ["/dev/nvidia0", "/dev/nvidia5"]}
    monkeypatch.setattr(devices.glob, "glob", lambda pattern: found.get(pattern, []))
    task = Task("worker", 1)
    assert devices_of_tasks(Roles(2), 1, {})[task]["JAX_PLATFORMS"] == "cpu"
    (tmp_path / "jax_plugins" / "xla_cuda13").mkdir(parents=True)
    (tmp_path / "jax_plugins" / "xla_cuda13" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    assert devices_of_tasks(Roles(2), 1, {})[task] == {"CUDA_VISIBLE_DEVICES": "1"}


def test_an_evaluator_gets_the_gpus_that_are_left_or_the_processor() -> None:
    evaluator = Task("evaluator", 0)
    divided = devices_of_tasks(Roles(3, evaluator=True), 1, FOUR_GPUS)
    assert divided[evaluator] == {"CUDA_VISIBLE_DEVICES": "GPU-d"}
    divided = devices_of_tasks(Roles(1, evaluator=True), None, FOUR_GPUS)
    assert divided[evaluator]["JAX_PLATFORMS"] == "cpu"
    assert divided[Task("worker", 0)] == {}


def test_too_few_gpus_are_an_error() -> None:
    with pytest.raises(LaunchError, match=r"Expected 6 GPUs.*shows 4.*JAX_PLATFORMS=cpu"):
        devices_of_tasks(Roles(2), 3, FOUR_GPUS)
    with pytest.raises(LaunchError, match="none"):
        devices_of_tasks(Roles(2), None, {"JAX_PLATFORMS": "cuda", "CUDA_VISIBLE_DEVICES": "-1"})


def test_other_platforms_are_left_to_jax() -> None:
    assert devices_of_tasks(Roles(2), 2, {"JAX_PLATFORMS": "rocm"})[Task("worker", 1)] == {}


def test_a_tpu_host_has_one_process() -> None:
    with pytest.raises(LaunchError, match="one on each TPU host"):
        devices_of_tasks(Roles(2), None, {"JAX_PLATFORMS": "tpu"})
    assert devices_of_tasks(Roles(1), None, {"JAX_PLATFORMS": "tpu"}) == {Task("worker", 0): {}}


def test_simulated_devices_are_those_of_the_job() -> None:
    divided = devices_of_tasks(Roles(2), None, {"JAXTRIBUTE_SIMULATE": "tpu:v5e-8"})
    for task in Roles(2).all:
        assert divided[task]["JAXTRIBUTE_SIMULATE"] == "tpu:v5e-4"
        assert divided[task]["XLA_FLAGS"].endswith("device_count=4")
        assert divided[task]["JAX_PLATFORMS"] == "cpu"
    with pytest.raises(LaunchError, match=r"8 simulated devices.*3 tasks.*--simulate tpu:6"):
        devices_of_tasks(Roles(3), None, {"JAXTRIBUTE_SIMULATE": "tpu:8"})
    with pytest.raises(LaunchError, match="Expected accelerators and their number"):
        devices_of_tasks(Roles(1), None, {"JAXTRIBUTE_SIMULATE": "eight"})


SERVED = Roles(2, chief=True, evaluator=True, ps=2)


@pytest.mark.parametrize(
    ("environment", "worker"),
    [
        (FOUR_GPUS, {"CUDA_VISIBLE_DEVICES": "GPU-c,GPU-d"}),
        ({"JAX_PLATFORMS": "cpu"}, {}),
        ({"JAX_PLATFORMS": "rocm"}, {}),
    ],
)
def test_parameter_servers_need_no_devices(environment: dict, worker: dict) -> None:
    divided = devices_of_tasks(SERVED, None, environment)
    assert divided.keys() == set(SERVED.all)
    assert divided[Task("worker", 1)] == worker
    for index in range(2):
        assert divided[Task("ps", index)]["JAX_PLATFORMS"] == "cpu"
        assert divided[Task("ps", index)]["CUDA_VISIBLE_DEVICES"] == ""


def test_a_chief_that_coordinates_gets_what_the_workers_leave() -> None:
    chief, evaluator = Task("chief", 0), Task("evaluator", 0)
    assert devices_of_tasks(SERVED, None, FOUR_GPUS)[chief]["JAX_PLATFORMS"] == "cpu"
    divided = devices_of_tasks(SERVED, 1, FOUR_GPUS)
    assert divided[Task("worker", 0)] == {"CUDA_VISIBLE_DEVICES": "0"}
    assert divided[chief] == {"CUDA_VISIBLE_DEVICES": "GPU-c"}
    assert divided[evaluator] == {"CUDA_VISIBLE_DEVICES": "GPU-d"}
    one = devices_of_tasks(Roles(1, chief=True, ps=1), None, {"JAX_PLATFORMS": "tpu"})
    assert one[Task("worker", 0)] == {}
    assert one[chief]["JAX_PLATFORMS"] == "cpu"


def test_the_workers_share_simulated_devices() -> None:
    divided = devices_of_tasks(SERVED, None, {"JAXTRIBUTE_SIMULATE": "gpu:4"})
    assert divided[Task("worker", 0)]["JAXTRIBUTE_SIMULATE"] == "gpu:2"
    assert divided[Task("ps", 0)]["JAXTRIBUTE_SIMULATE"] == ""
