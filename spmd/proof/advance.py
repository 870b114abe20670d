"""By how much does a turn of a loop advance the numbers that it carries?"""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, JaxprEqn, Literal, Var

# They hand a whole number on as it is.
_COPIES = frozenset({"convert_element_type", "copy", "copy_p", "reshape", "squeeze"})


def advances(program: ClosedJaxpr, count: int) -> list[int | None]:
    """Finds the whole numbers that a program counts up.

    Args:
        program: the body of a loop: its first inputs are what it carries, and its first outputs what they become.
        count: how many of them are carried.

    Returns:
        For each, the constant that is added to it; None if there is none, or it is no whole number.
    """
    jaxpr = program.jaxpr
    made = {out: equation for equation in jaxpr.eqns for out in equation.outvars}
    known = dict(zip(jaxpr.constvars, program.consts, strict=True))

    def traced_back(atom: Any) -> Any:
        while isinstance(atom, Var) and atom in made and made[atom].primitive.name in _COPIES:
            source = made[atom].invars[0]
            if not _is_whole(source):
                break
            atom = source
        return atom

    def value(atom: Any) -> int | None:
        held = atom.val if isinstance(atom, Literal) else known.get(atom)
        return None if held is None or np.size(held) != 1 else int(np.asarray(held).reshape(()))

    def step(variable: Var, after: Any) -> int | None:
        after = traced_back(after)
        equation: JaxprEqn | None = made.get(after) if isinstance(after, Var) else None
        if not _is_whole(variable) or equation is None or equation.primitive.name != "add":
            return None
        one, other = map(traced_back, equation.invars)
        if one is variable:
            return value(other)
        return value(one) if other is variable else None

    return [step(*pair) for pair in zip(jaxpr.invars[:count], jaxpr.outvars[:count], strict=True)]


def _is_whole(atom: Any) -> bool:
    aval = atom.aval
    return aval.size == 1 and jnp.issubdtype(aval.dtype, jnp.integer)
