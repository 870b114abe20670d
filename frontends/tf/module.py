"""`tf.Module`: a named container of variables and other modules."""

import functools
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from frontends.tf import nest
from frontends.tf.gradient_sources import is_variable
from frontends.tf.ops.name_scope import name_scope
from spmd.replica import current_frame
from spmd.state import Searched, apply_pending, note_variable_made

_Method = TypeVar("_Method", bound=Callable[..., Any])
# Before a capital letter: after a small one or a digit, or where a word follows.
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<!^)(?=[A-Z][a-z])")


class Module(Searched):
    """A base of classes whose objects hold variables and other modules, in attributes, lists, tuples and dicts.

    What differs here: layers and metrics of Keras count as modules, as they did with Keras 2, and variables of
    Keras and Flax as variables.

    Examples:
        >>> from frontends import tf
        >>> class Dense(tf.Module):
        ...     def __init__(self, size, name=None):
        ...         super().__init__(name=name)
        ...         self.w = tf.Variable(tf.ones([size, size]), name="w")
        ...         self.b = tf.Variable(tf.zeros(size), name="b")
        ...
        ...     def __call__(self, x):
        ...         return x @ self.w + self.b
        >>> class TwoLayers(tf.Module):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.layers = [Dense(2), Dense(2, name="last")]
        >>> model = TwoLayers()
        >>> model.name, [module.name for module in model.submodules]
        ('two_layers', ['dense', 'last'])
        >>> [variable.name for variable in model.trainable_variables]
        ['b:0', 'w:0', 'b:0', 'w:0']

    Source: `tf.Module`.
    """

    # Functions that are told what later becomes an attribute.
    __slots__ = ("__dict__", "__weakref__", "_followers")

    def __init__(self, name: str | None = None) -> None:
        """Names the module.

        Args:
            name: a Python identifier; None makes one of the class's name, `my_layer` of `MyLayer`.

        Raises:
            ValueError: it is no identifier.
        """
        if name is None:
            name = _WORD.sub("_", type(self).__name__).lower()
        elif not name.isidentifier():
            raise ValueError(
                f"{name!r} is not a valid module name. Module names must be valid Python identifiers (e.g. a valid "
                "class name)."
            )
        self._name = name
        with name_scope(name) as scope:
            self._name_scope = name_scope(scope)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        for follow in getattr(self, "_followers", ()):
            follow(value)
        note_variable_made()
        if current_frame() is None:  # a step looks for them by itself
            apply_pending()

    def follow(self, follower: Callable[[Any], None]) -> None:
        """Calls a function with each value that becomes an attribute from now on."""
        object.__setattr__(self, "_followers", [*getattr(self, "_followers", ()), follower])

    @property
    def name(self) -> str:
        """The name, without that of the scope in which the module was made."""
        return self._name

    @property
    def name_scope(self) -> name_scope:
        """The `tf.name_scope` of the module, that in which it was made included."""
        return self._name_scope

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables of the module and its submodules: its own first, by the names of attributes."""
        return tuple(self._flatten(predicate=is_variable))

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """Those of the variables that a tape watches by itself."""
        return tuple(
            self._flatten(predicate=lambda leaf: is_variable(leaf) and _is_trainable(leaf))
        )

    @property
    def non_trainable_variables(self) -> tuple[Any, ...]:
        """The other variables."""
        return tuple(
            self._flatten(predicate=lambda leaf: is_variable(leaf) and not _is_trainable(leaf))
        )

    @property
    def submodules(self) -> tuple[Any, ...]:
        """The modules in attributes of this one, then those in theirs."""
        return tuple(self._flatten(predicate=_is_module))

    def _flatten(
        self,
        recursive: bool = True,
        predicate: Callable[[Any], bool] | None = None,
        attribute_traversal_key: Callable[[str], Any] | None = None,
        with_path: bool = False,
        expand_composites: bool = False,
    ) -> Iterator[Any]:
        """Yields what is in the attributes, by their names; then what is in those of submodules.

        Args:
            recursive: whether to look into submodules.
            predicate: what to yield; None yields all.
            attribute_traversal_key: the order of attributes, as `sorted` takes it.
            with_path: whether to yield pairs of a path, a tuple of names and keys, and the object; one that several
                paths lead to comes once for each.

        Raises:
            ValueError: keys of a dict cannot be sorted.
        """
        accept = predicate or (lambda leaf: True)
        seen = {id(self)}

        def walk(module: Any, path: tuple[Any, ...], within: frozenset[int]) -> Iterator[Any]:
            below: list[tuple[tuple[Any, ...], Any]] = []
            for step, leaf in _leaves(module, attribute_traversal_key):
                if id(leaf) in (within if with_path else seen):
                    continue
                seen.add(id(leaf))
                if accept(leaf):
                    yield ((*path, *step), leaf) if with_path else leaf
                if recursive and _is_module(leaf):
                    below.append(((*path, *step), leaf))
            for place, submodule in below:
                yield from walk(submodule, place, within | {id(submodule)})

        return walk(self, (), frozenset({id(self)}))

    @classmethod
    def with_name_scope(cls, method: _Method) -> _Method:
        """Makes a method run in the module's name scope, so that variables made in it have the module's name.

        Examples:
            >>> from frontends import tf
            >>> class Dense(tf.Module):
            ...     @tf.Module.with_name_scope
            ...     def __call__(self, x):
            ...         if not hasattr(self, "w"):
            ...             self.w = tf.Variable(tf.ones([x.shape[1], 3]), name="w")
            ...         return tf.matmul(x, self.w)
            >>> module = Dense()
            >>> module(tf.ones([1, 2])).shape, module.w.name
            ((1, 3), 'dense/w:0')

        Source: `tf.Module.with_name_scope`.
        """

        @functools.wraps(method)
        def in_scope(self: Module, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        scoped: Any = in_scope
        return scoped


def _is_trainable(variable: Any) -> bool:
    return bool(getattr(variable, "trainable", True))


def _is_module(leaf: object) -> bool:
    return isinstance(leaf, Module) or _is_of_keras(leaf)


def _is_of_keras(leaf: object) -> bool:
    keras: Any = sys.modules.get("keras")  # nobody has a layer who has not imported it
    return keras is not None and isinstance(leaf, (keras.Layer, keras.metrics.Metric))


def _leaves(
    module: Any, order: Callable[[str], Any] | None
) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yields what a module holds, and the names and keys that lead there."""
    if not isinstance(module, Module):
        # What Keras tracks, not its own bookkeeping.
        for index, layer in enumerate(getattr(module, "layers", ())):
            yield ("layers", index), layer
        for index, variable in enumerate(module.variables):
            yield ("variables", index), variable
        return
    attributes = vars(module)
    for key in sorted(attributes, key=order):
        try:
            found = list(nest.flatten_with_paths(attributes[key]))
        except TypeError as error:
            raise ValueError(f"Error processing property {key!r} of {module!r}: {error}") from error
        for path, leaf in found:
            yield (key, *path), leaf
