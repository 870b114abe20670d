"""Which libraries' objects hold state: the adapters, each registered once its library is imported."""

import importlib
import sys
from collections.abc import Sequence
from typing import Any

from spmd.state.adapter import Adapter

_ADAPTERS: list[Adapter] = []

# Libraries whose adapters come with the engine: the name that the library defines last, and the module whose
# register() adds the adapter. That module imports the library, so it is asked for only when the user has
# imported that; and by its name, since this room lies below it.
_INTEGRATIONS = {
    "flax.nnx": ("__name__", "spmd.integrations.nnx"),
    "keras": ("Variable", "spmd.integrations.keras.registration"),
}


def register_adapter(adapter: Adapter) -> None:
    """Makes the engine find and lift the state of one more library.

    Args:
        adapter: asked about every object that a step can reach, after those registered before.
    """
    _ADAPTERS.append(adapter)


def adapters() -> Sequence[Adapter]:
    """Returns the adapters of all libraries that the process has imported."""
    for library in list(_INTEGRATIONS):
        last_name, module = _INTEGRATIONS[library]
        if hasattr(sys.modules.get(library), last_name):
            importlib.import_module(module).register()
            # Not before: an import that fails must fail the next time as well.
            _INTEGRATIONS.pop(library, None)
    return _ADAPTERS


def adapter_of(thing: Any) -> Adapter | None:
    """Finds the adapter of the library that an object belongs to, if any."""
    return next((adapter for adapter in adapters() if adapter.owns(thing)), None)
