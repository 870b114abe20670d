"""Which libraries' objects hold state: the adapters, each registered once its library is imported."""

import importlib
import sys
import threading
from collections.abc import Sequence

from spmd.state.adapter import Adapter
from spmd.typing import Stateful

_ADAPTERS: list[Adapter] = []

# Libraries whose adapters come with the engine: the name that the library defines last, and the module whose
# register() adds the adapter. That module imports the library, so it is asked for only when the user has
# imported that; and by its name, since this room lies below it.
_INTEGRATIONS = {
    "flax.nnx": ("__name__", "spmd.integrations.nnx"),
    "keras": ("Variable", "spmd.integrations.keras.registration"),
}


# Held while an adapter is registered, so that no thread sees a library without its adapter.
_LOCK = threading.RLock()
_LOADING: set[str] = set()


def register_adapter(adapter: Adapter) -> None:
    """Makes the engine find and lift the state of one more library.

    Another adapter of the same class changes nothing. Threads may call it at the same time.

    Args:
        adapter: asked about every object that a step can reach, after those registered before.
    """
    with _LOCK:
        if all(type(adapter) is not type(other) for other in _ADAPTERS):
            _ADAPTERS.append(adapter)


def adapters() -> Sequence[Adapter]:
    """Returns the adapters of all libraries that the process has imported."""
    for library, (last_name, _) in list(_INTEGRATIONS.items()):
        if hasattr(sys.modules.get(library), last_name):
            _register(library)
    return _ADAPTERS


def _register(library: str) -> None:
    with _LOCK:
        # Gone if another thread was first; loading if the integration's own import asks for adapters.
        if library not in _INTEGRATIONS or library in _LOADING:
            return
        _LOADING.add(library)
        try:
            importlib.import_module(_INTEGRATIONS[library][1]).register()
            # Not before: an import that fails must fail the next time as well.
            del _INTEGRATIONS[library]
        finally:
            _LOADING.discard(library)


def adapter_of(thing: Stateful) -> Adapter | None:
    """Finds the adapter of the library that an object belongs to, if any."""
    return next((adapter for adapter in adapters() if adapter.owns(thing)), None)
