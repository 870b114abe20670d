"""TensorFlow's bytes of a topology."""

import numpy as np
import pytest

from frontends.tf.tpu import topology_bytes

# What TensorFlow 2.21 writes for 2 x 2 chips of two cores, of one task.
RECORDED = bytes.fromhex(
    "0a04020201021001180822200000000000000001010000000100000100010000000100010101000001010001"
)


def test_read_and_written_as_tensorflow_does():
    shape, places = topology_bytes.read(RECORDED)
    assert shape == [2, 2, 1, 2]
    assert places.shape == (1, 8, 4)
    assert places[0, 3].tolist() == [1, 0, 0, 1]
    assert topology_bytes.write(shape, places) == RECORDED


def test_numbers_of_several_bytes():
    places = np.full((3, 200, 4), 300, np.int32)
    shape, found = topology_bytes.read(topology_bytes.write([1, 2, 3, 70000], places))
    assert shape == [1, 2, 3, 70000]
    np.testing.assert_array_equal(found, places)


def test_other_fields_are_skipped():
    known = topology_bytes.write([1, 1, 1, 1], np.zeros((1, 1, 4), np.int32))
    others = bytes([5 << 3, 150, 1, 6 << 3 | 2, 2, 1, 2, 7 << 3 | 5, 1, 2, 3, 4])
    assert topology_bytes.read(others + known)[0] == [1, 1, 1, 1]


@pytest.mark.parametrize("data", [b"\x0a\x04\x02", b"no topology", b"\x1b", RECORDED[:-1]])
def test_other_bytes_are_refused(data):
    with pytest.raises(ValueError, match=rf"These {len(data)} bytes are no topology"):
        topology_bytes.read(data)
