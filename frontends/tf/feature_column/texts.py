"""Texts in programs, as their fingerprints.

Devices hold no texts. But all that a feature column asks of a text is which bucket it falls into, and where in a
vocabulary it is, and both its fingerprint of 64 bits tells: a hash bucket is the remainder of that number, and two words of a
vocabulary have never been found to share it. So the host computes the fingerprints of a batch, whatever the columns are, and
the batch travels to the devices as other batches do.
"""

import functools
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf._shaped_texts import ShapedTexts
from frontends.tf._text_hashes import fingerprint
from frontends.tf._typing import Nested, ShapeLike
from frontends.tf.dtypes import DType, as_dtype
from frontends.tf.feature_column.uint64 import UInt64
from spmd.replica import is_text

_WORD = 0xFFFFFFFF
_EMPTY = np.uint32(fingerprint(b"") >> 32), np.uint32(fingerprint(b"") & _WORD)


@jax.tree_util.register_pytree_node_class
class Texts(ShapedTexts):
    """Texts that a program can compare and give to buckets, but not read.

    It is a pytree, so it goes into a step with the batch that has it.

    Attributes:
        words: fingerprints, uint32 of the shape of the texts and a last axis of two: the upper words, and the lower ones. What
            comes behind them on that axis belongs to the layers of a model, which made it of the texts.

    Examples:
        >>> texts = Texts.of(np.array(["a", "b", ""]))
        >>> texts.shape, (texts == "b").tolist(), texts.buckets(3).tolist()
        ((3,), [False, True, False], [0, 1, 2])
    """

    __slots__ = ("words",)

    def __init__(self, words: Any) -> None:
        """Wraps fingerprints."""
        self.words = words

    @classmethod
    def of(cls, values: Any, beside: np.ndarray | None = None) -> "Texts":
        """Makes them of texts in host memory.

        Args:
            values: texts of Python's, bytes (UTF-8), or arrays or lists of them.
            beside: further words of each text, if there are any.
        """
        array = np.asarray(values)
        hashes = [_fingerprint(value) for value in array.ravel().tolist()]
        words = [(one >> 32, one & _WORD) for one in hashes]
        made = np.array(words, np.uint32).reshape(*array.shape, 2)
        if beside is not None:
            made = np.concatenate([made, beside.reshape(*array.shape, -1)], axis=-1)
        return cls(made)

    @property
    def shape(self) -> tuple[int, ...]:
        """Their shape."""
        return tuple(self.words.shape[:-1])

    @property
    def dtype(self) -> DType:
        """`tf.string`."""
        return as_dtype("string")

    @property
    def fingerprints(self) -> UInt64:
        """The fingerprints, FarmHash's."""
        words = jnp.asarray(self.words)
        return UInt64(words[..., 0], words[..., 1])

    def buckets(self, count: int) -> jax.Array:
        """Gives each text to one of `count` buckets, as `tf.strings.to_hash_bucket_fast`."""
        return _remainder(self.fingerprints, count)

    def reshape(self, shape: ShapeLike) -> "Texts":
        """Changes the shape."""
        return type(self)(self.words.reshape(*shape, self.words.shape[-1]))

    def __getitem__(self, index: Any) -> "Texts":
        index = index if isinstance(index, tuple) else (index,)
        return Texts(
            self.words[(*index, ...)] if ... not in index else self.words[(*index, slice(None))]
        )

    def __len__(self) -> int:
        return self.shape[0]

    def __eq__(self, other: object) -> Any:
        words = (other if isinstance(other, Texts) else Texts.of(other)).words
        return (jnp.asarray(self.words)[..., :2] == words[..., :2]).all(-1)

    def __ne__(self, other: object) -> Any:
        return ~(self == other)

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __jax_array__(self) -> jax.Array:
        raise TypeError(
            f"Devices hold numbers and booleans, but these are texts, of the shape {self.shape}. A program can compare them "
            '(texts == "a") and give them to feature columns, such as categorical_column_with_vocabulary_list; for anything '
            "else encode them as numbers in a map of the dataset."
        )

    def __repr__(self) -> str:
        # Keras shows a batch with texts instead of arrays in it.
        known = hasattr(self.words, "shape")
        return f"Texts(shape={self.shape})" if known else f"Texts({self.words})"

    def tree_flatten(self) -> tuple[tuple[Any], None]:
        """Takes it apart for JAX."""
        return (self.words,), None

    @classmethod
    def tree_unflatten(cls, _: None, children: tuple[Any]) -> "Texts":
        """Puts it together again."""
        return cls(*children)


