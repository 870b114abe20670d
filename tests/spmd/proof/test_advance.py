"""By how much a turn advances what a loop carries."""

import jax
import jax.numpy as jnp
import numpy as np

from spmd.proof import advances

STEP = np.int32(4)


def test_counts_are_told_from_other_numbers() -> None:
    def turn(up, by_array, other_side, real, twice, swapped, kept, pair):
        return (
            up + 1,
            by_array - jnp.asarray(STEP) * 0 + STEP,
            STEP + other_side,
            real + 1.0,
            twice * 2,
            kept + 1,
            swapped,
            pair + 1,
        )

    numbers = [jnp.int32(0)] * 3 + [jnp.float32(0)] + [jnp.int32(0)] * 3 + [jnp.zeros(2, jnp.int32)]
    program = jax.make_jaxpr(turn)(*numbers)
    assert advances(program, 8) == [1, None, 4, None, None, None, None, None]


def test_what_is_only_converted_still_counts() -> None:
    program = jax.make_jaxpr(lambda i: (i.astype(jnp.int32).reshape(()) + 2).reshape((1,)))(
        jnp.zeros(1, jnp.int32)
    )
    assert advances(program, 1) == [2]
