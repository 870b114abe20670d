"""Attributes that the instances of a class have and the class has not: what its methods store."""

import ast
import functools
import inspect
import textwrap


@functools.cache
def attributes(cls: type) -> frozenset[str]:
    """Lists what methods of a class and of its bases assign to `self`, and what they annotate.

    Args:
        cls: the class; its source is read.

    Examples:
        >>> import decimal, fractions, argparse
        >>> "prog" in attributes(argparse.ArgumentParser)
        True
    """
    return frozenset(name for base in cls.__mro__ for name in own_attributes(base))


@functools.cache
def own_attributes(cls: type) -> frozenset[str]:
    """Lists what the methods of a class itself assign to `self`, what it annotates, and the fields of a protocol buffer.

    Args:
        cls: the class; of one without source, as those written in C, only annotations are known.
    """
    annotated = {*vars(cls).get("__annotations__", {}), *vars(cls).get("__slots__", ())}
    descriptor = vars(cls).get("DESCRIPTOR")
    if descriptor is not None:  # their common base class has none
        return frozenset(annotated.union(descriptor.fields_by_name))
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(cls)))
    except (OSError, TypeError, SyntaxError):
        return frozenset(annotated)
    return frozenset(annotated) | {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    }