def prepare(
    *components: Nested, beside: Callable[[np.ndarray], np.ndarray | None] | None = None
) -> Nested:
    """Replaces texts by `Texts`, which a compiled step can take.

    Call it on the host, on each batch, before it is put on the devices, as in `dataset.map(tf.feature_column.prepare)`.
    What is no text stays as it is.

    Args:
        *components: of a dataset's element: nested structures of arrays of NumPy.
        beside: returns further words that go with the texts of an array, if there are any.

    Returns:
        The component; a tuple, if there are several.

    Examples:
        >>> prepare({"age": np.array([18, 25]), "fruit": np.array(["fig", "plum"])})
        {'age': array([18, 25]), 'fruit': Texts(shape=(2,))}
    """

    def texts(leaf: Any) -> Texts:
        return Texts.of(leaf, None if beside is None else beside(np.asarray(leaf)))

    return jax.tree.map(
        lambda leaf: texts(leaf) if _holds_text(leaf) else leaf,
        components[0] if len(components) == 1 else components,
        is_leaf=_is_leaf,
    )


def prepared(dataset: Any) -> Any:
    """Has a dataset prepare its batches, if there are texts in them.

    Args:
        dataset: of `tf.data`.
    """
    return dataset.map(prepare) if has_texts(dataset) else dataset


def prepare_beside(*components: Nested) -> tuple[Nested, tuple[Any, ...]]:
    """Replaces texts as `prepare` does, and keeps them beside it.

    Args:
        *components: see `prepare`.

    Returns:
        What `prepare` gives; and the texts, as they were.

    Examples:
        >>> prepare_beside(np.array(["fig", "plum"]))
        (Texts(shape=(2,)), (array(['fig', 'plum'], dtype='<U4'),))
    """
    leaves = jax.tree.leaves(components, is_leaf=_is_leaf)
    return prepare(*components), tuple(leaf for leaf in leaves if _holds_text(leaf))


def has_texts(dataset: Any) -> bool:
    """Tells whether there are texts in a dataset of `tf.data`."""
    specs = jax.tree.leaves(dataset.element_spec)
    return any(as_dtype(spec.dtype).name == "string" for spec in specs)


def _is_leaf(node: Any) -> bool:
    return not isinstance(node, Mapping | tuple | list) or _holds_text(node)


def _holds_text(leaf: Any) -> bool:
    if isinstance(leaf, np.ndarray | np.generic):
        return is_text(np.asarray(leaf))
    if isinstance(leaf, list | tuple):
        return bool(leaf) and all(isinstance(item, str | bytes) for item in leaf)
    return isinstance(leaf, str | bytes)


# Batches have the same words again and again.
@functools.lru_cache(1 << 16)
def _fingerprint(text: str | bytes) -> int:
    return fingerprint(text.encode() if isinstance(text, str) else text)


def is_empty(texts: Texts) -> jax.Array:
    """Tells which texts are empty, which in columns means missing."""
    return _is_empty(texts.fingerprints)


# Compiled as wholes, for code that runs op by op; and traced once for all columns.
@functools.partial(jax.jit, static_argnums=1)
def _remainder(fingerprints: UInt64, count: int) -> jax.Array:
    return fingerprints % count


@jax.jit
def _is_empty(fingerprints: UInt64) -> jax.Array:
    high, low = _EMPTY
    return (fingerprints.high == high) & (fingerprints.low == low)
