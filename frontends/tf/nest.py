"""`tf.nest`: nested structures, in TensorFlow's order.

A *structure* is a list, a tuple (named or not) or a mapping, and everything else is a leaf: None, an
array, and a module or per-replica value too, which `jax.tree` would look into. Mappings go in the
order of their sorted keys.
"""

import collections
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from frontends.tf._typing import Nested

__all__ = ["assert_same_structure", "flatten", "is_nested", "map_structure", "pack_sequence_as"]


def is_nested(structure: Nested) -> bool:
    """Tells whether a value is a structure, not a leaf."""
    return isinstance(structure, list | tuple | Mapping)


def flatten(structure: Nested, expand_composites: bool = False) -> list[Any]:
    """Lists the leaves.

    Examples:
        >>> flatten({"b": [1, None], "a": (2,)})
        [2, 1, None]

    Source: `tf.nest.flatten`.
    """
    if not is_nested(structure):
        return [structure]
    return [leaf for _, child in _children(structure) for leaf in flatten(child)]


def flatten_with_paths(structure: Nested) -> list[tuple[tuple[Any, ...], Any]]:
    """Lists the leaves, each with the indices and keys that lead to it.

    Examples:
        >>> flatten_with_paths({"b": [1, None]})
        [(('b', 0), 1), (('b', 1), None)]
    """
    if not is_nested(structure):
        return [((), structure)]
    return [
        ((key, *path), leaf)
        for key, child in _children(structure)
        for path, leaf in flatten_with_paths(child)
    ]


def pack_sequence_as(
    structure: Nested, flat_sequence: Nested, expand_composites: bool = False
) -> Any:
    """Puts leaves into a structure.

    Raises:
        ValueError: there are more or fewer leaves than the structure has.

    Examples:
        >>> pack_sequence_as({"b": [0, 0], "a": 0}, [1, 2, 3])
        {'b': [2, 3], 'a': 1}

    Source: `tf.nest.pack_sequence_as`.
    """
    leaves, count = list(flat_sequence), len(flatten(structure))
    if len(leaves) != count:
        raise ValueError(
            f"tf.nest.pack_sequence_as: the structure {structure!r} has {count} leaves, but "
            f"flat_sequence has {len(leaves)}."
        )
    return _packed(structure, iter(leaves))


def map_structure(func: Callable[..., Any], *structure: Nested, **kwargs: Any) -> Any:
    """Calls a function with the leaves of structures, and returns the results in the first one's.

    Raises:
        TypeError: `func` cannot be called, there is no structure, or their kinds differ.
        ValueError: the structures differ.

    Examples:
        >>> map_structure(lambda x, y: x + y, {"a": 1}, {"a": 2})
        {'a': 3}

    Source: `tf.nest.map_structure`.
    """
    if not callable(func) or not structure:
        raise TypeError("tf.nest.map_structure: give a function and at least one structure.")
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types=kwargs.get("check_types", True))
    columns = zip(*map(flatten, structure), strict=True)
    return pack_sequence_as(structure[0], [func(*leaves) for leaves in columns])


def rebuilt(structure: Nested, children: Iterable[Any]) -> Any:
    """Makes a structure of the same class with other children; their own structure may be another.

    Args:
        structure: a list, tuple or mapping.
        children: in its own order: that of a mapping's keys, which need not be sorted.

    Examples:
        >>> rebuilt({"b": 1, "a": [2]}, ["x", "y"])
        {'b': 'x', 'a': 'y'}
    """
    kind: Any = type(structure)
    if isinstance(structure, Mapping):
        # Any mapping class may have a constructor of its own.
        items = list(zip(structure, children, strict=True))
        if isinstance(structure, collections.defaultdict):
            return kind(structure.default_factory, items)
        return kind(items)
    return kind(*children) if hasattr(structure, "_fields") else kind(children)


def assert_same_structure(
    nest1: Nested, nest2: Nested, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Raises if two structures differ.

    Raises:
        TypeError: a list here is a tuple or mapping there.
        ValueError: lengths or keys differ, or a leaf here is a structure there.

    Examples:
        >>> assert_same_structure({"a": [1, 2]}, {"a": ["x", None]})

    Source: `tf.nest.assert_same_structure`.
    """
    if is_nested(nest1) != is_nested(nest2):
        raise ValueError(f"The structures differ: {nest1!r} and {nest2!r}; one of them is a leaf.")
    if not is_nested(nest1):
        return
    if isinstance(nest1, Mapping) != isinstance(nest2, Mapping) or (
        check_types and type(nest1) is not type(nest2) and not isinstance(nest1, Mapping)
    ):
        raise TypeError(
            f"The structures differ: {type(nest1).__name__} {nest1!r} and "
            f"{type(nest2).__name__} {nest2!r}."
        )
    first, second = _children(nest1), _children(nest2)
    if [key for key, _ in first] != [key for key, _ in second]:
        raise ValueError(f"The structures differ in their length or keys: {nest1!r} and {nest2!r}.")
    for (_, one), (_, other) in zip(first, second, strict=True):
        assert_same_structure(one, other, check_types)


def _children(structure: Nested) -> list[tuple[Any, Any]]:
    if not isinstance(structure, Mapping):
        return list(enumerate(structure))
    try:
        return [(key, structure[key]) for key in sorted(structure)]
    except TypeError:
        raise TypeError(
            f"tf.nest sorts the keys of a mapping, and these cannot be compared: {list(structure)!r}."
        ) from None


def _packed(structure: Nested, leaves: Iterator[Any]) -> Any:
    if not is_nested(structure):
        return next(leaves)
    packed = {key: _packed(child, leaves) for key, child in _children(structure)}
    keys: Any = structure if isinstance(structure, Mapping) else range(len(structure))
    return rebuilt(structure, [packed[key] for key in keys])
