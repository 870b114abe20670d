"""Which version of TensorFlow a script is for: one for TensorFlow 1 imports `tf.compat.v1`, whose functions take its arguments."""

import ast
import dataclasses
import json
from collections.abc import Collection, Iterator
from pathlib import Path

from frontends.tf.check.uses import Use, Uses, Version, uses_in


def _recorded(version: int) -> list[str]:
    # Modules, functions, classes and their members; of a module, only its own name. tests/golden/names_by_version.py records them.
    return json.loads(Path(__file__).with_name(f"names_of_{version}.json").read_text())


_ONLY_IN_1 = frozenset(("tf.contrib", *_recorded(1)))
_ONLY_IN_2 = frozenset(_recorded(2))


def uses_in_its_version(text: str, because: str = "") -> Uses:
    r"""Finds the uses in a script, with its names looked up where the import lines for its version find them.

    `tf.nn.dropout(x, 0.9)`, `tf.nn.embedding_lookup` of several tables, and much else compute different things in the two
    versions. A script that uses a name which only TensorFlow 1 has, without asking before, is for that.

    Args:
        text: of the script.
        because: why it is for TensorFlow 1 if it does not tell itself: what other modules of its project use.

    Raises:
        SyntaxError: it is no Python 3.

    Examples:
        >>> script = uses_in_its_version("import tensorflow as tf\ny = tf.layers.dense(x, 1)")
        >>> script.imports[0].names[0].written
        'v1 as tf'
        >>> script.uses[0].found.path
        'tf.compat.v1.layers.dense'
        >>> script.version.because
        'it uses tf.layers.dense (line 2)'
    """
    script = uses_in(text)
    only = next(_those_in(_ONLY_IN_1, script.uses), None)
    if only is not None:
        why = f"it uses {only.found.path} (line {only.line})"
        return uses_in(text, Version(True, why, is_certain=True))
    if any(_those_in(_ONLY_IN_2, script.uses)) or not _leaves_version_open(script):
        return dataclasses.replace(script, version=Version(is_certain=True))
    return uses_in(text, Version(True, because)) if because else script


def _those_in(names: Collection[str], uses: Collection[Use]) -> Iterator[Use]:
    for use in uses:
        path = use.found.path
        if use.guard or path.startswith("tf.compat."):
            continue
        parts = path.split(".")
        if any(".".join(parts[:end]) in names for end in range(2, len(parts) + 1)):
            yield use


def _leaves_version_open(script: Uses) -> bool:
    """Tells whether an import means what the installed TensorFlow makes of it."""
    modules = (
        module
        for each in script.imports
        for module in (
            [alias.name for alias in each.statement.names]
            if isinstance(each.statement, ast.Import)
            else [each.statement.module or ""]
        )
    )
    return any(
        f"{module}.".startswith("tensorflow.") and not module.startswith("tensorflow.compat.")
        for module in modules
    )
