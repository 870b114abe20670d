"""Lists which names only TensorFlow 1 has, for `jaxtribute check`: `frontends/tf/check/names_of_1.json`.

    .venv-estimator/bin/python -m tests.golden.names_of_1    # writes it, as `make golden-estimators` does

TensorFlow 2.15 has both versions, and estimators in both.
"""

import inspect
import json
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.golden.record import import_tensorflow

FILE = Path(__file__).resolve().parents[2] / "frontends" / "tf" / "check" / "names_of_1.json"

# Other versions of all, and Keras, of which both versions of TensorFlow have one here.
_LEFT_OUT = ("tf.compat", "tf.keras")


def write(tf: Any) -> None:
    """Writes the file.

    Args:
        tf: TensorFlow 2.15.
    """
    found = sorted(_only_in_1("tf", tf.compat.v1, tf))
    FILE.write_text(json.dumps(found, indent=0) + "\n")


def _only_in_1(path: str, old: Any, new: Any) -> Iterator[str]:
    """Yields what a module or class of TensorFlow 1 has, and its successor has not; of a module that is gone, only its own name."""
    for name in dir(old):
        full = f"{path}.{name}"
        if name.startswith("_") or full in _LEFT_OUT:
            continue
        if not hasattr(new, name):
            yield full
            continue
        value = getattr(old, name)
        is_part = isinstance(value, types.ModuleType)
        if is_part or (inspect.isclass(value) and not inspect.isclass(old)):
            yield from _only_in_1(full, value, getattr(new, name))


if __name__ == "__main__":
    write(import_tensorflow())
