"""Whether a function reads a dataset, so that it runs as Python."""

import types

import jax

from frontends.tf._typing import Nested
from frontends.tf.data.base import DatasetBase
from frontends.tf.data.iterator import ElementIterator
from frontends.tf.distribute.dataset import DistributedDataset
from spmd.replica import is_per_replica
from spmd.state import cell_contents


def reads_dataset(function: object, args: Nested, kwargs: Nested) -> bool:
    """Tells whether code can reach a dataset, or an iterator of one.

    Args:
        function: where to look: in its closure, the globals that it names, and the object that it is a
            method of; and in the functions found there.
        args: positional arguments of the function.
        kwargs: keyword arguments.

    Returns:
        True if there is one.

    Examples:
        >>> from frontends import tf
        >>> reads_dataset(print, (tf.data.Dataset.range(3),), {})
        True
    """
    ahead, seen = [function, *jax.tree.leaves((args, kwargs), is_leaf=is_per_replica)], set[int]()
    while ahead:
        found = ahead.pop()
        if isinstance(found, (DatasetBase, DistributedDataset, ElementIterator)):
            return True
        if id(found) in seen:
            continue
        seen.add(id(found))
        if hasattr(type(found), "experimental_get_tracing_count"):  # a tf.function
            ahead.append(found.python_function)
        elif isinstance(found, types.MethodType):
            ahead += [found.__func__, *getattr(found.__self__, "__dict__", {}).values()]
        elif isinstance(found, types.FunctionType):
            ahead += map(cell_contents, found.__closure__ or ())
            ahead += [found.__globals__.get(name) for name in found.__code__.co_names]
    return False
