"""Names of hardware to compile for: `v5e:16x16`, `2xv5e:16x16`, `h100:8`, `cpu:8`.

A *topology* is chips of one kind, and how they are connected. A *slice* is a group of chips with fast connections
between them: a TPU slice, a machine with its GPUs. Between slices there is a slower network.
"""

import dataclasses
import math
import re
from typing import Literal, TypeAlias

from spmd.errors import PlanError

Platform: TypeAlias = Literal["tpu", "gpu", "cpu"]

_TEXT = re.compile(r"(?:(?P<slices>\d+)[x*])?(?P<chip>[a-z]+\d*[a-z]*):(?P<shape>\d+(?:x\d+){0,2})")
# Google Cloud's slices of chips that are connected in two dimensions, by their number of chips.
_FLAT = {
    1: (1, 1),
    4: (2, 2),
    8: (2, 4),
    16: (4, 4),
    32: (4, 8),
    64: (8, 8),
    128: (8, 16),
    256: (16, 16),
}
# Chips that are connected in three dimensions, and the largest slice of each.
_CUBES = {"v4": 4096, "v5p": 8960}
_GPUS_OF_A_MACHINE = 8
_GPUS = ("h100", "h200", "a100")

_KNOWN = """\
    v5e, v6e: 1x1, 2x2, 2x4, 4x4, 4x8, 8x8, 8x16 or 16x16 chips, as in v5e:16x16, or their number: v5e:256
    v4, v5p:  three sides, each 1, 2 or a multiple of 4, as in v4:2x2x2 or v5p:4x4x8
    h100, h200, a100: a number of GPUs, up to 8 or a multiple of 8 (machines of 8), as in h100:8
    cpu: a number of devices, as in cpu:8
    several slices: 2xv5e:16x16"""


@dataclasses.dataclass(frozen=True)
class Topology:
    """Hardware to compile for.

    Attributes:
        text: as a person wrote it.
        chip: `"v4"`, `"v5e"`, `"v5p"`, `"v6e"`, `"h100"`, `"h200"`, `"a100"` or `"cpu"`.
        platform: what JAX calls the kind of device.
        shape: chips of a slice, along each dimension that they are connected in.
        slices: how many slices there are.
    """

    text: str
    chip: str
    platform: Platform
    shape: tuple[int, ...]
    slices: int = 1

    @property
    def devices(self) -> int:
        """How many chips there are; each is one device of JAX."""
        return self.slices * math.prod(self.shape)

    def __str__(self) -> str:
        return self.text


def parse_topology(text: str) -> Topology:
    """Reads the name of a topology.

    Args:
        text: for example `"v5e:16x16"`, `"v4:2x2x2"`, `"2xv5e:16x16"` (two slices), `"h100:8"` or `"cpu:8"`.

    Returns:
        What the name means.

    Raises:
        PlanError: there is no such topology; the message lists those that exist.

    Examples:
        >>> parse_topology("2xv5e:16x16").devices
        512
        >>> parse_topology("h100:16").slices
        2
        >>> parse_topology("v6e:64").shape
        (8, 8)
    """
    match = _TEXT.fullmatch(text.strip().lower())
    if match is None:
        raise _unknown(text, "it has not the form CHIP:SHAPE")
    chip, slices = match["chip"], int(match["slices"] or 1)
    shape = tuple(map(int, match["shape"].split("x")))
    if not slices or 0 in shape:
        raise _unknown(text, "it has no devices")
    if chip in _GPUS:
        return _gpus(text, chip, shape, slices)
    if chip == "cpu":
        if len(shape) > 1 or slices > 1:
            raise _unknown(text, "a processor has a number of devices")
        return Topology(text, chip, "cpu", shape)
    if chip in ("v5e", "v6e"):
        shape = _FLAT.get(shape[0], shape) if len(shape) == 1 else shape
        if shape not in _FLAT.values():
            raise _unknown(text, f"there is no such slice of {chip}")
        return Topology(text, chip, "tpu", shape, slices)
    if chip in _CUBES:
        if len(shape) != 3 or any(side > 2 and side % 4 for side in shape):
            raise _unknown(text, f"there is no such slice of {chip}")
        if math.prod(shape) > _CUBES[chip]:
            raise _unknown(text, f"the largest slice of {chip} has {_CUBES[chip]} chips")
        return Topology(text, chip, "tpu", shape, slices)
    raise _unknown(text, f"no chip is called {chip!r}")


def _gpus(text: str, chip: str, shape: tuple[int, ...], slices: int) -> Topology:
    count = shape[0]
    if len(shape) > 1:
        raise _unknown(text, "GPUs are counted")
    if count <= _GPUS_OF_A_MACHINE:
        return Topology(text, chip, "gpu", (count,), slices)
    if count % _GPUS_OF_A_MACHINE or slices > 1:
        raise _unknown(text, f"a machine has {_GPUS_OF_A_MACHINE} GPUs")
    return Topology(text, chip, "gpu", (_GPUS_OF_A_MACHINE,), count // _GPUS_OF_A_MACHINE)


def _unknown(text: str, reason: str) -> PlanError:
    return PlanError(f"Cannot plan for the topology {text!r}: {reason}. There are:\n{_KNOWN}")
