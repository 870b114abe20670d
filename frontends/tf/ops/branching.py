"""`tf.cond`, `tf.case` and `tf.switch_case`: branches that a value decides.

Eagerly, and where a program knows the value while it is traced, one function is called. Otherwise all are traced,
and the running program takes one; variables may be assigned in them.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax.numpy as jnp
from jax.core import Tracer

from frontends.tf._typing import TensorLike
from frontends.tf.ops import carried
from frontends.tf.ops.convert import computed_now, convert_to_tensor
from frontends.tf.ops.host_calls import tell_host

_Branch = Callable[[], Any]


def cond(
    pred: TensorLike,
    true_fn: _Branch | None = None,
    false_fn: _Branch | None = None,
    name: str | None = None,
) -> Any:
    """Calls one of two functions; in a program both are traced.

    Args:
        pred: a truth value; Python's are fine in a program, too, where TensorFlow raises.
        true_fn: takes nothing.
        false_fn: likewise. In a program its results have the shapes and dtypes of the other's.

    Raises:
        TypeError: a function is missing, or in a program results differ in structure, shape or dtype.

    Source: `tf.cond`.
    """
    if true_fn is None or false_fn is None:
        raise TypeError("tf.cond: give both true_fn and false_fn.")
    _check_callable("tf.cond", true_fn=true_fn, false_fn=false_fn)
    chosen = _known_if_possible(pred)
    if isinstance(chosen, Tracer):
        return carried.cond(chosen, true_fn, false_fn)
    return true_fn() if bool(chosen) else false_fn()


def case(
    pred_fn_pairs: Sequence[tuple[TensorLike, _Branch]],
    default: _Branch | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str | None = "case",
) -> Any:
    """Calls the function of the first condition that holds.

    Args:
        pred_fn_pairs: truth values and functions that take nothing.
        default: called if none holds; without it that is an error.
        exclusive: whether it is an error if several hold.

    Raises:
        TypeError: pairs are no pairs of a truth value and a function.
        ValueError: no condition holds and there is no default, or several hold and `exclusive` is set. A program
            runs to its end, and then the call of the `tf.function` or of `strategy.run` raises.

    Source: `tf.case`.
    """
    if not isinstance(pred_fn_pairs, list | tuple):
        raise TypeError(
            f"tf.case: 'pred_fn_pairs' must be a list or tuple, got {type(pred_fn_pairs).__name__}. Write "
            "[(condition, function), ...]."
        )
    for pair in pred_fn_pairs:
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise TypeError(
                f"tf.case: each entry of 'pred_fn_pairs' must be a pair (condition, function), got {pair!r}."
            )
        _check_callable("tf.case", function=pair[1])
    if default is not None:
        _check_callable("tf.case", default=default)
    conditions = [_known_if_possible(pred) for pred, _ in pred_fn_pairs]
    functions = [function for _, function in pred_fn_pairs]
    if any(isinstance(condition, Tracer) for condition in conditions):
        branches = [*functions, default or functions[-1]]
        truths = jnp.stack([jnp.asarray(c).astype(bool).reshape(()) for c in conditions])
        first = jnp.where(truths.any(), truths.argmax(), len(functions))
        if exclusive or default is None:
            tell_host(lambda count: _check_count(count, exclusive, default), truths.sum())
        return carried.switch(first, branches)
    holding = [f for f, condition in zip(functions, conditions, strict=True) if bool(condition)]
    _check_count(len(holding), exclusive, default)
    return holding[0]() if holding else default and default()


def _check_count(holding: int, exclusive: bool, default: _Branch | None) -> None:
    """Checks how many conditions of `tf.case` hold."""
    if exclusive and holding > 1:
        raise ValueError(
            "More than one condition evaluated as True but exclusive=True: tf.case. Make the conditions exclude "
            "each other, or leave out exclusive=True."
        )
    if not holding and default is None:
        raise ValueError(
            "None of the conditions evaluated as True: tf.case. Give it default=lambda: ..."
        )


def switch_case(
    branch_index: TensorLike,
    branch_fns: Sequence[_Branch] | Sequence[tuple[int, _Branch]] | Mapping[int, _Branch],
    default: _Branch | None = None,
    name: str | None = "switch_case",
) -> Any:
    """Calls the function that an index selects.

    Args:
        branch_index: integer scalar.
        branch_fns: functions that take nothing: a list, pairs with their indices, or a mapping from them.
        default: called for an index without a function; None takes the function of the greatest index.

    Raises:
        TypeError: `branch_fns` are no functions.
        ValueError: the indices are not 0 to n - 1, or there is no function.

    Source: `tf.switch_case`.
    """
    functions = _numbered(branch_fns)
    if default is not None:
        _check_callable("tf.switch_case", default=default)
    branches = [*functions, default or functions[-1]]
    index = _known_if_possible(branch_index)
    if isinstance(index, Tracer):
        index = index.reshape(())
        inside = (index >= 0) & (index < len(functions))
        return carried.switch(jnp.where(inside, index, len(functions)), branches)
    chosen = int(index)
    return branches[chosen if 0 <= chosen < len(functions) else -1]()


def _known_if_possible(value: TensorLike) -> Any:
    """Makes an array; of Python's and NumPy's values one that a program knows while it is traced."""
    with computed_now(value):
        return convert_to_tensor(value)


def _numbered(branch_fns: Any) -> list[_Branch]:
    if not isinstance(branch_fns, list | tuple | Mapping):
        raise TypeError(
            f"tf.switch_case: 'branch_fns' must be a list, tuple or dict, got {type(branch_fns).__name__}."
        )
    if not branch_fns:
        raise ValueError("tf.switch_case: 'branch_fns' is empty. Give at least one function.")
    if not isinstance(branch_fns, Mapping) and all(map(callable, branch_fns)):
        return list(branch_fns)
    pairs: list[Any] = list(branch_fns.items() if isinstance(branch_fns, Mapping) else branch_fns)
    for pair in pairs:
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise TypeError(
                f"tf.switch_case: each entry of 'branch_fns' must be a function or a pair (index, function), got "
                f"{pair!r}."
            )
        _check_callable("tf.switch_case", function=pair[1])
    numbered = dict(pairs)
    if sorted(numbered) != list(range(len(pairs))):
        raise ValueError(
            f"tf.switch_case: branch indices must form contiguous range of [0 to {len(pairs)}), got "
            f"{sorted(numbered)}. Number the functions from 0."
        )
    return [numbered[index] for index in range(len(pairs))]


def _check_callable(caller: str, **functions: object) -> None:
    for name, function in functions.items():
        if not callable(function):
            raise TypeError(
                f"{caller}: '{name}' must be callable, got {function!r}. Write {name}=lambda: ..."
            )
