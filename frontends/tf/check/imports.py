"""Import statements that bring TensorFlow's names into a script, and what to write instead.

    import tensorflow as tf                         from frontends import tf
    from tensorflow.keras import layers as L        from frontends.tf.keras import layers as L
    import tensorflow.compat.v1 as tf               from frontends.tf.compat import v1 as tf

Of TensorFlow's internals, those stay that no public module stands for:

    from tensorflow.python.ops import math_ops      from frontends.tf.compat import v1 as math_ops

In a script for TensorFlow 1, `tf` and what differs there are those of `tf.compat.v1`:

    import tensorflow as tf                         from frontends.tf.compat import v1 as tf
    from tensorflow import feature_column           from frontends.tf.compat.v1 import feature_column

Statements that import this front end are read too, and stay as they are.
"""

import ast
import dataclasses
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from frontends.tf.check import names
from frontends.tf.check.internals import PUBLIC

# Python's modules whose names are those of `tf`, or of one of its modules.
_ROOTS = {
    **PUBLIC,
    "frontends.tf": "tf",
    "tensorflow": "tf",
    "tensorflow.compat.v2": "tf",
    "tensorflow_core": "tf",
}
_INTERNALS = ("tf.python.", "tf.core.")


@dataclasses.dataclass(frozen=True)
class Imported:
    """One name that an import statement binds.

    Attributes:
        bound: the name in the script; `"*"` for all names of the module.
        path: TensorFlow's name for it, such as `"tf.keras.layers"`.
        module: Python's module to import it from; None if there is none, or if the statement imports this front end already.
        name: its name in that module.
        problem: why it cannot be imported; empty if it can.
    """

    bound: str
    path: str
    module: str | None = None
    name: str = ""
    problem: str = ""

    @property
    def written(self) -> str:
        """The name as an import statement has it behind `import`."""
        return self.name if self.name == self.bound else f"{self.name} as {self.bound}"


# A module as the parts of its path, behind the number of dots that stand before them.
Module: TypeAlias = tuple[int, tuple[str, ...]]


def modules_in(nodes: Iterable[ast.AST]) -> Iterator[Module]:
    """Gives what a script imports: modules, and names that may be modules.

    Args:
        nodes: of the script's syntax tree.

    Examples:
        >>> list(modules_in(ast.walk(ast.parse("from .nets import net"))))
        [(1, ('nets', 'net'))]
    """
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((0, tuple(alias.name.split("."))) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = tuple(node.module.split(".")) if node.module else ()
            yield from ((node.level, (*module, alias.name)) for alias in node.names)


def imported(
    statement: ast.Import | ast.ImportFrom, is_of_1: bool = False
) -> list[Imported | None]:
    """Lists the names of TensorFlow that a statement binds; None stands for each name of another module.

    Args:
        statement: an import statement.
        is_of_1: whether the script is for TensorFlow 1.

    Examples:
        >>> (one,) = imported(ast.parse("import tensorflow.keras.backend as K").body[0])
        >>> one.path, one.module, one.written
        ('tf.keras.backend', 'frontends.tf.keras', 'backend as K')
    """
    if isinstance(statement, ast.Import):
        return [_plain(alias, is_of_1) for alias in statement.names]
    if statement.level or statement.module is None:
        return [None for _ in statement.names]
    return [_from(statement.module, alias, is_of_1) for alias in statement.names]


def _plain(alias: ast.alias, is_of_1: bool) -> Imported | None:
    path = tensorflow_path(alias.name)
    if path is None or (alias.asname is None and alias.name.startswith("frontends")):
        return None
    if alias.asname is not None:
        return _entry(alias.name, alias.asname, path, is_of_1)
    # It binds the first part alone, and the others are its attributes.
    root, problem = alias.name.split(".")[0], _problem(alias.name, path)
    if problem:
        return Imported(root, _shown(alias.name, path), problem=problem)
    return _entry(root, root, "tf", is_of_1)


def _from(module: str, alias: ast.alias, is_of_1: bool) -> Imported | None:
    bound = alias.asname or alias.name
    if module == "frontends":
        return Imported(bound, "tf") if alias.name == "tf" else None
    owner = tensorflow_path(module)
    if owner is None:
        return None
    if alias.name == "*":
        text = f"A star import brings only a part of {owner}'s names: import {owner} itself."
        return Imported("*", f"{owner}.*", problem=text)
    full = f"{module}.{alias.name}"
    return _entry(full, bound, tensorflow_path(full) or f"{owner}.{alias.name}", is_of_1)


def _entry(module: str, bound: str, path: str, is_of_1: bool) -> Imported:
    if module.startswith("frontends."):
        return Imported(bound, path, problem=_problem(module, path))
    if is_of_1 and not module.startswith("tensorflow.compat."):
        path = _path_in_version_1(path)
    problem = _problem(module, path)
    owner, _, name = path.rpartition(".")
    if not owner:
        return Imported(bound, path, "frontends", "tf")
    return Imported(bound, _shown(module, path), names.python_module(owner), name, problem)


def _path_in_version_1(path: str) -> str:
    """Gives the name in `tf.compat.v1`, if what it stands for differs there."""
    if path == "tf":
        return "tf.compat.v1"
    there = names.find(f"tf.compat.v1.{path.removeprefix('tf.')}")
    is_own = not there.is_missing and there.value is not names.find(path).value
    return there.path if is_own else path


def _shown(module: str, path: str) -> str:
    return module if f"{path}.".startswith(_INTERNALS) else path


def tensorflow_path(module: str) -> str | None:
    """Gives TensorFlow's name of one of Python's modules; None if it is none of TensorFlow's.

    Args:
        module: as in `import module`.

    Examples:
        >>> tensorflow_path("tensorflow.keras.layers")
        'tf.keras.layers'
        >>> tensorflow_path("tensorflow.python.training.session_run_hook")
        'tf.compat.v1.train'
        >>> tensorflow_path("tensorflow_datasets") is None
        True
    """
    root = module
    while root and root not in _ROOTS:
        root = root.rpartition(".")[0]
    return _ROOTS[root] + module[len(root) :] if root else None


def _problem(module: str, path: str) -> str:
    found = names.find(path)
    if not found.is_missing:
        return ""
    if f"{path}.".startswith(_INTERNALS):
        return f"{module} is one of TensorFlow's internals, which do not exist here. Use a public name."
    return found.message
