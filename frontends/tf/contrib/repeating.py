"""`tf.contrib.layers.repeat` and `stack`: one layer several times."""

from collections.abc import Callable, Sequence
from typing import Any

from frontends.tf._typing import TensorLike
from frontends.tf.compat.v1.variable_scopes import variable_scope
from frontends.tf.ops.convert import convert_to_tensor


def repeat(
    inputs: TensorLike, repetitions: int, layer: Callable[..., Any], *args: Any, **kwargs: Any
) -> Any:
    """Calls a layer several times, each time with what it gave.

    Args:
        inputs: of the first call.
        repetitions: how many calls.
        layer: takes inputs, `args`, `kwargs` and `scope`: `NAME_1`, `NAME_2`, ..., in the scope NAME.
        args: of each call.
        kwargs: likewise; `scope` among them is NAME, which is the function's if it is left out.

    Source: `tf.contrib.layers.repeat`.
    """
    return _stacked(inputs, "Repeat", layer, [args] * repetitions, kwargs)


def stack(
    inputs: TensorLike, layer: Callable[..., Any], stack_args: Sequence[Any], **kwargs: Any
) -> Any:
    """Calls a layer with one set of arguments after the other, each time with what it gave.

    Args:
        inputs: of the first call.
        layer: as of `repeat`.
        stack_args: what each call gets besides its inputs: an argument, or several in a list or tuple.
        kwargs: of each call; see `repeat` for `scope`.

    Raises:
        ValueError: `stack_args` is no list and no tuple.

    Source: `tf.contrib.layers.stack`.
    """
    if not isinstance(stack_args, list | tuple):
        raise ValueError(
            f"stack_args need to be a list or tuple, got {type(stack_args).__name__}. Write [{stack_args!r}]."
        )
    several = [one if isinstance(one, list | tuple) else (one,) for one in stack_args]
    return _stacked(inputs, "Stack", layer, several, kwargs)


def _stacked(
    inputs: TensorLike,
    default: str,
    layer: Callable[..., Any],
    several: Sequence[Sequence[Any]],
    kwargs: dict[str, Any],
) -> Any:
    scope = kwargs.pop("scope", None)
    named = getattr(layer, "func", layer)  # of a functools.partial
    outputs: Any = convert_to_tensor(inputs)
    with variable_scope(scope, default, [outputs]):
        name = scope or getattr(named, "__name__", default.lower())
        for number, args in enumerate(several, 1):
            outputs = layer(outputs, *args, **kwargs, scope=f"{name}_{number}")
    return outputs
