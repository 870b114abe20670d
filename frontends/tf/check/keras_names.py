"""The names of `tf.keras`, and of the modules of `tf` that are Keras's, as `python -m tests.check_facts` recorded them."""

import functools
import json
from pathlib import Path
from typing import Any

_RECORD: dict[str, Any] = json.loads(Path(__file__).with_name("keras_names.json").read_text())

# The version of Keras that they are of.
VERSION: str = _RECORD["version"]
# What to use instead of names that Keras 3 does not have, by the full name.
HINTS: dict[str, str] = _RECORD["hints"]
# Modules that Python finds by another name than `frontends.` and theirs: `tf.optimizers` is `frontends.tf.keras.optimizers`.
SAME: dict[str, str] = _RECORD["same"]
# By module and name: the kind (`"class"`, `"function"`, `"module"`, `"value"`), and which of the classes it is.
MODULES: dict[str, dict[str, tuple[str, str | None]]] = {
    path: {
        **{name: ("class", cls) for name, cls in names["classes"].items()},
        **{name: (kind, None) for kind in ("function", "module", "value") for name in names[kind]},
    }
    for path, names in _RECORD["modules"].items()
}
# The names in `tf` of those modules.
TOP = frozenset(path.split(".")[1] for path in MODULES)


@functools.cache
def members(cls: str) -> frozenset[str]:
    """Lists the members that instances of a class of Keras have, those of its bases among them.

    Args:
        cls: one of the classes in `MODULES`.

    Examples:
        >>> "fit" in members(MODULES["tf.keras"]["Sequential"][1])
        True
    """
    own = _RECORD["classes"][cls]
    return frozenset(own["members"]).union(*map(members, own["bases"]))


@functools.cache
def has_more(cls: str) -> bool:
    """Tells whether instances of a class have attributes that only `__getattr__` knows.

    Args:
        cls: one of the classes in `MODULES`.
    """
    own = _RECORD["classes"][cls]
    return own.get("more", False) or any(map(has_more, own["bases"]))
