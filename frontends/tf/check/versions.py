"""Which version of TensorFlow a script is for: one for TensorFlow 1 imports `tf.compat.v1`, whose functions take its arguments."""

import dataclasses
import json
from pathlib import Path

from frontends.tf.check.imports import Imported
from frontends.tf.check.uses import Import, Use, Uses

# Modules, functions, classes and their members; of a module, only its own name. tests/golden/names_of_1.py records them.
_ONLY_IN_1 = frozenset(
    ("tf.contrib", *json.loads(Path(__file__).with_name("names_of_1.json").read_text()))
)


def imports_of(script: Uses) -> tuple[Import, ...]:
    r"""Lists the import statements of a script, with what to import for its version.

    `tf.nn.dropout(x, 0.9)`, `tf.nn.embedding_lookup` of several tables, and much else compute different things in the two
    versions. A script that uses a name which only TensorFlow 1 has, without asking before, is for that.

    Args:
        script: what it uses.

    Examples:
        >>> from frontends.tf.check.uses import uses_in
        >>> script = uses_in("import tensorflow as tf\ny = tf.layers.dense(x, 1)")
        >>> imports_of(script)[0].names[0].written
        'v1 as tf'
    """
    if not any(map(_is_of_1, script.uses)):
        return script.imports
    return tuple(
        dataclasses.replace(each, names=tuple(one and _in_version_1(one) for one in each.names))
        for each in script.imports
    )


def _is_of_1(use: Use) -> bool:
    path = use.found.path
    if use.guard or path.startswith("tf.compat."):
        return False
    parts = path.split(".")
    return any(".".join(parts[:end]) in _ONLY_IN_1 for end in range(2, len(parts) + 1))


def _in_version_1(one: Imported) -> Imported:
    if one.module is None or one.path != "tf":
        return one
    return dataclasses.replace(one, module="frontends.tf.compat", name="v1")
