"""Estimates how long a step takes, from what it computes, moves and sends, and from the peaks of a chip.

This is a roofline: each resource works at its peak, arithmetic and memory at the same time. So the step takes *at least*
the estimated time, if the counts are right.
"""

import dataclasses
import math
from collections.abc import Mapping, Sequence

from spmd.plan.chips import Chip
from spmd.plan.collectives import Collective, ring_traffic
from spmd.plan.units import format_bytes, format_rate, format_seconds


@dataclasses.dataclass(frozen=True)
class Work:
    """What one device does in one training step.

    Attributes:
        products: FLOP of matrix products and convolutions, by the type of their operands.
        memory_bytes: read from memory, or written to it.
        collectives: what it sends.
        steps: how many training steps the collectives are of.
    """

    products: Mapping[str, float]
    memory_bytes: float
    collectives: Sequence[Collective]
    steps: int = 1

    @property
    def flops(self) -> float:
        """FLOP of all products."""
        return sum(self.products.values())


@dataclasses.dataclass(frozen=True)
class Estimate:
    """How long a step takes at least, on a chip.

    Attributes:
        compute_seconds: of the products, at the chip's peak.
        memory_seconds: of the bytes between memory and compute units.
        exposed_seconds: of collectives that nothing is computed beside.
        overlapped_seconds: of collectives that the compiler placed beside computation.
        step_seconds: of a whole step.
        bound: what takes longest: `"compute"`, `"HBM"` or `"interconnect"`.
        mfu: model FLOP utilization that this allows: the products, as a part of what the chip's bfloat16 peak could
            do in the time.
        assumptions: what the estimate takes for granted, for people to read.
    """

    compute_seconds: float
    memory_seconds: float
    exposed_seconds: float
    overlapped_seconds: float
    step_seconds: float
    bound: str
    mfu: float
    assumptions: tuple[str, ...] = ()


def estimate_step(work: Work, chip: Chip, shape: Sequence[int], slices: int = 1) -> Estimate:
    """Estimates how long a step takes.

    Args:
        work: of one device.
        chip: that does it.
        shape: chips of a slice, by dimension.
        slices: how many slices there are.

    Examples:
        >>> from spmd.plan.chips import CHIPS
        >>> found = estimate_step(Work({"bfloat16": 197e9}, 81.9e6, ()), CHIPS["v5e"], (2, 2))
        >>> found.compute_seconds, found.memory_seconds, found.bound, found.mfu
        (0.001, 0.0001, 'compute', 1.0)
    """
    compute = sum(count / chip.peak_of(dtype) for dtype, count in work.products.items())
    memory = work.memory_bytes / chip.memory_bandwidth
    exposed = overlapped = 0.0
    for each in work.collectives:
        seconds = each.times * collective_seconds(each, chip, shape, slices) / work.steps
        if each.overlapped:
            overlapped += seconds
        else:
            exposed += seconds
    step = max(compute, memory, overlapped) + exposed
    hidden = overlapped if overlapped > max(compute, memory) else 0.0
    times = {"compute": compute, "HBM": memory, "interconnect": exposed + hidden}
    return Estimate(
        *(compute, memory, exposed, overlapped, step),
        bound=max(times, key=times.__getitem__),
        mfu=work.flops / (step * chip.peak_of("bfloat16")) if step else 0.0,
        assumptions=_assumptions(work, chip, shape, slices),
    )


def collective_seconds(
    collective: Collective, chip: Chip, shape: Sequence[int], slices: int = 1
) -> float:
    """Estimates how long one execution of a collective takes, if nothing else is sent.

    A group over several slices works within each slice first, so that each chip sends its part of the array only between
    slices.

    Args:
        collective: that is executed.
        chip: of the topology.
        shape: chips of a slice, by dimension.
        slices: how many slices there are.
    """
    kind, payload = collective.kind, collective.payload
    outer = slices if collective.across_slices else 1
    inner = max(1, collective.group_size // outer)
    if kind in ("collective-permute", "collective-broadcast"):
        if outer > 1:
            return payload / chip.network_bandwidth
        return payload / chip.link_bandwidth + chip.hop_seconds
    seconds = 0.0
    if inner > 1:
        sides = _sides(inner, shape)
        sent = ring_traffic(kind, payload, inner)
        if kind.endswith("all-to-all") and chip.links == "torus":
            sent = payload * _mean_hops(sides)  # each hop takes a link's time
        phases = 2 if kind == "all-reduce" else 1
        seconds += sent / chip.slice_bandwidth(sides)
        seconds += phases * chip.hops(sides) * chip.hop_seconds
    if outer > 1:
        part = payload if kind.endswith("all-to-all") else payload / inner
        seconds += ring_traffic(kind, part, outer) / chip.network_bandwidth
    return seconds


def _sides(size: int, shape: Sequence[int]) -> Sequence[int]:
    """The sides of a slice that a group lies along: all, if it is the slice, or one of its size, or the longest."""
    if size == math.prod(shape):
        return shape
    return (next((side for side in shape if side == size), max(shape)),)


def _mean_hops(sides: Sequence[int]) -> float:
    return sum(side / 4 for side in sides if side > 1)


def _assumptions(work: Work, chip: Chip, shape: Sequence[int], slices: int) -> tuple[str, ...]:
    peaks = ", ".join(
        f"{dtype} at {format_rate(chip.peak_of(dtype), 'FLOP')}" for dtype in work.products
    )
    found = [
        f"Compute: matrix products and convolutions run at the peak of {chip.title}: {peaks or 'none'}."
        + _precision(work, chip)
        + " Elementwise arithmetic takes no time of its own; its bytes are counted.",
        f"HBM: kernels move {format_bytes(work.memory_bytes)} a step at {format_rate(chip.memory_bandwidth, 'B')}. Each"
        " reads what it takes and writes its results once, without caches; what the compiler placed on the chip is free."
        " HBM and compute units work at the same time.",
        _links(chip, shape),
    ]
    if slices > 1:
        found.append(
            f"Between slices or machines: {format_rate(chip.network_bandwidth, 'B')} a chip, which sends only its part "
            "of an array there."
        )
    found.append(
        "Overlap: a collective runs beside computation only where the compiler placed computation between its start and "
        "its end, and then costs nothing unless it takes longer. All others wait."
    )
    found.append(
        "Left out: starting kernels, imbalance, input from the host, checkpoints, and that no program reaches all peaks. "
        "So the real step takes longer."
    )
    return tuple(found)


def _precision(work: Work, chip: Chip) -> str:
    if "float32" not in work.products:
        return ""
    how = "one pass of bfloat16" if chip.links == "torus" else "TF32"
    return f" float32 is multiplied as {how}, JAX's default precision."


def _links(chip: Chip, shape: Sequence[int]) -> str:
    rate = format_rate(chip.slice_bandwidth(shape), "B")
    one = format_rate(chip.link_bandwidth, "B")
    if chip.links == "switch":
        return f"Interconnect: each GPU sends {one} to the others of its machine, and rings use all of it."
    delay = format_seconds(chip.hop_seconds)
    if math.prod(shape) == 1:
        return "Interconnect: none, with one chip in a slice."
    return (
        f"Interconnect: a link carries {one} in one direction. A collective over the whole slice uses the links along all "
        f"sides at once: {rate} a chip on {'x'.join(map(str, shape))}; a side that does not close to a ring counts as one "
        f"link. A hop takes {delay}, {chip.hops(shape)} hops from one end to the other, twice for an all-reduce."
    )
