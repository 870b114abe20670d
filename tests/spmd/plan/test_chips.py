"""Figures of chips, and what follows from how they are connected."""

import pytest

from spmd.plan.chips import CHIPS, chip_of
from spmd.plan.topologies import parse_topology


def test_every_chip_has_all_figures_and_their_source() -> None:
    assert set(CHIPS) == {"v4", "v5e", "v5p", "v6e", "h100", "h200", "a100"}
    for name, chip in CHIPS.items():
        assert chip.name == name
        assert 15e9 < chip.memory < 160e9
        assert 5e11 < chip.memory_bandwidth < 5e12
        assert 1e14 < chip.peak["bfloat16"] < 1e15
        # Slower the farther away: memory, neighbours, other slices.
        assert chip.memory_bandwidth > chip.link_bandwidth > chip.network_bandwidth
        assert chip.sources


def test_a_type_without_a_figure_counts_as_bfloat16() -> None:
    assert CHIPS["v5e"].peak_of("float8_e4m3fn") == CHIPS["v5e"].peak_of("bfloat16") == 197e12
    assert CHIPS["h100"].peak_of("float32") == CHIPS["h100"].peak_of("bfloat16") / 2
    assert chip_of("cpu") is None


@pytest.mark.parametrize(
    ("topology", "links"),
    [
        ("v5e:1x1", 0),
        ("v5e:2x4", 2),  # no side closes to a ring
        ("v6e:8x16", 3),  # the side of 16 does
        ("v5e:16x16", 4),
        ("v4:2x2x4", 3),  # less than a cube of 4 x 4 x 4 has no ring
        ("v5p:4x4x8", 6),
        ("h100:8", 1),
    ],
)
def test_links_that_a_collective_uses(topology, links) -> None:
    found = parse_topology(topology)
    chip = CHIPS[found.chip]
    assert chip.slice_bandwidth(found.shape) == links * chip.link_bandwidth


def test_hops() -> None:
    assert CHIPS["v5p"].hops((4, 4, 8)) == 2 + 2 + 4
    assert CHIPS["v4"].hops((2, 2, 4)) == 1 + 1 + 3
    assert CHIPS["h100"].hops((1,)) == 0
