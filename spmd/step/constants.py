"""Texts in what a step returns: they are part of the program, and come out as they are.

A program returns arrays. A text that a step returns was known when it was traced, so it belongs to the structure of
the result: in a pytree, a node without leaves, which unflattening replaces by the text.
"""

from typing import Any

import jax

from spmd.replica import is_per_replica
from spmd.typing import PyTree


class _Constant:
    __slots__ = ("value",)

    def __init__(self, value: str | bytes) -> None:
        self.value = value


def _flatten(constant: _Constant) -> tuple[tuple[()], str | bytes]:
    return (), constant.value


def _unflatten(value: str | bytes, _: object) -> Any:
    return value


jax.tree_util.register_pytree_node(_Constant, _flatten, _unflatten)


def with_constants(result: PyTree) -> PyTree:
    """Makes the texts in a step's result a part of its structure.

    Args:
        result: what a step returned.

    Returns:
        The same, to flatten: unflattening gives the texts back.

    Examples:
        >>> leaves, structure = jax.tree.flatten(with_constants({"loss": 1.5, "name": "a"}))
        >>> leaves, structure.unflatten(leaves)
        ([1.5], {'loss': 1.5, 'name': 'a'})
    """

    def one(leaf: Any) -> Any:
        return _Constant(leaf) if isinstance(leaf, (str, bytes)) else leaf

    return jax.tree.map(one, result, is_leaf=is_per_replica)
