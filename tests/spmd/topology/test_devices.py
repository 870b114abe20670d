"""Device strings: what people write, and what they are told when it is wrong."""

import jax
import pytest
from hypothesis import given
from hypothesis import strategies as st

import spmd
from spmd.topology.devices import DeviceSpec, device_name, find_devices, parse_device


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("cpu", DeviceSpec("cpu", None)),
        ("CPU:3", DeviceSpec("cpu", 3)),
        ("/cpu:0", DeviceSpec("cpu", 0)),
        ("/device:GPU:1", DeviceSpec("gpu", 1)),
        ("cuda:2", DeviceSpec("gpu", 2)),
        ("TPU:*", DeviceSpec("tpu", None)),
        (" gpu:0 ", DeviceSpec("gpu", 0)),
        ("/job:localhost/replica:0/task:0/device:GPU:1", DeviceSpec("gpu", 1, "localhost", 0, 0)),
        ("/job:worker/task:3/cpu:1", DeviceSpec("cpu", 1, "worker", 3)),
    ],
)
def test_reads(text: str, spec: DeviceSpec) -> None:
    assert parse_device(text) == spec


@pytest.mark.parametrize(
    "text",
    [
        "",
        "/",
        ":",
        "cpu:",
        "cpu:x",
        "cpu:-1",
        "cpu:1.5",
        "cpu:\N{SUPERSCRIPT TWO}",
        "cpu:0:1",
        "cpu/0",
        "npu:0",
        "/job:worker",
        "/task:0",
        "/job:worker/task:x/cpu:0",
        "/job/device:CPU:0",
        "cpu:0/gpu:1",
        "/task:0/task:1/cpu:0",
    ],
)
def test_does_not_read(text: str) -> None:
    with pytest.raises(spmd.errors.MeshError) as error:
        parse_device(text)
    assert repr(text) in str(error.value)
    assert "'cpu:0'" in str(error.value)


@given(
    st.text(max_size=12)
    | st.builds(
        "{}:{}".format, st.sampled_from(["cpu", "/gpu", "/device:tpu"]), st.text(max_size=3)
    )
)
def test_any_other_text_is_refused_the_same_way(text: str) -> None:
    try:
        spec = parse_device(text)
    except ValueError as error:
        refused: ValueError | None = error
    else:
        refused = None
        assert spec.platform in ("cpu", "gpu", "tpu")
    assert refused is None or type(refused) is spmd.errors.MeshError


@given(st.sampled_from(["cpu", "gpu", "tpu"]), st.integers(0, 10**6))
def test_short_and_long_forms_agree(platform: str, index: int) -> None:
    short = parse_device(f"{platform}:{index}")
    assert short == DeviceSpec(platform, index)
    long = parse_device(f"/job:worker/replica:0/task:2/device:{platform.upper()}:{index}")
    assert long == DeviceSpec(platform, index, "worker", 2, 0)


def test_finds_in_order() -> None:
    devices = jax.devices("cpu")
    assert find_devices(["cpu:2", "/CPU:0", devices[5]]) == [devices[2], devices[0], devices[5]]
    assert find_devices(["cpu"]) == devices
    assert [device_name(device) for device in devices] == [f"cpu:{index}" for index in range(8)]


def test_an_unknown_device_lists_those_that_exist() -> None:
    with pytest.raises(spmd.errors.MeshError) as error:
        spmd.make_mesh(["cpu:8"])
    for part in ("'cpu:8'", "cpu:0, cpu:1, cpu:2", "cpu:7", "spmd.simulate_devices(9)"):
        assert part in str(error.value)


def test_a_gpu_that_is_not_there_can_be_simulated() -> None:
    with pytest.raises(spmd.errors.MeshError, match="JAXTRIBUTE_SIMULATE=gpu:4 python"):
        find_devices(["GPU:3"])


def test_an_unknown_platform_says_what_is_here() -> None:
    with pytest.raises(
        spmd.errors.MeshError, match=r"No device 'tpu:0'\. Devices here: cpu:0"
    ) as error:
        find_devices(["tpu:0"])
    for part in ("Leave devices out", "JAXTRIBUTE_SIMULATE=tpu:2 python script.py"):
        assert part in str(error.value)


@pytest.mark.parametrize("again", ["cpu:1", "/device:CPU:1", "cpu"])
def test_a_device_may_be_named_once(again: str) -> None:
    with pytest.raises(spmd.errors.MeshError, match="cpu:1 is named more than once"):
        find_devices(["cpu:1", again])


@pytest.mark.parametrize("wrong", [None, 0, ["cpu:0"]])
def test_what_is_no_device_is_refused(wrong: object) -> None:
    with pytest.raises(
        spmd.errors.MeshError, match=r"Expected a device string.*Devices here: cpu:0"
    ):
        find_devices([wrong])


def test_a_device_of_another_process_is_refused() -> None:
    # "They are read and must name this process", says the module: this one is task 0.
    assert find_devices(["/job:localhost/replica:0/task:0/device:CPU:1"]) == [jax.devices()[1]]
    with pytest.raises(spmd.errors.MeshError, match="task:5"):
        find_devices(["/job:worker/task:5/device:CPU:0"])


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("/job:ps/replica:0/task:0/device:CPU:0", "job 'ps', which does not train"),
        ("/job:worker/replica:7/task:0/device:CPU:0", "replica 7, but a task has only replica 0"),
        ("/job:ps/replica:7/task:0/device:CPU:0", "job 'ps'"),
    ],
)
def test_job_and_replica_are_checked_and_devices_listed(text: str, wrong: str) -> None:
    with pytest.raises(spmd.errors.MeshError, match=wrong) as error:
        find_devices([text])
    assert "Devices here: cpu:0, cpu:1" in str(error.value)
    assert "Leave job, replica and task out" in str(error.value)
