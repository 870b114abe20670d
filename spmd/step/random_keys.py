"""Random keys that a replica hands back: are they the ones that it was given?

A replica gets its own key, folded from the key that all share. Code that leaves the key alone leaves the
shared one as it is. But NNX transformations hand every variable back as another traced value, and only the
finished program tells that it is the same key. So the trace records the question as an operation, and
`resolve_keys` answers it.
"""

import jax
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal, Primitive, Var

from spmd.proof import source_of

_returned_key = Primitive("returned_key")
_returned_key.def_abstract_eval(lambda shared, own, returned: returned)


def returned_key(shared: jax.Array, own: jax.Array, returned: jax.Array) -> jax.Array:
    """Stands for the new value of a key until `resolve_keys` chooses it.

    Args:
        shared: the key of all replicas.
        own: the replica's key, folded from it.
        returned: what the replica left in the variable.

    Returns:
        `shared` if the replica left its key as it was, else `returned`.
    """
    return _returned_key.bind(shared, own, returned)


def resolve_keys(jaxpr: Jaxpr) -> Jaxpr:
    """Replaces each `returned_key` of a program by the value that it stands for.

    Args:
        jaxpr: a traced program.

    Returns:
        The program, with the same inputs and outputs.
    """
    chosen: dict[Var, Var | Literal] = {}

    def now(atoms: list[Var | Literal]) -> list[Var | Literal]:
        return [atom if isinstance(atom, Literal) else chosen.get(atom, atom) for atom in atoms]

    equations: list[object] = []
    for equation in jaxpr.eqns:
        operands = now(equation.invars)
        if equation.primitive is _returned_key:
            shared, own, returned = operands
            same = source_of(jaxpr, returned) is source_of(jaxpr, own)
            chosen[equation.outvars[0]] = shared if same else returned
        else:
            params = {key: _in_params(value) for key, value in equation.params.items()}
            equations.append(equation.replace(invars=operands, params=params))
    return jaxpr.replace(eqns=equations, outvars=now(jaxpr.outvars))


def _in_params(value: object) -> object:
    """Resolves keys in the programs among an operation's parameters: bodies of loops, branches."""
    if isinstance(value, Jaxpr):
        return resolve_keys(value)
    if isinstance(value, ClosedJaxpr):
        return value.replace(jaxpr=resolve_keys(value.jaxpr))
    if type(value) is tuple:
        return tuple(map(_in_params, value))
    return value
