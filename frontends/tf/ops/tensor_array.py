"""`tf.TensorArray`: elements written one at a time, and stacked afterwards.

It is held in one of two forms. As a *list* each element is an array of its own: eagerly, and in a program as long
as indices are known. As *rows* of one array it has a fixed capacity, and indices may be traced: loops of a program
carry it so (`carried`).
"""

import dataclasses
import operator
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from frontends.tf._typing import DTypeLike, ShapeLike, TensorLike
from frontends.tf.data.iterator import OutOfRangeError
from frontends.tf.data.tracing import run_as_python
from frontends.tf.dtypes import DType, as_dtype, jax_dtype
from frontends.tf.ops.convert import convert_to_tensor, known
from frontends.tf.ops.turns import Place, next_place, turn_counter, turns_around
from frontends.tf.ops.unwritten import next_number, note_shape, shape_if_written
from frontends.tf.tensor_shape import TensorShape
from spmd import _jax_internals

_Shape = tuple[int | None, ...]
# What a turn of a loop did to an array: it wrote one element at the end, at the number of the turn, or elsewhere.
Writes = tuple[str, ...]
_APPENDED, _AT_COUNTER, UNKNOWN = "appended", "at counter", "unknown"


@dataclasses.dataclass(frozen=True)
class _Options:
    """What a TensorArray was made with, and its number among those of a call on an element."""

    dtype: DType
    dynamic: bool
    clears: bool
    infers_shape: bool
    number: int | None


@dataclasses.dataclass(frozen=True)
class Form:
    """How a TensorArray is held: what must be the same at every turn of a loop.

    Attributes:
        written: for a list, which elements there are; None for rows.
        capacity: how many rows there is room for.
        shape: of an element, as far as it is known.
        length: how many elements there are; None if only the running program knows.
        reserved: the places of writes in loops for which there is room already.
    """

    written: tuple[bool, ...] | None
    capacity: int
    shape: _Shape | None
    length: int | None
    reserved: frozenset[Place] = frozenset()


