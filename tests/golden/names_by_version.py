"""Lists which names only one version of TensorFlow has, for `jaxtribute check`: `frontends/tf/check/names_of_1.json` and `names_of_2.json`.

    .venv-estimator/bin/python -m tests.golden.names_by_version    # writes them, as `make golden-estimators` does

TensorFlow 2.15 has both versions, and estimators in both.
"""

import inspect
import json
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.golden.record import import_tensorflow

FOLDER = Path(__file__).resolve().parents[2] / "frontends" / "tf" / "check"

# Other versions of all; Keras, of which both versions of TensorFlow have one here; and what TensorFlow 2.0 to 2.3 had as well.
_LEFT_OUT = ("tf.compat", "tf.keras", "tf.train.experimental")


def write(tf: Any) -> None:
    """Writes the files.

    Args:
        tf: TensorFlow 2.15.
    """
    old, new = tf.compat.v1, tf
    for version, names in ((1, _only_in(old, "tf", new)), (2, _only_in(new, "tf", old))):
        text = json.dumps(sorted(names), indent=0) + "\n"
        (FOLDER / f"names_of_{version}.json").write_text(text)


def _only_in(one: Any, path: str, other: Any) -> Iterator[str]:
    """Yields what a module or class has, and that of the other version has not; of a module that the other lacks, only its own name."""
    for name in dir(one):
        full = f"{path}.{name}"
        if name.startswith("_") or full in _LEFT_OUT:
            continue
        if not hasattr(other, name):
            yield full
            continue
        value = getattr(one, name)
        is_part = isinstance(value, types.ModuleType)
        if is_part or (inspect.isclass(value) and not inspect.isclass(one)):
            yield from _only_in(value, full, getattr(other, name))


if __name__ == "__main__":
    write(import_tensorflow())
