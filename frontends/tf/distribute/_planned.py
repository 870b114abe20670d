"""Names of `tf.distribute` that are planned: looking one up says so, instead of finding a stub."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from frontends.tf._names import attributes

# Where each name will come from. docs/compat.md lists them as "not yet".
PLANNED = {
    "tf.distribute.ParameterServerStrategy": "clusters",
    "tf.distribute.Server": "clusters",
    "tf.distribute.TPUStrategy": "clusters",
    "tf.distribute.coordinator": "clusters",
    "tf.distribute.experimental.ParameterServerStrategy": "clusters",
    "tf.distribute.experimental.TPUStrategy": "clusters",
    "tf.distribute.experimental.coordinator": "clusters",
    "tf.distribute.experimental.rpc": "clusters",
}


def names(
    module: str, present: Iterable[str], lazy: Mapping[str, str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Makes the functions `__getattr__` and `__dir__` of a module with planned names.

    Args:
        module: TensorFlow's name of the module.
        present: the names that it has.
        lazy: names of submodules, and the Python modules to import when they are first looked up.

    Returns:
        `__getattr__`, which raises AttributeError, and `__dir__`.
    """
    unknown, listed = attributes(module, {}, lazy, present)

    def getattr_(name: str) -> Any:
        full = f"{module}.{name}"
        if full in PLANNED:
            raise AttributeError(
                f"{full} is planned, with support for {PLANNED[full]}, and does not exist yet. On one "
                "machine use tf.distribute.MirroredStrategy(), which takes GPUs and TPUs."
            )
        return unknown(name)

    return getattr_, listed
