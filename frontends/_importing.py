"""Imports a front end when its name is first looked up."""

import gc
import importlib
from typing import Any

_FRONT_ENDS = ("tf",)


def front_end(name: str) -> Any:
    """Imports a front end; the function `__getattr__` of the package.

    Python does not look for garbage meanwhile: an import makes much that stays, JAX's most of all, and looking
    through all of it again and again takes a seventh of the time. (`import frontends.tf` does not come by here.)

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
    # As `spmd.step.garbage.held_back`, whose import would import JAX before this could begin.
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return importlib.import_module(f"frontends.{name}")
    finally:
        if was_enabled:
            gc.enable()
