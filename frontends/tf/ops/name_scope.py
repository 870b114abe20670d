"""`tf.name_scope`: a name before those of variables, of summaries and of operations in profiles."""

import contextlib
import contextvars
from typing import Any

import jax

from frontends.tf.graph import current_graph

# The scopes around the code that runs: the full name of each, and JAX's scope.
_SCOPES: contextvars.ContextVar[tuple[tuple[str, Any], ...]] = contextvars.ContextVar(
    "tf_name_scopes", default=()
)


class name_scope:
    """Puts a name before those of variables, summaries and operations that are made in the block.

    In a model function of TensorFlow 1 a scope that is entered by the same name again is another one: `layer`, then `layer_1`.
    Elsewhere, in programs as well as outside, it is the same one.

    Examples:
        >>> from frontends import tf
        >>> with tf.name_scope("layer") as scope:
        ...     scope, tf.Variable(1.0, name="w").name
        ('layer/', 'layer/w:0')

    Source: `tf.name_scope`.
    """

    def __init__(self, name: str) -> None:
        """Names the scope.

        Args:
            name: below the scope around it; with a slash at its end, from the top; empty for the top itself.

        Raises:
            ValueError: it is no text.
        """
        if not isinstance(name, str):
            raise ValueError(f"name for name_scope must be a string, got {name!r}.")
        self._name = name

    @property
    def name(self) -> str:
        """The name as it was given."""
        return self._name

    def __enter__(self) -> str:
        absolute = not self._name or self._name.endswith("/")
        full = self._name if absolute else f"{_unique(in_name_scope(self._name))}/"
        shown = self._name.strip("/")
        scope = jax.named_scope(shown) if shown else contextlib.nullcontext()
        scope.__enter__()
        _SCOPES.set((*_SCOPES.get(), (full, scope)))
        return full

    def __exit__(self, *error: Any) -> None:
        *around, (_, scope) = _SCOPES.get()
        _SCOPES.set(tuple(around))
        scope.__exit__(*error)


def _unique(name: str) -> str:
    graph = current_graph()
    return name if graph is None else graph.unique_name(name)


def in_name_scope(name: str) -> str:
    """Puts the name of the scope around the caller before a name."""
    scopes = _SCOPES.get()
    return scopes[-1][0] + name if scopes else name