@jax.tree_util.register_pytree_node_class
class TensorArray:
    """A list of arrays of one dtype, which loops of a program can carry.

    Eagerly, `write` changes the array, as in TensorFlow, and reading clears an element unless
    `clear_after_read=False`. In a program every method returns another one, and the old one can still be read.

    XLA has arrays of fixed size: an index that a program computes needs `size`, or a loop that is known to end
    after so many turns. A write beyond it is left out, where TensorFlow raises. What such a loop leaves of an array
    with `dynamic_size=True` cannot be stacked unless its length is known.

    Examples:
        >>> from frontends import tf
        >>> squares = tf.TensorArray(tf.float32, size=3)
        >>> for i in range(3):
        ...     squares = squares.write(i, float(i * i))
        >>> squares.stack().tolist()
        [0.0, 1.0, 4.0]

    Source: `tf.TensorArray`.
    """

    def __init__(
        self,
        dtype: DTypeLike,
        size: TensorLike = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: object = None,
        flow: object = None,
        infer_shape: bool = True,
        element_shape: ShapeLike = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        """Makes an array without elements.

        Args:
            dtype: of the elements.
            size: how many elements there are; a number that is known while a program is traced.
            dynamic_size: whether writing beyond the end makes it longer.
            clear_after_read: whether an element can be read once only; by default eagerly.
            infer_shape: whether all elements must have the shape of the first one.
            element_shape: shape of the elements, with None where a size is not known.

        Raises:
            ValueError: there is a `handle`, or no `size` eagerly; or the size is known to the running program only.
        """
        if handle is not None:
            raise ValueError(
                "TensorArray handles belong to TensorFlow 1. Leave out handle=, and pass the TensorArray itself."
            )
        if size is None and not _jax_internals.is_tracing():
            raise ValueError(
                "Size must be declared for TensorArrays when eager execution is enabled: "
                "tf.TensorArray(tf.float32, size=0, dynamic_size=True)."
            )
        self._options = _Options(
            as_dtype(dtype),
            bool(dynamic_size),
            clear_after_read is not False,
            bool(infer_shape),
            next_number(),
        )
        self._shape = _as_shape(element_shape)
        self._entries: list[Any] | None = [None] * _static_size(size)
        self._rows: Any = None
        self._length: Any = None
        self._reserved = frozenset[Place]()
        self._cleared: set[int] = set()
        self.writes: Writes = ()

    @property
    def dtype(self) -> DType:
        """Dtype of the elements."""
        return self._options.dtype

    @property
    def dynamic_size(self) -> bool:
        """Whether writing beyond the end makes it longer."""
        return self._options.dynamic

    @property
    def element_shape(self) -> TensorShape:
        """Shape of the elements, as far as it is known."""
        return TensorShape(self._shape)

    @property
    def flow(self) -> Any:
        """A number without meaning, as in TensorFlow's eager code."""
        return jnp.zeros((), jnp.int32)

    @property
    def handle(self) -> None:
        """None, as in TensorFlow's eager code."""
        return

    def size(self, name: str | None = None) -> Any:
        """Returns the number of elements, an int32 scalar; a known one stays known in a program."""
        length = self.form.length
        if length is None:
            return self._length
        return np.int32(length) if _jax_internals.is_tracing() else jnp.int32(length)

    def read(self, index: TensorLike, name: str | None = None) -> Any:
        """Returns an element; zeros if it was never written.

        Raises:
            OutOfRangeError: the index is out of range (one that a program computes is not checked).
            ValueError: the element was cleared, or its shape is not known.
        """
        known = _known(index)
        if known is None:
            rows = self._as_rows("read", index)._rows
            return jax.lax.dynamic_index_in_dim(rows, _index(index), 0, keepdims=False)
        self._check_index(known, "read from")
        if self._entries is None:
            return self._rows[known]
        if known in self._cleared:
            raise ValueError(
                f"Could not read index {known} twice because it was cleared after a previous read. Make the "
                "array with tf.TensorArray(..., clear_after_read=False)."
            )
        value = self._element(known)
        if self._options.clears and not _jax_internals.is_tracing():
            self._entries[known] = None
            self._cleared.add(known)
        return value

    def write(self, index: TensorLike, value: TensorLike, name: str | None = None) -> "TensorArray":
        """Writes an element.

        Returns:
            The array to go on with: in a program another one, else this one.

        Raises:
            OutOfRangeError: the index is out of range, and the array does not grow.
            ValueError: the dtype or shape is not that of the elements; or a program computes the index, and the
                array has no size.
        """
        element = self._converted(value)
        note_shape(self._options.number, element.shape)
        known = _known(index)
        if known is None:
            new = self._as_rows("write", index, element.shape)._copy()
            new.writes += (new._where(index),)
            new._make_room("write")
            new._put(_index(index), element)
            return new
        if known < 0 or not self._options.dynamic:
            self._check_index(known, "write to")
        new = self._next()
        new.writes += (UNKNOWN,)
        new._merge_shape(element)
        if new._entries is None:
            new._grow(known + 1)
            new._put(known, element)
        else:
            new._entries += [None] * (known + 1 - len(new._entries))
            new._entries[known] = element
            new._cleared.discard(known)
        return new

    def stack(self, name: str | None = None) -> Any:
        """Returns the elements along a new first axis; zeros stand for those that were never written.

        Raises:
            ValueError: the elements' shape is not known, or differs; or only the running program knows how many
                there are.
        """
        if self._entries is None:
            return self._all_rows("stack")
        if not self._entries:
            shape: Any = self._shape
            if shape is None or None in shape:
                shape = shape_if_written(self._options.number) or ()
            return jnp.zeros((0, *shape), self._jax_dtype)
        return jnp.stack(self._elements())

    def gather(self, indices: TensorLike, name: str | None = None) -> Any:
        """Returns some elements along a new first axis.

        Raises:
            OutOfRangeError: an index is out of range (one that a program computes is not checked).
        """
        indices = known(indices)
        if isinstance(indices, Tracer) or self._entries is None:
            rows = self._as_rows("gather", indices)._rows
            return jnp.take(rows, convert_to_tensor(indices), axis=0, mode="clip")
        wanted = np.asarray(indices).reshape(-1).tolist()
        for index in wanted:
            self._check_index(index, "read from")
        if not wanted:
            return self._as_rows("gather", indices)._rows[:0]
        return jnp.stack([self._element(index) for index in wanted])

    def concat(self, name: str | None = None) -> Any:
        """Returns the elements one after another, along their first axis.

        Raises:
            ValueError: as for `stack`, or the elements are scalars.
        """
        if self._entries is None:
            rows = self._all_rows("concat")
            if rows.ndim < 2:
                raise ValueError(
                    "TensorArray.concat joins arrays, but the elements are scalars. Use stack()."
                )
            return rows.reshape(-1, *rows.shape[2:])
        return jnp.concatenate(self._elements()) if self._entries else self.stack()

    def unstack(self, value: TensorLike, name: str | None = None) -> "TensorArray":
        """Makes the rows of an array the elements.

        Returns:
            The array to go on with; see `write`.

        Raises:
            ValueError: there are more rows than elements, and the array does not grow.
        """
        rows = self._converted(value, rows=True)
        note_shape(self._options.number, rows.shape[1:])
        self._check_room(len(rows))
        new = self._next()
        new._merge_shape(rows[0] if len(rows) else None)
        new._cleared = set()
        if _jax_internals.is_tracing():
            new._entries, new._rows, new._length = None, rows, len(rows)
        else:
            new._entries, new._rows, new._length = list(rows), None, None
        return new

    def scatter(
        self, indices: TensorLike, value: TensorLike, name: str | None = None
    ) -> "TensorArray":
        """Writes the rows of an array at some indices.

        Returns:
            The array to go on with; see `write`.

        Raises:
            OutOfRangeError: as for `write`.
        """
        rows, indices = self._converted(value, rows=True), known(indices)
        note_shape(self._options.number, rows.shape[1:])
        if isinstance(indices, Tracer):
            new = self._as_rows("scatter", indices, rows.shape[1:])._copy()
            where = indices.astype(jnp.int32)
            new.writes += (UNKNOWN,)
            new._make_room("scatter", len(rows))
            new._rows = new._rows.at[where].set(rows, mode="drop")
            if not isinstance(new._length, int):
                new._length = jnp.maximum(new._length, where.max(initial=-1) + 1)
            return new
        new = self
        for index, row in zip(np.asarray(indices).reshape(-1).tolist(), rows, strict=True):
            new = new.write(index, row)
        return new

    def split(
        self, value: TensorLike, lengths: TensorLike, name: str | None = None
    ) -> "TensorArray":
        """Makes parts of an array, along its first axis, the elements.

        Args:
            value: array.
            lengths: how many rows each part has; known while a program is traced.

        Returns:
            The array to go on with; see `write`.

        Raises:
            ValueError: there are more parts than elements, and the array does not grow; or the lengths do not add
                up to the rows.
        """
        whole = self._converted(value, rows=True)
        sizes = np.asarray(known(lengths)).reshape(-1)
        if sizes.sum() != len(whole):
            raise ValueError(
                f"TensorArray.split: the lengths {sizes.tolist()} add up to {sizes.sum()}, but the value has "
                f"{len(whole)} rows. Give lengths that add up to them."
            )
        self._check_room(len(sizes))
        parts = jnp.split(whole, np.cumsum(sizes)[:-1]) if len(sizes) else []
        new = self._next()
        new._entries, new._rows, new._length = list(parts), None, None
        new._cleared = set()
        return new

    def identity(self) -> "TensorArray":
        """Returns the array to go on with: in a program another one with the same elements, else this one."""
        return self._next()

    def grad(self, source: object, flow: object = None, name: str | None = None) -> None:
        """Raises: gradients flow through reading and writing by themselves.

        Raises:
            NotImplementedError: always, as in TensorFlow's eager code.
        """
        raise NotImplementedError(
            "TensorArray.grad belongs to TensorFlow 1. Ask tf.GradientTape for the gradient of what was read."
        )

    def close(self, name: str | None = None) -> None:
        """Drops the elements; in a program it does nothing."""
        if self._entries is not None and not _jax_internals.is_tracing():
            self._entries.clear()

    def __repr__(self) -> str:
        return f"<tf.TensorArray dtype={self.dtype.name} size={self.form.length} element_shape={self._shape}>"

    def tree_flatten(self) -> tuple[Any, Any]:
        """Takes apart for `jax.tree`."""
        about = (self._options, self._shape, self._reserved)
        if self._entries is not None:
            return (tuple(self._entries), None), (*about, None)
        known = isinstance(self._length, int)
        return (self._rows, None if known else self._length), (
            *about,
            self._length if known else -1,
        )

    @classmethod
    def tree_unflatten(cls, about: Any, children: Sequence[Any]) -> "TensorArray":
        """Puts together what `tree_flatten` took apart."""
        new = cls.__new__(cls)
        new._options, new._shape, new._reserved, length = about
        new._cleared, new.writes = set(), ()
        first, new._length = children
        new._entries, new._rows = (list(first), None) if length is None else (None, first)
        if length is not None and length >= 0:
            new._length = length
        return new

    @property
    def form(self) -> Form:
        """How it is held."""
        if self._entries is not None:
            written = tuple(entry is not None for entry in self._entries)
            return Form(written, len(written), self._known_shape(), len(written))
        length = self._length if isinstance(self._length, int) else None
        shape = tuple(self._rows.shape[1:])
        return Form(None, len(self._rows), shape, length, self._reserved)

    def held_as(self, form: Form) -> "TensorArray":
        """Returns the same elements in another form.

        Args:
            form: rows.

        Raises:
            ValueError: the elements have other shapes.
        """
        new = self._copy()
        if new._entries is not None:
            new._length = len(new._entries)
            new._rows = new._stacked(form)
            new._entries = None
        new._grow(form.capacity, lengthen=False)
        if form.length is None and isinstance(new._length, int):
            new._length = jnp.int32(new._length)
        new._shape, new._reserved = form.shape, form.reserved
        return new

    def settle_length(self, before: "TensorArray", writes: Writes, turns: int) -> None:
        """Takes note of how many elements there are after a loop, if that follows from what each turn wrote.

        Args:
            before: the array before the loop.
            writes: what a turn wrote.
            turns: how many the loop took.
        """
        kinds, length = set(writes), before.form.length
        if kinds <= {_APPENDED}:
            appended = turns * len(writes)
            self.writes = before.writes + (_APPENDED,) * appended
            after = None if length is None else length + appended
        else:
            after = max(length or 0, turns) if kinds == {_AT_COUNTER} else None
            after = None if length is None else after
        if after is not None and not isinstance(self._length, int):
            self._length = after

    def _where(self, index: Any) -> str:
        if index is self._length:
            return _APPENDED
        return _AT_COUNTER if index is turn_counter() else UNKNOWN

    @property
    def _jax_dtype(self) -> np.dtype:
        return jax_dtype(self.dtype)

    def _next(self) -> "TensorArray":
        """Returns what a method that changes the array is to change: eagerly, the array itself."""
        return self._copy() if _jax_internals.is_tracing() else self

    def _copy(self) -> "TensorArray":
        children, about = self.tree_flatten()
        new = type(self).tree_unflatten(about, children)
        new.writes = self.writes
        return new

    def _converted(self, value: TensorLike, rows: bool = False) -> Any:
        array = convert_to_tensor(value, dtype_hint=self.dtype)
        if array.dtype != self._jax_dtype:
            raise ValueError(
                f"TensorArray dtype is {self._jax_dtype} but got a value of dtype {array.dtype}. Cast it: "
                f"tf.cast(value, tf.{self._jax_dtype})."
            )
        if rows and not array.ndim:
            raise ValueError(
                "A TensorArray takes the rows of an array, but got a scalar. Use write()."
            )
        self._check_shape(array.shape[1:] if rows else array.shape)
        return array

    def _check_shape(self, shape: tuple[int, ...]) -> None:
        known = self._shape
        if known is not None and (
            len(known) != len(shape)
            or any(size not in (None, actual) for size, actual in zip(known, shape, strict=True))
        ):
            raise ValueError(
                f"Incompatible shape for value ({shape}), expected ({known}). Elements of different shapes need "
                "tf.TensorArray(..., infer_shape=False), and cannot be carried by a loop of a program."
            )

    def _merge_shape(self, element: Any) -> None:
        if self._options.infers_shape and element is not None:
            self._shape = tuple(element.shape)

    def _known_shape(self) -> _Shape | None:
        if self._shape is not None and None not in self._shape:
            return self._shape
        shapes = {tuple(entry.shape) for entry in self._entries or () if entry is not None}
        return next(iter(shapes)) if len(shapes) == 1 else self._shape

    def _check_index(self, index: int, verb: str) -> None:
        size = self._capacity if self.form.length is None else self.form.length
        if not 0 <= index < (size or 0):
            raise OutOfRangeError(
                f"Tried to {verb} index {index}, but the TensorArray's size is {size}. "
                + ("" if index < 0 else "Make it with a larger size, or with dynamic_size=True.")
            )

    def _check_room(self, count: int) -> None:
        size = self.form.length
        if not self._options.dynamic and size is not None and count > size:
            raise ValueError(
                f"Cannot unstack {count} tensors into a TensorArray of static size {size}. Make it with "
                f"size={count}, or with dynamic_size=True."
            )

    @property
    def _capacity(self) -> int:
        return len(self._rows) if self._entries is None else len(self._entries)

    def _element(self, index: int) -> Any:
        entry = (self._entries or ())[index]
        return self._zeros() if entry is None else entry

    def _elements(self) -> list[Any]:
        return [self._element(index) for index in range(self._capacity)]

    def _zeros(self) -> Any:
        shape = self._known_shape()
        if shape is None or None in shape:
            shape = shape_if_written(self._options.number)
        if shape is None:
            raise ValueError(
                "An element of a TensorArray was read before it was written, and the shape of the elements is "
                "not known. Write it, or make the array with tf.TensorArray(..., element_shape=[...])."
            )
        return jnp.zeros(shape, self._jax_dtype)

    def _as_rows(self, verb: str, index: Any, shape: _Shape | None = None) -> "TensorArray":
        """Returns the array in rows, with room for what a loop may write."""
        form = self.form
        if form.written is None:
            return self
        shape = form.shape if shape is None else shape
        if shape is None or None in shape:
            raise ValueError(
                f"TensorArray.{verb} with an index that the program computes needs the shape of the elements. Make "
                "the array with tf.TensorArray(..., element_shape=[...]), or write an element first."
            )
        return self.held_as(Form(None, form.capacity, shape, form.length))

    def _make_room(self, verb: str, count: int = 1) -> None:
        """Makes room for what a write in a loop adds to an array that grows.

        Raises:
            ValueError: it is not known how much that is, or the array has no elements and does not grow.
        """
        place = next_place()
        if place in self._reserved or (not self._options.dynamic and len(self._rows)):
            return
        turns = turns_around() if self._options.dynamic else None
        if turns is None:
            raise _unknown_size(
                f"TensorArray.{verb} with an index that the program computes needs to know how many elements there "
                "will be, because XLA's arrays have fixed sizes. Make the array with "
                f"tf.TensorArray(tf.{self.dtype.name}, size=n) and without dynamic_size=True, where n is a Python "
                "number or tf.shape(x)[0], or give the loop maximum_iterations=n."
            )
        # One at least: a loop without turns is traced, too.
        self._grow(len(self._rows) + count * max(turns, 1), lengthen=False)
        self._reserved |= {place}
        if isinstance(self._length, int):
            self._length = jnp.int32(self._length)

    def _stacked(self, form: Form) -> Any:
        entries = self._entries or []
        for entry in entries:
            if entry is not None and tuple(entry.shape) != form.shape:
                raise ValueError(
                    f"The elements of this TensorArray have shapes {tuple(entry.shape)} and {form.shape}, but a "
                    "program that computes an index needs one shape. Pad them to one."
                )
        shape = tuple(size or 0 for size in form.shape or ())
        if all(entry is None for entry in entries):
            return jnp.zeros((len(entries), *shape), self._jax_dtype)
        zeros = jnp.zeros(shape, self._jax_dtype)
        return jnp.stack([zeros if entry is None else entry for entry in entries])

    def _grow(self, capacity: int, *, lengthen: bool = True) -> None:
        more = capacity - len(self._rows)
        if more > 0:
            zeros = jnp.zeros((more, *self._rows.shape[1:]), self._rows.dtype)
            self._rows = jnp.concatenate([self._rows, zeros])
        if lengthen and isinstance(self._length, int):
            self._length = max(self._length, capacity)

    def _put(self, index: Any, element: Any) -> None:
        """Writes a row in place of the old one, or leaves it out if there is no such row."""
        self._check_shape(element.shape)
        if element.shape != self._rows.shape[1:]:
            raise ValueError(
                f"Incompatible shape for value ({element.shape}), expected ({self._rows.shape[1:]}): the rows of a "
                "program's TensorArray have one shape."
            )
        if isinstance(index, Tracer):
            inside = (index >= 0) & (index < len(self._rows))
            old = jax.lax.dynamic_index_in_dim(self._rows, index, 0, keepdims=False)
            element = jnp.where(inside, element, old)
        self._rows = jax.lax.dynamic_update_index_in_dim(self._rows, element, index, 0)
        if not isinstance(self._length, int):
            self._length = jnp.maximum(self._length, jnp.asarray(index, jnp.int32) + 1)

    def _all_rows(self, verb: str) -> Any:
        length = _known(self._length)
        if length is None:
            raise _unknown_size(
                f"TensorArray.{verb}: how many elements there are is known only when the program runs, because the "
                "array has dynamic_size=True and the program computed an index. Make it with "
                f"tf.TensorArray(tf.{self.dtype.name}, size=n), and mask what the loop did not write; or read "
                "elements by their index."
            )
        return self._rows[:length]


def _unknown_size(advice: str) -> ValueError:
    """Makes the error for a size that is not known, unless the function can run as Python."""
    run_as_python(advice)
    return ValueError(advice)


def _known(index: TensorLike) -> int | None:
    """Returns an index that is known now; None if a program computes it."""
    if not isinstance(index, int | np.generic | np.ndarray):
        index = known(convert_to_tensor(index))
    return None if isinstance(index, Tracer) else operator.index(np.asarray(index).item())


def _index(index: TensorLike) -> Any:
    return jnp.asarray(index, jnp.int32).reshape(())


def _static_size(size: TensorLike) -> int:
    size = known(size)
    if isinstance(size, Tracer):
        raise ValueError(
            "The size of a TensorArray must be known while a program is traced, but this one is computed by the "
            "program. Take it from a shape, tf.TensorArray(tf.float32, size=tf.shape(x)[0]), or from a Python number."
        )
    return 0 if size is None else _known(size) or 0


def _as_shape(shape: ShapeLike) -> _Shape | None:
    return None if shape is None else tuple(None if s is None else int(s) for s in shape)
