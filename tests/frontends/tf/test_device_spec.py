"""`tf.DeviceSpec`."""

import pytest

from frontends import tf


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", (None, None, None, None, None)),
        ("/job:worker/replica:0/task:1/device:CPU:0", ("worker", 0, 1, "CPU", 0)),
        ("gpu:3", (None, None, None, "GPU", 3)),
        ("/device:TPU:*", (None, None, None, "TPU", None)),
        ("/job:ps/cpu:0", ("ps", None, None, "CPU", 0)),
    ],
)
def test_parts_of_a_string(text, parts):
    found = tf.DeviceSpec.from_string(text)
    assert (found.job, found.replica, found.task, found.device_type, found.device_index) == parts
    assert tf.DeviceSpec.from_string(found.to_string()) == found
    assert tf.DeviceSpec().parse_from_string(text) == found


def test_written():
    spec = tf.DeviceSpec(job="worker", task="1", device_type="gpu")
    assert spec.to_string() == "/job:worker/task:1/device:GPU:*"
    assert repr(spec) == (
        "<DeviceSpec(job=worker, replica=None, task=1, device_type=GPU, device_index=None)>"
    )
    assert spec.replace(device_index=2).to_string() == "/job:worker/task:1/device:GPU:2"
    assert spec == spec.replace()
    assert hash(spec) == hash(spec.replace())


def test_merged():
    one = tf.DeviceSpec(job="worker", task=1)
    other = tf.DeviceSpec(task=2, device_type="CPU", device_index=0)
    assert one.make_merged_spec(other).to_string() == "/job:worker/task:2/device:CPU:0"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("/shelf:3", "Unknown attribute 'shelf' .*Expected '/job:worker"),
        ("/cpu:0/gpu:0", "Multiple device types"),
        ("/task:one", "invalid literal"),
    ],
)
def test_other_strings_are_refused(text, message):
    with pytest.raises(ValueError, match=message):
        tf.DeviceSpec.from_string(text)
