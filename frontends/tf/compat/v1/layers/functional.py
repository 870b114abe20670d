"""Layers as functions: `tf.layers.dense(x, 10)` makes a layer and calls it."""

import inspect
from collections.abc import Callable
from typing import Any

from frontends.tf.compat.v1.layers.base import Layer


def functional(
    layer: type[Layer], module: str, name: str, *, reuse: bool = True
) -> Callable[..., Any]:
    """Makes the function of a layer, with the parameters of its class.

    Args:
        layer: the class.
        module: of the function.
        name: of the function.
        reuse: whether it takes `reuse=`, as functions of layers with variables do.
    """
    own = [
        one
        for one in inspect.signature(layer).parameters.values()
        if one.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    ]
    either = inspect.Parameter.POSITIONAL_OR_KEYWORD
    last = [inspect.Parameter("reuse", either, default=None)] if reuse else []
    signature = inspect.Signature([inspect.Parameter("inputs", either), *own, *last])

    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise TypeError(f"tf.layers.{name}: {error}") from None
        inputs, again = given.pop("inputs"), given.pop("reuse", None)
        return layer(**given, _scope=given.get("name"), _reuse=again)(inputs)

    call.__name__ = call.__qualname__ = name
    call.__module__ = module
    call.__doc__ = f"""Makes a layer and calls it; see `{layer.__name__}` for the parameters.

    Args:
        inputs: what the layer is called with.
        name: of the variables' scope, as it is; None makes a unique one.
        {"reuse: True if the variables are to exist, `tf.AUTO_REUSE` if they may." if reuse else ""}

    Source: `tf.compat.v1.layers.{name}`.
    """
    vars(call)["__signature__"] = signature
    return call
