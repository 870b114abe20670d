"""Parameters that functions of the front end accept and never read: they change nothing."""

import ast
import functools
import inspect
import textwrap
from collections.abc import Callable
from typing import Any


@functools.cache
def unread_parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    """Lists the parameters that a function never reads, besides `name`, which nearly none reads.

    Args:
        function: one of Python's; of others nothing is known. What it wraps is looked at.

    Examples:
        >>> from frontends import tf
        >>> unread_parameters(tf.data.Dataset.map)
        ('deterministic',)
    """
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function)))).body[0]
    except (OSError, TypeError, SyntaxError):
        return ()
    if not isinstance(tree, ast.FunctionDef) or getattr(function, "__isabstractmethod__", False):
        return ()
    arguments = tree.args
    names = [
        *(each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)),
        *(each.arg for each in (arguments.vararg, arguments.kwarg) if each is not None),
    ]
    read = {node.id for part in tree.body for node in ast.walk(part) if isinstance(node, ast.Name)}
    return tuple(each for each in names if each not in read | {"self", "cls", "name"})
