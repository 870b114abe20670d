"""Imports a front end when its name is first looked up."""

import contextlib
import importlib
import sys
from typing import Any

from frontends._garbage import importing

_FRONT_ENDS = ("tf",)


def front_end(name: str) -> Any:
    """Imports a front end; the function `__getattr__` of the package.

    The garbage collector is held back meanwhile; `import frontends.tf` does not go through this function.

    Args:
        name: of the front end.

    Returns:
        The module.

    Raises:
        AttributeError: there is no such front end.

    Examples:
        >>> front_end("tf").__name__
        'frontends.tf'
        >>> front_end("torch")
        Traceback (most recent call last):
        AttributeError: frontends has no attribute 'torch'. There is: tf
    """
    if name not in _FRONT_ENDS:
        raise AttributeError(
            f"frontends has no attribute {name!r}. There is: {', '.join(_FRONT_ENDS)}"
        )
    module = f"frontends.{name}"
    with contextlib.nullcontext() if module in sys.modules else importing():
        return importlib.import_module(module)
