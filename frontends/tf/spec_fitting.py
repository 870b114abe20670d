"""Does a value fit a spec: what `input_signature` and concrete functions check, and convert."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf import nest
from frontends.tf._typing import Nested
from frontends.tf.call_forms import is_plain
from frontends.tf.data.host_tensors import as_tensors
from frontends.tf.data.spec import DatasetSpec, TensorSpec
from frontends.tf.data.tracing import in_map_on_host
from frontends.tf.distribute.values import PerReplicaSpec
from frontends.tf.dtypes import jax_dtype, require_room
from frontends.tf.ops.convert import convert_to_tensor, is_tensor
from frontends.tf.ragged.spec import RaggedTensorSpec
from frontends.tf.sparse.spec import SparseTensorSpec
from spmd._jax_internals import is_interposed
from spmd.replica import PerReplica, current_frame, is_per_replica

# One of `SPECS`; anything else stands for itself.
Spec: TypeAlias = Any
# Of values that are on the host, so that functions of them run as Python.
HOST_SPECS = (RaggedTensorSpec, SparseTensorSpec)
SPECS = (TensorSpec, PerReplicaSpec, DatasetSpec, *HOST_SPECS)
_HOST_VALUES = (bool, int, float, np.ndarray, np.generic)


class Declaration(NamedTuple):
    """Who declares what it takes, for messages.

    Attributes:
        function: name of the function.
        where: what declares it.
    """

    function: str
    where: str

    def fit(self, spec: Nested, value: Nested, path: str) -> Nested:
        """Checks that a value fits, and converts numbers and NumPy's arrays.

        Args:
            spec: specs, in the structure of the value; what is no spec has to be the value.
            value: what was passed.
            path: name of the argument.

        Returns:
            The value, with tensors where the specs have them.

        Raises:
            TypeError: it does not fit.

        Examples:
            >>> declaration = Declaration("f", "its input_signature")
            >>> declaration.fit([TensorSpec((None,), np.float32)], ([1, 2],), "x")[0].tolist()
            [1.0, 2.0]
        """
        if isinstance(spec, Mapping):
            if not isinstance(value, Mapping) or value.keys() != spec.keys():
                keys = sorted(map(str, value)) if isinstance(value, Mapping) else _kind_of(value)
                raise self._misfit(
                    path, f"a dict with the keys {sorted(map(str, spec))}", str(keys)
                )
            return nest.rebuilt(
                spec, [self.fit(one, value[key], f"{path}[{key!r}]") for key, one in spec.items()]
            )
        if isinstance(spec, (tuple, list)):
            if not isinstance(value, (tuple, list)) or len(value) != len(spec):
                found = (
                    f"{len(value)} values" if isinstance(value, (tuple, list)) else _kind_of(value)
                )
                raise self._misfit(path, f"a {type(spec).__name__} of {len(spec)} values", found)
            pairs = enumerate(zip(spec, value, strict=True))
            return nest.rebuilt(
                spec, [self.fit(one, each, f"{path}[{index}]") for index, (one, each) in pairs]
            )
        return self._fit_one(spec, value, path)

    def _fit_one(self, spec: Any, value: Nested, path: str) -> Nested:
        if isinstance(value, SPECS):  # of a concrete function to be
            if isinstance(spec, TensorSpec) and isinstance(value, TensorSpec):
                self._check(spec, value, path)
            return value
        if isinstance(spec, PerReplicaSpec):
            if not is_per_replica(value):
                raise self._misfit(path, repr(spec), _kind_of(value))
            spec = spec.value_specs[0]
        if not isinstance(spec, SPECS):
            return self._same(spec, value, path)
        if isinstance(spec, HOST_SPECS) and not spec.is_compatible_with(value):
            raise self._misfit(path, repr(spec), repr(value))
        if not isinstance(spec, TensorSpec):
            return value
        if spec.dtype.kind in "OSU":
            return convert_to_tensor(value) if isinstance(value, str | bytes) else value
        if is_per_replica(value):
            each = _of_one_replica(value)
            self._check(spec, each, path)
            return value
        if not is_tensor(value):
            value = self._converted(spec, value, path)
        elif not isinstance(value, jax.Array):
            value = value.__jax_array__()
        self._check(spec, TensorSpec(value.shape, value.dtype), path)
        return value

    def _same(self, expected: Nested, value: Nested, path: str) -> Nested:
        if not is_same(value, expected):
            raise self._misfit(path, repr(expected), repr(value))
        return value

    def _converted(self, spec: TensorSpec, value: Nested, path: str) -> Nested:
        """Converts what is no tensor: integers may become floats, but nothing is cut off."""
        found = getattr(value, "dtype", None)
        try:
            if found is not None and not _may_become(np.dtype(found), spec.dtype):
                raise TypeError
            is_inner = current_frame() is not None or is_interposed()
            if is_inner or not isinstance(value, _HOST_VALUES):
                return convert_to_tensor(value, spec.dtype)
            array = np.asarray(value)
            if not _may_become(array.dtype, spec.dtype):
                raise TypeError
            if in_map_on_host():  # the function runs as Python, on elements as they are
                return as_tensors(array.astype(spec.dtype))
            # A program takes it from the host, which is quicker than an array of its own.
            require_room(array, spec.dtype)
            return np.asarray(value, jax_dtype(spec.dtype))
        except (TypeError, ValueError, OverflowError) as error:
            described = (
                f"{found} values" if found is not None else f"{_kind_of(value)} {repr(value)[:60]}"
            )
            raise self._misfit(path, repr(spec), described) from (error if str(error) else None)

    def _check(self, spec: TensorSpec, found: TensorSpec, path: str) -> None:
        if jax_dtype(found.dtype) != jax_dtype(spec.dtype):
            line = f"Cast it: tf.cast({path}, tf.{spec.dtype.name})."
            raise self._misfit(path, repr(spec), repr(found), line)
        if not fits_shape(spec.shape, found.shape):
            declared = f"tf.TensorSpec({list(found.shape)}, tf.{spec.dtype.name})"
            line = f"Pass a tensor of that shape, or declare another: {declared}."
            raise self._misfit(path, repr(spec), repr(found), line)

    def _misfit(self, path: str, expected: str, found: str, line: str = "") -> TypeError:
        return TypeError(
            f"Binding inputs to tf.function failed due to `Can not cast {found} to {expected}`: the argument {path!r} of "
            f"{self.function} does not fit {self.where}. {line or 'Pass what is declared, or declare what is passed.'}"
        )


def fits_shape(declared: Sequence[int | None] | None, shape: Sequence[int | None] | None) -> bool:
    """Tells whether a shape is one of those that a spec declares.

    Args:
        declared: sizes, None for any; or None for any number of dimensions.
        shape: sizes.

    Examples:
        >>> fits_shape((None, 3), (2, 3)), fits_shape((None, 3), (2, 4)), fits_shape(None, (1,))
        (True, False, True)
    """
    if declared is None:
        return True
    if shape is None or len(shape) != len(declared):
        return False
    return all(size is None or size == found for size, found in zip(declared, shape, strict=True))


def leaves_of(tree: Nested) -> Iterator[Nested]:
    """Lists the leaves of tuples, lists and dicts; None is one."""
    if isinstance(tree, Mapping):
        tree = list(tree.values())
    if isinstance(tree, (tuple, list)):
        for each in tree:
            yield from leaves_of(each)
    else:
        yield tree


def _may_become(found: np.dtype, dtype: np.dtype) -> bool:
    """Tells whether TensorFlow converts NumPy's numbers of one dtype to another."""
    kinds = jnp.integer, jnp.floating, jnp.complexfloating
    ranks = [
        next((i for i, kind in enumerate(kinds) if jnp.issubdtype(each, kind)), None)
        for each in (found, dtype)
    ]
    low, high = ranks
    if low is None or high is None:
        return found == dtype
    return low == high if high == 0 else low <= high


def _of_one_replica(value: Any) -> TensorSpec:
    if isinstance(value, PerReplica):
        array = value.array
        return TensorSpec(array.shape[1:] if value.stacked else value.block_shape, array.dtype)
    return TensorSpec(value.block.shape, value.block.dtype)


def is_same(value: Nested, other: Nested) -> bool:
    """Tells whether two values that are no tensors are the same: by type and value, or by identity."""
    return value is other or (
        is_plain(value) and type(value) is type(other) and repr(value) == repr(other)
    )


def _kind_of(value: object) -> str:
    return f"a {type(value).__name__}"
