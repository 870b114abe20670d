"""Names for what an annotation means, where Python's types cannot say it."""

import os
from typing import Any, TypeAlias

import jax
import numpy as np

# What JSON can hold: such as a position in a data source, kept in checkpoints.
Json: TypeAlias = Any
# Containers of arrays, as deep as they may be, which `jax.tree` walks.
PyTree: TypeAlias = Any
# How the leaves of a pytree belong together: a `jax.tree.structure`, which has no type of its own in public.
Structure: TypeAlias = Any
# What becomes an array: an array of JAX's or NumPy's, a number, or an object that stands for an array.
ArrayLike: TypeAlias = Any
# An array on the devices or on the host.
AnyArray: TypeAlias = jax.Array | np.ndarray[Any, Any]
# An object of any library that may hold variables: a model, an optimizer, a metric, or one variable.
Stateful: TypeAlias = Any
# A variable of any library; the adapter of that library reads and writes it.
LibraryVariable: TypeAlias = Any
# The path of a file or a folder.
StrPath: TypeAlias = str | os.PathLike[str]
# The structure of a pytree, as `jax.tree.structure` gives it; JAX has no public type for it.
TreeStructure: TypeAlias = Any
