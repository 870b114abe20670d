"""What every replica has, where replicas may have different numbers of rows.

In a program that all replicas share, their blocks have one shape. Where each runs a program of its own
(`spmd.step.unequal`), a program is traced alone, and does not know what shapes the others have. So it is traced
again with what the traces of the others said: the first time, each takes the others to be as it is.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
from jax.core import ShapedArray
from jax.extend.core import Primitive

Shape: TypeAlias = tuple[int, ...]


@dataclasses.dataclass
class BlockShapes:
    """The shapes of what replicas exchange, in the order in which their program asks.

    Attributes:
        known: for each exchange, the shape that every replica has, from earlier traces.
        asked: for each exchange, the shape that this replica has.
    """

    known: Sequence[tuple[Shape, ...]] = ()
    asked: list[Shape] = dataclasses.field(default_factory=list[Shape])

    def of_all(self, shape: Shape, replicas: int) -> tuple[Shape, ...]:
        """Returns the shapes that all replicas have at the next exchange, and notes this one's."""
        index = len(self.asked)
        self.asked.append(shape)
        return self.known[index] if index < len(self.known) else (shape,) * replicas


_every_block = Primitive("every_block")
_every_block.multiple_results = True
_sum_of_blocks = Primitive("sum_of_blocks")


@_every_block.def_abstract_eval
def _(block: Any, *, shapes: tuple[Shape, ...], axis_name: object) -> list[ShapedArray]:
    del axis_name
    return [ShapedArray(shape, block.dtype) for shape in shapes]


@_sum_of_blocks.def_abstract_eval
def _(*parts: Any, shape: Shape, axis_name: object) -> ShapedArray:
    del axis_name
    return ShapedArray(shape, parts[0].dtype)


def blocks_of_all(
    block: jax.Array, shapes: BlockShapes | None, axis: Any, replicas: int
) -> list[jax.Array]:
    """Lists what every replica has, on every replica.

    Args:
        block: what this one has.
        shapes: of replicas that run programs of their own; None if all run the same.
        axis: that collectives go over.
        replicas: how many there are.
    """
    if shapes is None:
        return list(jax.lax.all_gather(block, axis))
    every = shapes.of_all(block.shape, replicas)

    @jax.custom_vjp
    def exchange(block: jax.Array) -> tuple[jax.Array, ...]:
        return tuple(_every_block.bind(block, shapes=every, axis_name=axis))

    def forward(block: jax.Array) -> tuple[tuple[jax.Array, ...], None]:
        return exchange(block), None

    def backward(_: None, parts: tuple[jax.Array, ...]) -> tuple[jax.Array]:
        # What all replicas make of a block counts.
        return (_sum_of_blocks.bind(*parts, shape=block.shape, axis_name=axis),)

    exchange.defvjp(forward, backward)
    return list(exchange(jnp.asarray(block)))
