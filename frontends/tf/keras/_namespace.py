"""The modules of `tf.keras`: as many as Keras has, each with Keras's names and the added ones.

`import frontends.tf.keras.layers` and `from frontends.tf.keras.layers import Dense` work because the
modules are entered in `sys.modules`. A name is looked up in Keras when it is used.
"""

import importlib.machinery
import sys
import types
from collections.abc import Callable, Mapping
from typing import Any

# Keras's own version of its names for TensorFlow's `tf.keras`. It is no public name of Keras.
from keras._tf_keras import keras as api

from frontends.tf._names import explained_error, unknown_keras_name

Attributes = tuple[Callable[[str], Any], Callable[[], list[str]]]


def build(
    package: str,
    added: Mapping[str, Mapping[str, Any]],
    modules: Mapping[str, types.ModuleType],
    same_as: Mapping[str, str],
    hints: Mapping[str, str],
) -> Attributes:
    """Makes all modules below `tf.keras`.

    Args:
        package: Python's name of `tf.keras`, which is being imported.
        added: names that Keras 3 does not have, by module (`"layers"`; `""` is `tf.keras` itself).
        modules: modules of Keras to have beside those of its names for TensorFlow.
        same_as: modules that Keras 3 does not have (`"optimizers.experimental"`), and the modules whose
            names they have. Parents come first.
        hints: what to do instead of a name that does not exist, by its full name.

    Returns:
        The functions `__getattr__` and `__dir__` of `tf.keras` itself.
    """
    sources = dict(_modules("", api))
    sources |= {path: module for path, module in modules.items() if path not in sources}
    sources |= {path: sources[source] for path, source in same_as.items()}
    names: dict[str, dict[str, Any]] = {path: dict(added.get(path, {})) for path in sources}
    for path, source in sources.items():
        if path:
            parent, _, last = path.rpartition(".")
            module = types.ModuleType(f"{package}.{path}", source.__doc__)
            names[parent][last] = sys.modules[module.__name__] = module
    for path, source in sources.items():
        found = _attributes(f"tf.keras.{path}".rstrip("."), source, names[path], hints)
        if not path:
            root = found
            continue
        module = sys.modules[f"{package}.{path}"]
        module.__spec__ = importlib.machinery.ModuleSpec(module.__name__, None, is_package=True)
        vars(module).update(__getattr__=found[0], __dir__=found[1], __all__=found[1](), __path__=[])
    return root


def _attributes(
    module: str, source: types.ModuleType, added: Mapping[str, Any], hints: Mapping[str, str]
) -> Attributes:
    def list_names() -> list[str]:
        public = (name for name in dir(source) if not name.startswith("_"))
        return sorted({*added, *(name for name in public if f"{module}.{name}" not in hints)})

    def get(name: str) -> Any:
        if name in added:
            return added[name]
        full = f"{module}.{name}"
        # First: Keras keeps some names that work on TensorFlow only.
        if full not in hints and hasattr(source, name):
            return getattr(source, name)
        raise explained_error(name, unknown_keras_name(module, name, list_names(), hints))

    return get, list_names


def _modules(path: str, module: types.ModuleType) -> list[tuple[str, types.ModuleType]]:
    """Lists a module of Keras's public names and those below it, parents first."""
    found = [(path, module)]
    for name, value in vars(module).items():
        if isinstance(value, types.ModuleType) and not name.startswith("_"):
            found += _modules(f"{path}.{name}".lstrip("."), value)
    return found
