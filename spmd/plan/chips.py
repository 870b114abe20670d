"""What chips can do: memory, arithmetic, and links between them, as their makers publish it.

All rates are peaks in one direction; no program reaches them. GB and TB are 10^9 and 10^12 bytes, as in the sources;
GiB is 2^30.
"""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Literal

_GIB = 2**30
_CLOUD = "https://docs.cloud.google.com/tpu/docs/"
_BOOK = "https://jax-ml.github.io/scaling-book/tpus/"


@dataclasses.dataclass(frozen=True)
class Chip:
    """A kind of accelerator.

    Attributes:
        name: as in a topology, such as `"v5e"`.
        title: its name in full.
        memory: bytes of its memory (HBM).
        memory_bandwidth: bytes per second between memory and compute units.
        peak: FLOP per second of matrix products, by the type of their operands; `"float32"` as JAX multiplies by default.
        link_bandwidth: bytes per second of one link in one direction. GPUs have one link, to a switch.
        links: `"torus"`, where each dimension has two neighbours, or `"switch"`.
        ring_sides: sides of a slice that close to a ring, in a torus: multiples of this number.
        hop_seconds: delay of one hop between neighbours; 0 if no figure is published.
        network_bandwidth: bytes per second of one chip to other slices or machines.
        sources: where the figures were published.
    """

    name: str
    title: str
    memory: int
    memory_bandwidth: float
    peak: Mapping[str, float]
    link_bandwidth: float
    links: Literal["torus", "switch"]
    ring_sides: int
    hop_seconds: float
    network_bandwidth: float
    sources: tuple[str, ...]

    def peak_of(self, dtype: str) -> float:
        """FLOP per second for products of a type; bfloat16's, if there is no figure for the type.

        Args:
            dtype: name of the operands' type, such as `"float32"`.
        """
        return self.peak.get(dtype, self.peak["bfloat16"])

    def slice_bandwidth(self, shape: Sequence[int]) -> float:
        """Bytes per second that one chip sends in a collective over a whole slice.

        A side of a torus that closes to a ring sends in both directions; an open one is limited by its ends, which
        have one link. Sides work at the same time.

        Args:
            shape: chips of the slice, by dimension.

        Examples:
            >>> (
            ...     CHIPS["v5e"].slice_bandwidth((2, 2)) / 1e9,
            ...     CHIPS["v5e"].slice_bandwidth((16, 16)) / 1e9,
            ... )
            (90.0, 180.0)
        """
        if self.links == "switch":
            return self.link_bandwidth
        rings = self._rings(shape)
        return self.link_bandwidth * sum(
            2 if ring else 1 for side, ring in zip(shape, rings, strict=True) if side > 1
        )

    def hops(self, shape: Sequence[int]) -> int:
        """The number of hops between the two chips of a slice that are farthest from each other.

        Args:
            shape: chips of the slice, by dimension.

        Examples:
            >>> CHIPS["v5e"].hops((16, 16)), CHIPS["v5e"].hops((4, 4)), CHIPS["h100"].hops((8,))
            (16, 6, 1)
        """
        if self.links == "switch":
            return int(math.prod(shape) > 1)
        rings = self._rings(shape)
        return sum(side // 2 if ring else side - 1 for side, ring in zip(shape, rings, strict=True))

    def _rings(self, shape: Sequence[int]) -> list[bool]:
        if self.ring_sides == 4:  # cubes of 4 x 4 x 4 are joined by optical switches, or none is
            closed = all(side % 4 == 0 for side in shape)
            return [closed] * len(shape)
        return [side > 0 and side % self.ring_sides == 0 for side in shape]


def _tpu(
    name: str,
    memory: int,
    bandwidth: float,
    bfloat16: float,
    int8: float,
    link: float,
    ring_sides: int,
    network: float,
    page: str,
) -> Chip:
    # JAX multiplies float32 in one pass of bfloat16 unless jax_default_matmul_precision says otherwise.
    peak = {"bfloat16": bfloat16, "float16": bfloat16, "float32": bfloat16, "int8": int8}
    return Chip(
        *(name, f"TPU {name}", memory, bandwidth, peak, link, "torus", ring_sides),
        hop_seconds=1e-6,  # _BOOK: about one microsecond a hop
        network_bandwidth=network,
        sources=(_CLOUD + page, _BOOK),
    )


def _gpu(
    name: str,
    title: str,
    memory: int,
    bandwidth: float,
    peak: Mapping[str, float],
    link: float,
    network: float,
    sources: tuple[str, ...],
) -> Chip:
    return Chip(
        *(name, title, memory, bandwidth, peak, link, "switch", 0),
        hop_seconds=0.0,  # NVIDIA publishes none
        network_bandwidth=network,
        sources=sources,
    )


# Dense; float32 as TF32, which is XLA's default on GPUs. The H200 is an H100 with other memory.
_HOPPER = {
    "bfloat16": 989.4e12,
    "float16": 989.4e12,
    "float32": 494.7e12,
    "float64": 66.9e12,
    "int8": 1978.9e12,
}

# Capacity, HBM bandwidth and peaks: Google Cloud's page of each chip. Links (one direction), the network of a chip and
# what closes to a ring: the "TPU specs" of _BOOK, which are measured, and about 10% below Google Cloud's peaks.
CHIPS: Mapping[str, Chip] = {
    chip.name: chip
    for chip in (
        _tpu("v4", 32 * _GIB, 1.2e12, 275e12, 275e12, 45e9, 4, 6.25e9, "v4"),
        _tpu("v5e", 16 * _GIB, 819e9, 197e12, 393e12, 45e9, 16, 3.125e9, "v5e"),
        _tpu("v5p", 95 * _GIB, 2.765e12, 459e12, 918e12, 90e9, 4, 6.25e9, "v5p"),
        _tpu("v6e", 32 * _GIB, 1.638e12, 918e12, 1836e12, 90e9, 16, 12.5e9, "v6e"),
        _gpu(
            *("h100", "NVIDIA H100 SXM 80 GB", 84_942_979_072, 3.35e12),
            _HOPPER,
            450e9,  # NVLink: 900 GB/s, both directions together
            50e9,  # DGX H100: a 400 Gbit/s adapter for each GPU
            (
                "NVIDIA H100 Tensor Core GPU Architecture (whitepaper), tables 1 and 2",
                "NVIDIA DGX H100 data sheet",
                "memory: openxla/xla, target_config/specs/h100_sxm.txtpb",
            ),
        ),
        _gpu(
            *("h200", "NVIDIA H200 141 GB", 151_397_597_184, 4.8e12),
            _HOPPER,
            450e9,  # NVLink: 900 GB/s, both directions together
            50e9,  # DGX H200: a 400 Gbit/s adapter for each GPU
            (
                "NVIDIA H200 Tensor Core GPU data sheet",
                "NVIDIA DGX H200 data sheet",
                "memory: openxla/xla, target_config/specs/h200.txtpb",
            ),
        ),
        _gpu(
            *("a100", "NVIDIA A100 SXM 80 GB", 85_100_068_864, 2.039e12),
            {
                "bfloat16": 312e12,
                "float16": 312e12,
                "float32": 156e12,
                "float64": 19.5e12,
                "int8": 624e12,
            },
            300e9,  # NVLink: 600 GB/s, both directions together
            25e9,  # DGX A100: a 200 Gbit/s adapter for each GPU
            (
                "NVIDIA A100 Tensor Core GPU data sheet (80 GB SXM)",
                "NVIDIA DGX A100 data sheet",
                "memory: openxla/xla, target_config/specs/a100_sxm_80.txtpb",
            ),
        ),
    )
}


def chip_of(name: str) -> Chip | None:
    """Finds a chip by its name in a topology.

    Args:
        name: such as `"v5e"`.

    Returns:
        The chip, or None for processors (`"cpu"`), whose rates differ too much to be listed.

    Examples:
        >>> chip_of("v5e").memory // 2**30, chip_of("cpu")
        (16, None)
    """
    return CHIPS.get(name)
