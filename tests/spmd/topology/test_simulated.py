"""Simulated TPUs and GPUs: which devices answer to their names, and what is said."""

import jax
import pytest

from spmd.errors import MeshError
from spmd.topology import devices, simulated
from spmd.topology.devices import all_devices, device_name, find_devices, kind_of, local_devices
from spmd.topology.mesh import make_mesh
from spmd.topology.simulated import (
    Simulated,
    parse_simulated,
    simulated_environment,
    start_simulation,
    wanted_simulation,
)


@pytest.fixture
def simulate(monkeypatch):
    def setting(text):
        monkeypatch.setenv("JAXTRIBUTE_SIMULATE", text)
        monkeypatch.setattr(simulated, "_said", set())

    return setting


@pytest.mark.parametrize("text", ["tpu:8", "tpu:v5e-8", "tpu:v4-8", "gpu:4", "tpu:v2-8"])
def test_what_is_simulated_is_read_and_written(text):
    assert parse_simulated(text).text == text
    assert parse_simulated(simulated_environment(parse_simulated(text), {})["JAXTRIBUTE_SIMULATE"])


@pytest.mark.parametrize("text", ["8", "tpu", "tpu:", "gpu:0", "gpu:h100", "npu:8", "tpu:v9-8"])
def test_what_cannot_be_simulated(text):
    with pytest.raises(MeshError, match="Expected"):
        parse_simulated(text)


def test_nothing_is_simulated_by_default(monkeypatch, capfd):
    monkeypatch.delenv("JAXTRIBUTE_SIMULATE", raising=False)
    assert wanted_simulation() is None
    assert start_simulation() is None
    assert kind_of(jax.devices()[0]) == "cpu"
    assert local_devices("tpu") == []
    assert capfd.readouterr().err == ""


def test_the_first_devices_of_the_processor_stand_for_tpus(simulate, capfd):
    simulate("tpu:4")
    real = jax.devices()
    assert len(real) == 8  # conftest.py
    assert all_devices() == local_devices() == local_devices("tpu") == real[:4]
    assert local_devices("cpu") == real
    assert [kind_of(one) for one in real] == ["tpu"] * 4 + ["cpu"] * 4
    assert find_devices(["TPU:0", "/device:TPU:3"]) == [real[0], real[3]]
    assert find_devices(["tpu"]) == real[:4]
    assert device_name(real[3]) == "tpu:3"
    assert make_mesh().devices.tolist() == make_mesh(local=True).devices.tolist() == real[:4]
    assert capfd.readouterr().err == (
        "jaxtribute: 4 simulated TPU devices on this machine's processor: results are real, speed is not.\n"
    )
    with pytest.raises(MeshError, match=r"No device 'tpu:4'.*tpu:3"):
        find_devices(["tpu:4"])


def test_simulated_gpus(simulate):
    simulate("gpu:2")
    assert len(find_devices(["gpu"])) == len(find_devices(["/GPU:0", "/GPU:1"])) == 2
    assert local_devices("tpu") == []


def test_too_late(simulate):
    simulate("tpu:16")
    with pytest.raises(MeshError, match=r"already runs with 8 CPU.*launch --simulate tpu:16"):
        make_mesh()


def test_arrays_that_are_made_first(run_python, tmp_path):
    script = tmp_path / "early.py"
    script.write_text(
        "from frontends import tf\n"
        "import jax\n"
        "early = tf.constant(1.0)\n"
        "print(tf.distribute.MirroredStrategy())\n"
        "print(len(jax.devices()))\n"
    )
    done = run_python(script, environment={"JAXTRIBUTE_SIMULATE": "tpu:v6e-4"})
    assert done.stdout.split("\n")[:2] == ["MirroredStrategy(4 x tpu)", "4"]
    assert "4 simulated TPU devices" in done.stderr


def test_a_slice_is_of_all_processes():
    assert parse_simulated("tpu:v5e-4").slice_of(8).shape == (2, 4, 1, 1)
    assert Simulated("tpu", 8).slice_of(8).shape == (2, 2, 1, 2)
    assert devices.kind_of(jax.devices()[0]) == "cpu"
