"""What functions of `tf` do with values that are no arrays: texts, ragged and sparse tensors, operators, what masks take in programs.

Of texts, programs have fingerprints.

A function of arrays fails on them. Only then are its arguments looked at, so that calls with arrays cost nothing.
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import jax

from frontends.tf._typing import Nested

# What tells the values of a kind, and calls a function on them; the function, by name, and its arguments.
_Kind = tuple[Callable[[Any], bool], Callable[[str, Callable[..., Any], dict[str, Any]], Any]]

# Arguments whose texts are no data.
_NO_DATA = frozenset({"name", "dtype", "out_type"})


def called_on_host(
    name: str, function: Callable[..., Any], args: tuple[Nested, ...], kwargs: Mapping[str, Nested]
) -> Any:
    """Calls a function on values that are on the host, or are fingerprints.

    Args:
        name: TensorFlow's name of the function, such as `"tf.reduce_sum"`.
        function: the one that failed; it works on arrays.
        args: its arguments.
        kwargs: those that are named.

    Returns:
        The result; NotImplemented if there are no such values, or the function has no meaning for them.
    """
    try:
        arguments = inspect.signature(function).bind(*args, **kwargs).arguments
    except TypeError:
        return NotImplemented
    data = [value for key, value in arguments.items() if key not in _NO_DATA]
    found = next((kind for kind in _kinds() if _has(kind[0], data)), None)
    if found is None:
        return NotImplemented
    return found[1](name.rpartition(".")[2], function, dict(arguments))


def _has(is_kind: Callable[[Any], bool], structure: Nested) -> bool:
    return any(is_kind(leaf) for leaf in jax.tree.leaves(structure, is_leaf=is_kind))


def _kinds() -> tuple[_Kind, ...]:
    from frontends.tf.feature_column import Texts
    from frontends.tf.feature_column.moved_texts import on_fingerprints
    from frontends.tf.linear_operators import LinearOperator
    from frontends.tf.linear_operators.dispatch import on_operators
    from frontends.tf.ops.text_arrays import holds_text, on_texts
    from frontends.tf.ragged.dispatch import on_ragged
    from frontends.tf.ragged.ragged_tensor import RaggedTensor
    from frontends.tf.selected import Selected, SelectedShape, on_selected
    from frontends.tf.sparse.dispatch import on_sparse
    from frontends.tf.sparse.sparse_tensor import SparseTensor

    return (
        (lambda leaf: isinstance(leaf, Selected | SelectedShape), on_selected),
        (lambda leaf: isinstance(leaf, RaggedTensor), on_ragged),
        (lambda leaf: isinstance(leaf, SparseTensor), on_sparse),
        (lambda leaf: isinstance(leaf, LinearOperator), on_operators),
        (lambda leaf: isinstance(leaf, Texts), on_fingerprints),
        (holds_text, lambda name, _, arguments: on_texts(name, arguments)),
    )
