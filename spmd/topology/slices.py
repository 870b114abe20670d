"""TPU slices: how many devices the names of Cloud TPU stand for, and where these lie.

A *slice* is a block of chips whose links are fast; its *coordinates* are those of the chip (x, y, z) and the number of
the core on the chip. JAX shows one device for each core on v2 and v3, and one for each chip on all later ones, whose two
cores, where they have two, work as one.
"""

import dataclasses
import math
import re
from typing import Any

from spmd.errors import MeshError

Coordinates = tuple[int, int, int, int]

_NAME = re.compile(r"(?P<generation>v[0-9]+[a-z]*)-(?P<number>[0-9]+)")
_SAME = {"v5litepod": "v5e", "v5lite": "v5e", "v6": "v6e"}


@dataclasses.dataclass(frozen=True)
class Generation:
    """What of a TPU generation its names and coordinates depend on.

    Attributes:
        counts_cores: whether the number in a slice's name counts TensorCores, two of a chip, or chips.
        devices_per_chip: how many devices JAX shows for a chip.
        axes: of the network that the chips are in.
    """

    counts_cores: bool
    devices_per_chip: int
    axes: int


GENERATIONS = {
    "v2": Generation(True, 2, 2),
    "v3": Generation(True, 2, 2),
    "v4": Generation(True, 1, 3),
    "v5p": Generation(True, 1, 3),
    "v5e": Generation(False, 1, 2),
    "v6e": Generation(False, 1, 2),
}


@dataclasses.dataclass(frozen=True)
class Slice:
    """A TPU slice.

    Attributes:
        generation: such as `"v5e"`.
        devices: how many devices JAX shows.

    Examples:
        >>> Slice("v3", 8).shape, Slice("v5e", 8).shape, Slice("v4", 4).shape
        ((2, 2, 1, 2), (2, 4, 1, 1), (2, 2, 1, 1))
        >>> Slice("v5e", 8).name
        'v5e-8'
    """

    generation: str
    devices: int

    @property
    def shape(self) -> Coordinates:
        """The chips along x, y and z, and the devices of a chip. As near to a square or a cube as the number allows."""
        of = GENERATIONS[self.generation]
        on_chip = of.devices_per_chip if self.devices % of.devices_per_chip == 0 else 1
        return (*_block(self.devices // on_chip, of.axes), on_chip)

    @property
    def name(self) -> str:
        """The name of Cloud TPU."""
        of = GENERATIONS[self.generation]
        return f"{self.generation}-{self.devices * (2 // of.devices_per_chip if of.counts_cores else 1)}"

    def coordinates(self, index: int) -> Coordinates:
        """Returns where a device lies: x changes fastest, but for the cores of a chip.

        Args:
            index: of the device, from 0.
        """
        x, y, _, on_chip = self.shape
        chip, core = divmod(index, on_chip)
        return chip % x, chip // x % y, chip // (x * y), core


def parse_slice(text: str) -> Slice:
    """Reads the name of a slice as Cloud TPU writes it.

    The number counts TensorCores for v2, v3, v4 and v5p, chips for v5e and v6e. So `"v3-8"` is eight devices (4 chips of two
    cores, each a device), `"v4-8"` four (4 chips, each a device) and `"v5e-8"` eight (8 chips).

    Args:
        text: such as `"v5e-8"` or `"v5litepod-8"`; a number alone counts devices, of a v3.

    Returns:
        The slice.

    Raises:
        MeshError: there is no such slice.

    Examples:
        >>> [parse_slice(name).devices for name in ("v3-8", "v4-8", "v5litepod-8", "8")]
        [8, 4, 8, 8]
    """
    lower = text.strip().lower()
    if lower.isdecimal() and int(lower):
        return Slice("v3", int(lower))
    parts = _NAME.fullmatch(lower)
    generation = _SAME.get(parts["generation"], parts["generation"]) if parts else ""
    of = GENERATIONS.get(generation)
    if parts is None or of is None:
        raise MeshError(
            f"Cannot read the TPU slice {text!r}. Expected a number of devices such as '8', or a name of Cloud TPU such as "
            f"'v5e-8', of one of {', '.join(GENERATIONS)}."
        )
    number = int(parts["number"])
    per_device = 2 // of.devices_per_chip if of.counts_cores else 1
    if not number or (of.counts_cores and number % 2):
        raise MeshError(
            f"There is no TPU slice {text!r}: the number of a {generation} counts "
            f"{'TensorCores, two of a chip' if of.counts_cores else 'chips'}. Write '{generation}-8'."
        )
    return Slice(generation, number // per_device)


def physical_coordinates(device: Any) -> Coordinates | None:
    """Returns where a TPU device lies; None for other devices, which do not say.

    Args:
        device: of JAX, or of a compiler's topology.

    Returns:
        x, y and z of the chip, and the core on it.

    Examples:
        >>> import jax
        >>> physical_coordinates(jax.devices("cpu")[0]) is None
        True
    """
    coords = getattr(device, "coords", None)
    if coords is None:
        return None
    x, y, z = (*map(int, coords), 0, 0)[:3]
    return x, y, z, int(getattr(device, "core_on_chip", 0) or 0)


def _block(count: int, axes: int) -> tuple[int, int, int]:
    """Divides chips into a block, the shorter sides first; a plane has a z of 1."""
    if axes == 2:
        x = max(side for side in range(1, math.isqrt(count) + 1) if count % side == 0)
        return x, count // x, 1
    sides = [1, 1, 1]
    for factor in reversed(_prime_factors(count)):
        sides[sides.index(min(sides))] *= factor
    x, y, z = sorted(sides)
    return (x, y, z) if x > 1 else (y, z, 1)


def _prime_factors(number: int) -> list[int]:
    factors, divisor = list[int](), 2
    while number > 1:
        while number % divisor == 0:
            factors.append(divisor)
            number //= divisor
        divisor += 1
    return factors
