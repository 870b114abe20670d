"""Names of hardware."""

import pytest

from spmd.errors import PlanError
from spmd.plan import parse_topology


@pytest.mark.parametrize(
    ("text", "chip", "platform", "shape", "slices", "devices"),
    [
        ("v5e:16x16", "v5e", "tpu", (16, 16), 1, 256),
        ("V5E:16x16", "v5e", "tpu", (16, 16), 1, 256),
        ("v6e:8", "v6e", "tpu", (2, 4), 1, 8),
        ("v4:2x2x1", "v4", "tpu", (2, 2, 1), 1, 4),
        ("v5p:4x4x8", "v5p", "tpu", (4, 4, 8), 1, 128),
        ("2xv5e:4x4", "v5e", "tpu", (4, 4), 2, 32),
        ("2*v5p:2x2x2", "v5p", "tpu", (2, 2, 2), 2, 16),
        ("h100:8", "h100", "gpu", (8,), 1, 8),
        ("h100:16", "h100", "gpu", (8,), 2, 16),
        ("a100:3", "a100", "gpu", (3,), 1, 3),
        ("cpu:2", "cpu", "cpu", (2,), 1, 2),
    ],
)
def test_topologies_are_read(text, chip, platform, shape, slices, devices) -> None:
    found = parse_topology(text)
    assert (found.chip, found.platform, found.shape) == (chip, platform, shape)
    assert (found.slices, found.devices, str(found)) == (slices, devices, text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("v5e", "has not the form CHIP:SHAPE"),
        ("v5e:3x3", "no such slice of v5e"),
        ("v5e:7", "no such slice of v5e"),
        ("v4:2x2", "no such slice of v4"),
        ("v4:3x3x3", "no such slice of v4"),
        ("v4:16x16x20", "largest slice of v4 has 4096 chips"),
        ("v9:2x2", "no chip is called 'v9'"),
        ("h100:12", "a machine has 8 GPUs"),
        ("h100:2x4", "GPUs are counted"),
        ("cpu:0", "it has no devices"),
        ("2xcpu:2", "a processor has a number of devices"),
    ],
)
def test_what_does_not_exist_is_an_error_that_lists_what_does(text, reason) -> None:
    with pytest.raises(PlanError) as raised:
        parse_topology(text)
    assert reason in str(raised.value)
    assert "16x16" in str(raised.value)
    assert "cpu:8" in str(raised.value)
