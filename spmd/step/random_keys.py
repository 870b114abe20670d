"""Random keys that a replica hands back: are they the ones that it was given?

A replica gets its own key, folded from the key that all share. Code that leaves the key alone leaves the
shared one as it is. But NNX transformations hand every variable back as another traced value, and only the
finished program tells that it is the same key. So the trace records the question as an operation, and
`resolve_keys` answers it.
"""

import jax
from jax.extend.core import Jaxpr, JaxprEqn, Primitive

from spmd.lowering import Atom, Substitution
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
    return Substitution(_chosen).jaxpr(jaxpr)


def _chosen(jaxpr: Jaxpr, equation: JaxprEqn) -> list[Atom] | None:
    if equation.primitive is not _returned_key:
        return None
    shared, own, returned = equation.invars
    return [shared if source_of(jaxpr, returned) is source_of(jaxpr, own) else returned]
