"""Tables that find a value for each key, on the host. Tables whose keys do not change also work in steps.

There, texts are found by their fingerprints, and texts that are found are chosen by their numbers.
"""

from collections.abc import Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from frontends.tf._text_hashes import fingerprints
from frontends.tf._typing import DTypeLike, HostLike, TensorLike
from frontends.tf.data.host_arrays import check_on_host, host_array, shown
from frontends.tf.dtypes import DType, as_dtype, jax_dtype
from frontends.tf.feature_column import Texts
from frontends.tf.feature_column.class_names import ClassNames
from frontends.tf.feature_column.fingerprints import of_decimals
from frontends.tf.feature_column.vocabulary_table import TextTable
from frontends.tf.lookup.initializers import Initializer
from frontends.tf.ragged.ragged_tensor import RaggedTensor
from frontends.tf.sparse.sparse_tensor import SparseTensor


class _Table:
    """What all tables have.

    Attributes:
        key_dtype: of the keys.
        value_dtype: of the values.
        name: of the table.
        initializer: None; tables are filled when they are made.
    """

    initializer = init = None
    _wrong_keys: type[Exception] = TypeError

    def __init__(self, key_dtype: DTypeLike, value_dtype: DTypeLike, name: str | None) -> None:
        self.key_dtype, self.value_dtype = as_dtype(key_dtype), as_dtype(value_dtype)
        self.name = name or type(self).__name__
        self._entries: dict[Any, Any] = {}
        self._texts: TextTable | None = None

    def lookup(self, keys: HostLike, name: str | None = None) -> Any:
        """Returns the values of keys.

        Args:
            keys: an array, a `tf.RaggedTensor` or a `tf.SparseTensor`; in a model function also features that are texts.

        Returns:
            The values; of texts that a program finds, what becomes an array of NumPy's on the host.

        Raises:
            TypeError: they have another dtype.

        Source: `tf.lookup.StaticHashTable.lookup`.
        """
        if isinstance(keys, RaggedTensor):
            return keys.with_flat_values(self.lookup(keys.flat_values))
        if isinstance(keys, SparseTensor):
            return keys.with_values(self.lookup(keys.values))
        if isinstance(keys, Tracer | Texts):
            return self._in_program(keys)
        return shown(self._found(self._checked(keys)))

    def __getitem__(self, keys: HostLike) -> Any:
        """Returns the values of keys; see `lookup`."""
        return self.lookup(keys)

    def size(self, name: str | None = None) -> Any:
        """Returns the number of entries, int64.

        Source: `tf.lookup.StaticHashTable.size`.
        """
        return shown(np.int64(len(self._entries)))

    def export(self, name: str | None = None) -> tuple[Any, Any]:
        """Returns all keys and all values.

        Source: `tf.lookup.StaticHashTable.export`.
        """
        keys = _array(list(self._entries), self.key_dtype)
        return shown(keys), shown(_array(list(self._entries.values()), self.value_dtype))

    def _fill(self, keys: np.ndarray, values: np.ndarray) -> None:
        for key, value in zip(keys.tolist(), values.tolist(), strict=True):
            if self._entries.setdefault(key, value) != value:
                raise RuntimeError(
                    f"HashTable has different value for same key. Key {key!r} has {self._entries[key]!r} and trying to add value {value!r}"
                )

    def _found(self, keys: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def _in_program(self, keys: Any) -> Any:
        check_on_host(keys, f"{type(self).__name__}.lookup")

    def _places(self, keys: Any) -> jax.Array:
        """Returns where keys of a program are among the entries, int32; -1 for those that are not there."""
        is_text = isinstance(keys, Texts)
        fits = self.key_dtype.name == "string" if is_text else self.key_dtype.is_integer
        if not fits or not (is_text or jnp.issubdtype(keys.dtype, jnp.integer)):
            raise TypeError(
                f"Dtype of argument `keys` must be {self.key_dtype.name}, received: {keys.dtype}."
            )
        if not self._entries:
            return jnp.full(keys.shape, -1, jnp.int32)
        if is_text:
            if self._texts is None:
                self._texts = TextTable(list(self._entries))
            return self._texts.find(keys)
        limits = np.iinfo(keys.dtype)
        # No key of a program can be one that does not fit.
        known = [
            (key, place)
            for place, key in enumerate(self._entries)
            if limits.min <= key <= limits.max
        ]
        if not known:
            return jnp.full(keys.shape, -1, jnp.int32)
        ordered, places = map(list, zip(*sorted(known), strict=True))
        numbers = jnp.asarray(np.array(ordered, keys.dtype))
        at = jnp.clip(jnp.searchsorted(numbers, keys), 0, len(ordered) - 1)
        return jnp.where(numbers[at] == keys, jnp.asarray(places, jnp.int32)[at], -1)

    def _narrowed(self, values: np.ndarray) -> np.ndarray:
        """Gives values the dtype that programs have for them."""
        found = values.astype(jax_dtype(self.value_dtype))
        if self.value_dtype.is_integer and (found != values).any():
            raise ValueError(
                f"{type(self).__name__}.lookup in a step: the value {values[found != values][0]} does not fit {found.dtype}.\n"
                'Fix: jax.config.update("jax_enable_x64", True)'
            )
        return found

    def _checked(self, keys: TensorLike) -> np.ndarray:
        array = host_array(keys, f"{type(self).__name__}: keys")
        given = as_dtype(array.dtype)
        whole = given.is_integer and self.key_dtype.is_integer
        if given.name != self.key_dtype.name and not whole and array.size:
            raise self._wrong_keys(
                f"Dtype of argument `keys` must be {self.key_dtype.name}, received: {given.name}."
            )
        return array


class StaticHashTable(_Table):
    """A table whose entries do not change.

    Args:
        initializer: what it is filled with.
        default_value: the value of keys that are not in the table.

    Raises:
        RuntimeError: a key comes twice, with different values.

    Examples:
        >>> from frontends import tf
        >>> words = tf.lookup.KeyValueTensorInitializer(
        ...     ["fig", "plum"], tf.constant([0, 1], tf.int64)
        ... )
        >>> tf.lookup.StaticHashTable(words, default_value=-1).lookup(["plum", "pear"]).tolist()
        [1, -1]

    Source: `tf.lookup.StaticHashTable`.
    """

    def __init__(
        self,
        initializer: Initializer,
        default_value: TensorLike,
        name: str | None = None,
        experimental_is_anonymous: bool = False,
    ) -> None:
        """Fills the table."""
        super().__init__(initializer.key_dtype, initializer.value_dtype, name)
        self._default = host_array(
            default_value, "StaticHashTable: default_value", self.value_dtype
        ).reshape(())[()]
        self._fill(*initializer.pairs())

    @property
    def default_value(self) -> Any:
        """The value of keys that are not in the table.

        Source: `tf.lookup.StaticHashTable.default_value`.
        """
        return shown(self._default)

    def _found(self, keys: np.ndarray) -> np.ndarray:
        get, default = self._entries.get, self._default
        if not keys.ndim and self.value_dtype.name != "string":
            return np.array(get(keys.item(), default), self.value_dtype.dtype)
        return _array(
            [get(key, default) for key in keys.reshape(-1).tolist()], self.value_dtype
        ).reshape(keys.shape)

    def _in_program(self, keys: Any) -> Any:
        places = self._places(keys)
        values = [*self._entries.values(), self._default]
        if self.value_dtype.name == "string":
            return ClassNames(places % len(values), [value.decode() for value in values])
        found = self._narrowed(_array(values, self.value_dtype))
        return jnp.asarray(found)[places % len(values)]


class StaticVocabularyTable(_Table):
    """A table of the numbers of words, which gives all other words to buckets behind them.

    Args:
        initializer: what it is filled with: words and int64; None for buckets alone.
        num_oov_buckets: how many buckets there are for other words.
        lookup_key_dtype: of the keys that are looked up; integers are looked up by their digits.

    Raises:
        RuntimeError: a word comes twice, with different numbers.
        TypeError: the dtypes are others.
        ValueError: there are no buckets.

    Source: `tf.lookup.StaticVocabularyTable`.
    """

    def __init__(
        self,
        initializer: Initializer | None,
        num_oov_buckets: int,
        lookup_key_dtype: DTypeLike = None,
        name: str | None = None,
        experimental_is_anonymous: bool = False,
    ) -> None:
        """Fills the table."""
        if num_oov_buckets <= 0:
            raise ValueError(
                f"`num_oov_buckets` must be > 0; use StaticHashTable. Received: {num_oov_buckets}"
            )
        key_dtype: Any = "string" if lookup_key_dtype is None else lookup_key_dtype
        if initializer is not None:
            if not initializer.value_dtype.is_integer:
                raise TypeError(
                    f"Invalid `value_dtype`, expected int64 but got {initializer.value_dtype.name}."
                )
            if not (initializer.key_dtype.is_integer or initializer.key_dtype.name == "string"):
                raise TypeError(
                    f"Invalid `key_dtype`, expected integers or string but got {initializer.key_dtype.name}."
                )
            key_dtype = initializer.key_dtype if lookup_key_dtype is None else lookup_key_dtype
            if as_dtype(key_dtype).is_integer != initializer.key_dtype.is_integer:
                kind = "integer" if as_dtype(key_dtype).is_integer else "non-integer"
                raise TypeError(
                    f"Invalid `key_dtype`, expected {kind} but got {initializer.key_dtype.name}."
                )
        super().__init__(key_dtype, "int64", name)
        self._buckets = num_oov_buckets
        if initializer is not None:
            self._fill(*initializer.pairs())

    def size(self, name: str | None = None) -> Any:
        """Returns the number of words and buckets, int64.

        Source: `tf.lookup.StaticVocabularyTable.size`.
        """
        return shown(np.int64(len(self._entries) + self._buckets))

    def _found(self, keys: np.ndarray) -> np.ndarray:
        items = keys.reshape(-1).tolist()
        found = np.array([self._entries.get(key, -1) for key in items], np.int64)
        unknown = np.flatnonzero(found < 0)
        texts = [_as_text(items[place]) for place in unknown]
        buckets = fingerprints(texts) % np.uint64(self._buckets)
        found[unknown] = buckets.astype(np.int64) + len(self._entries)
        return found.reshape(keys.shape)

    def _in_program(self, keys: Any) -> Any:
        places = self._places(keys)
        hashes = keys.fingerprints if isinstance(keys, Texts) else of_decimals(keys)
        values = self._narrowed(np.array([*self._entries.values(), 0], np.int64))
        others = (hashes % self._buckets).astype(values.dtype) + len(self._entries)
        return jnp.where(places < 0, others, jnp.asarray(values)[places])


def _as_text(key: Any) -> bytes:
    return key if isinstance(key, bytes) else str(key).encode()


class _Changing(_Table):
    """A table whose entries change, on the host."""

    _wrong_keys = ValueError

    def __init__(
        self,
        key_dtype: DTypeLike,
        value_dtype: DTypeLike,
        default_value: TensorLike,
        name: str | None,
    ) -> None:
        super().__init__(key_dtype, value_dtype, name)
        self._default = host_array(default_value, "default_value", self.value_dtype)

    def insert(self, keys: TensorLike, values: TensorLike, name: str | None = None) -> None:
        """Sets the values of keys.

        Args:
            keys: an array.
            values: one for each, of the shape of `default_value`.

        Raises:
            ValueError: they do not fit, or the keys have another dtype.

        Source: `tf.lookup.experimental.MutableHashTable.insert`.
        """
        found = self._checked(keys)
        given = host_array(values, "insert: values", self.value_dtype)
        if given.shape != (*found.shape, *self._default.shape):
            raise ValueError(
                f"Expected shape {[*found.shape, *self._default.shape]} for value, got {list(given.shape)}"
            )
        rows = given.reshape(-1, *self._default.shape)
        for key, row in zip(found.reshape(-1).tolist(), rows, strict=True):
            self._insert(key, row)

    def remove(self, keys: TensorLike, name: str | None = None) -> None:
        """Takes keys out; those that are not there do not matter.

        Raises:
            ValueError: they have another dtype.

        Source: `tf.lookup.experimental.MutableHashTable.remove`.
        """
        for key in self._checked(keys).reshape(-1).tolist():
            self._remove(key)

    def _insert(self, key: HostLike, value: HostLike) -> None:
        self._entries[key] = value

    def _remove(self, key: HostLike) -> None:
        self._entries.pop(key, None)

    def export(self, name: str | None = None) -> tuple[Any, Any]:
        """Returns all keys and all values.

        Source: `tf.lookup.experimental.MutableHashTable.export`.
        """
        keys = _array(list(self._entries), self.key_dtype)
        return shown(keys), shown(self._rows(self._entries.values()))

    def _found(self, keys: np.ndarray) -> np.ndarray:
        rows = self._rows(
            self._entries.get(key, self._default) for key in keys.reshape(-1).tolist()
        )
        return rows.reshape((*keys.shape, *self._default.shape))

    def _rows(self, values: Iterable[Any]) -> np.ndarray:
        found = list(values)
        array = np.empty((len(found), *self._default.shape), self._default.dtype)
        for number, value in enumerate(found):
            array[number] = value[()] if isinstance(value, np.ndarray) else value
        return array


class MutableHashTable(_Changing):
    """A table whose entries change.

    Args:
        key_dtype: of the keys.
        value_dtype: of the values.
        default_value: the value of keys that are not in the table; its shape is that of all values.
        checkpoint: accepted; tables are written to no checkpoints here.
        experimental_is_anonymous: accepted.

    Source: `tf.lookup.experimental.MutableHashTable`.
    """

    def __init__(
        self,
        key_dtype: DTypeLike,
        value_dtype: DTypeLike,
        default_value: TensorLike,
        name: str = "MutableHashTable",
        checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ) -> None:
        """Makes an empty table."""
        super().__init__(key_dtype, value_dtype, default_value, name)

    def lookup(
        self, keys: HostLike, dynamic_default_values: TensorLike = None, name: str | None = None
    ) -> Any:
        """Returns the values of keys.

        Args:
            keys: an array, a `tf.RaggedTensor` or a `tf.SparseTensor`.
            dynamic_default_values: the values of keys that are not in the table, one for each key; None means the default.

        Raises:
            ValueError: they have another dtype.

        Source: `tf.lookup.experimental.MutableHashTable.lookup`.
        """
        if dynamic_default_values is None:
            return super().lookup(keys)
        found = self._checked(keys)
        defaults = host_array(dynamic_default_values, "dynamic_default_values", self.value_dtype)
        rows = np.broadcast_to(defaults, (*found.shape, *self._default.shape)).reshape(
            -1, *self._default.shape
        )
        pairs = zip(found.reshape(-1).tolist(), rows, strict=True)
        given = self._rows(self._entries.get(key, row) for key, row in pairs)
        return shown(given.reshape((*found.shape, *self._default.shape)))


class DenseHashTable(_Changing):
    """A table whose entries change, and two of whose keys are reserved.

    Args:
        key_dtype: of the keys.
        value_dtype: of the values.
        default_value: the value of keys that are not in the table; its shape is that of all values.
        empty_key: a key that is never inserted.
        deleted_key: another one.
        initial_num_buckets: accepted; a dict of Python grows by itself.
        checkpoint: accepted; tables are written to no checkpoints here.
        experimental_is_anonymous: accepted.

    Raises:
        ValueError: both keys are the same.

    Source: `tf.lookup.experimental.DenseHashTable`.
    """

    def __init__(
        self,
        key_dtype: DTypeLike,
        value_dtype: DTypeLike,
        default_value: TensorLike,
        empty_key: TensorLike,
        deleted_key: TensorLike,
        initial_num_buckets: int | None = None,
        name: str = "MutableDenseHashTable",
        checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ) -> None:
        """Makes an empty table."""
        super().__init__(key_dtype, value_dtype, default_value, name)
        reserved = [
            host_array(one, "DenseHashTable", key_dtype) for one in (empty_key, deleted_key)
        ]
        self._reserved = [one.reshape(-1)[0] for one in reserved]
        if self._reserved[0] == self._reserved[1]:
            raise ValueError("Empty and deleted keys cannot be equal")

    def insert_or_assign(
        self, keys: TensorLike, values: TensorLike, name: str | None = None
    ) -> None:
        """Sets the values of keys; see `insert`.

        Raises:
            ValueError: they do not fit, or a key is reserved.

        Source: `tf.lookup.experimental.DenseHashTable.insert_or_assign`.
        """
        self.insert(keys, values)

    def erase(self, keys: TensorLike, name: str | None = None) -> None:
        """Takes keys out; see `remove`.

        Raises:
            ValueError: the keys have another dtype, or one is reserved.

        Source: `tf.lookup.experimental.DenseHashTable.erase`.
        """
        self.remove(keys)

    def _checked(self, keys: TensorLike) -> np.ndarray:
        array = super()._checked(keys)
        for kind, reserved in zip(("empty_key", "deleted_key"), self._reserved, strict=True):
            if (array == reserved).any():
                raise ValueError(f"Using the {kind} as a table key is not allowed")
        return array


def _array(values: list[Any], dtype: DType) -> np.ndarray:
    return host_array(values, "a table", dtype)
