"""Which version of TensorFlow a script is for: one for TensorFlow 1 imports `tf.compat.v1`, whose functions take its arguments."""

import json
from pathlib import Path

from frontends.tf.check.uses import Use, Uses, uses_in

# Modules, functions, classes and their members; of a module, only its own name. tests/golden/names_of_1.py records them.
_ONLY_IN_1 = frozenset(
    ("tf.contrib", *json.loads(Path(__file__).with_name("names_of_1.json").read_text()))
)


def uses_in_its_version(text: str) -> Uses:
    r"""Finds the uses in a script, with its names looked up where the import lines for its version find them.

    `tf.nn.dropout(x, 0.9)`, `tf.nn.embedding_lookup` of several tables, and much else compute different things in the two
    versions. A script that uses a name which only TensorFlow 1 has, without asking before, is for that.

    Args:
        text: of the script.

    Raises:
        SyntaxError: it is no Python 3.

    Examples:
        >>> script = uses_in_its_version("import tensorflow as tf\ny = tf.layers.dense(x, 1)")
        >>> script.imports[0].names[0].written
        'v1 as tf'
        >>> script.uses[0].found.path
        'tf.compat.v1.layers.dense'
    """
    script = uses_in(text)
    return uses_in(text, is_of_1=True) if any(map(_is_of_1, script.uses)) else script


def _is_of_1(use: Use) -> bool:
    path = use.found.path
    if use.guard or path.startswith("tf.compat."):
        return False
    parts = path.split(".")
    return any(".".join(parts[:end]) in _ONLY_IN_1 for end in range(2, len(parts) + 1))
