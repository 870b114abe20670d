"""`tf.keras.layers.StringLookup`, `IntegerLookup` and `Hashing`, which Keras 3 has on TensorFlow only.

Devices hold no text: what takes strings runs on the host, in NumPy, as in the map function of a dataset or before a
model is called. Lookups of integers are programs like any other layer.
"""

import collections
import itertools
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import keras
import numpy as np

from frontends.tf import _text_hashes
from frontends.tf.data.host_arrays import host_array, shown
from frontends.tf.data.host_tensors import as_tensors
from frontends.tf.data.tracing import in_map_on_host
from frontends.tf.feature_column import Texts
from frontends.tf.feature_column.vocabulary_table import TextTable
from frontends.tf.ragged.ragged_tensor import RaggedTensor

# A token that is counted nowhere.
_DROPPED = -2
# How bytes that are no UTF-8 are kept in tokens.
_INVALID = "surrogateescape"
_MODES = {"binary": "multi_hot", "tf-idf": "tf_idf"}
_ENCODED = ("one_hot", "multi_hot", "count", "tf_idf")

_register = keras.saving.register_keras_serializable("jaxtribute")


class _Seen:
    """Counts the tokens of documents; Keras tracks lists and dictionaries, and would replace counters."""

    def __init__(self) -> None:
        self.counts: collections.Counter[Any] = collections.Counter()
        self.documents: collections.Counter[Any] = collections.Counter()
        self.num_documents = 0

    def add_all(self, documents: Sequence[Sequence[Any]], *, each: bool) -> None:
        """Counts the tokens of documents.

        Args:
            documents: the tokens of each.
            each: whether to count as well in how many documents a token is.
        """
        self.counts.update(itertools.chain.from_iterable(documents))
        self.num_documents += len(documents)
        if each:
            for document in documents:
                self.documents.update(set(document))

    def decoded(self, token_of: Callable[[Any], Any]) -> collections.Counter[Any]:
        """Makes text of tokens that are bytes, and returns how often each was seen."""
        self.counts, self.documents = (
            collections.Counter({token_of(token): n for token, n in seen.items()})
            for seen in (self.counts, self.documents)
        )
        return self.counts


class TextLayer(keras.layers.Layer):
    """A layer that takes texts, which Keras converts to no tensors."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._convert_input_args = False
        self._allow_non_tensor_positional_args = True

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the layer; on an element of a dataset without what Keras does around each call."""
        if in_map_on_host() and len(args) == 1 and not kwargs:
            return self.call(args[0])
        return super().__call__(*args, **kwargs)

    def call(self, inputs: Any) -> Any:
        """Returns what the layer makes of texts."""
        raise NotImplementedError


class _Encoding(TextLayer):
    """Makes indices of tokens, and encodes them.

    Attributes:
        output_mode: what becomes of the indices.
    """

    output_mode: str

    def __init__(self, output_mode: str, sparse: bool, modes: Sequence[str], name: Any) -> None:
        super().__init__(name=name, trainable=False)
        self.output_mode = _MODES.get(output_mode, output_mode)
        if self.output_mode not in modes:
            raise ValueError(
                f"{type(self).__name__} got output_mode={output_mode!r}, but expected one of {', '.join(modes)}."
            )
        if sparse:
            raise ValueError(
                f"{type(self).__name__} got sparse=True, but XLA needs dense arrays. Leave it out: the result has the "
                "same values."
            )

    def depth(self) -> int:
        """Returns how wide encoded results are."""
        raise NotImplementedError

    def _encoded(self, indices: Any, weights: Any = 1.0) -> Any:
        if self.output_mode == "int":
            return as_given(indices)
        if indices.ndim == 0 or (self.output_mode == "one_hot" and indices.shape[-1] != 1):
            indices = indices[..., None]
        if isinstance(indices, np.ndarray):
            outer, width = indices.shape[:-1], indices.shape[-1]
            lengths = np.full(int(np.prod(outer)), width)
            found = self._encoded_rows(indices.reshape(-1), lengths, weights)
            return found.reshape(*outer, self.depth())
        hot = indices[..., None] == np.arange(self.depth())
        hot = hot.sum(-2) if self.output_mode in ("count", "tf_idf") else hot.any(-2)
        return jnp.asarray(hot, keras.config.floatx()) * weights

    def _encoded_rows(self, indices: np.ndarray, lengths: np.ndarray, weights: Any = 1.0) -> Any:
        """Encodes rows of indices, which follow each other and have these lengths."""
        depth, count = self.depth(), len(lengths)
        places = np.repeat(np.arange(count), lengths) * depth + indices
        found = np.bincount(places[indices >= 0], minlength=count * depth).reshape(count, depth)
        if self.output_mode not in ("count", "tf_idf"):
            found = found > 0
        return as_given(found.astype(keras.config.floatx()) * weights)

    def compute_output_shape(self, input_shape: Sequence[int | None]) -> tuple[int | None, ...]:
        """Returns the shape of the result."""
        shape = shape_of_texts(input_shape)
        if self.output_mode == "int":
            return shape
        if self.output_mode == "one_hot" and not (shape and shape[-1] == 1):
            return (*shape, self.depth())
        return (*shape[:-1], self.depth())

    def compute_output_spec(self, inputs: Any) -> keras.KerasTensor:
        """Returns shape and dtype of the result."""
        dtype = "int64" if self.output_mode == "int" else keras.config.floatx()
        return keras.KerasTensor(self.compute_output_shape(inputs.shape), dtype)


class _Lookup(_Encoding):
    """Finds tokens in a vocabulary.

    Attributes:
        dtype_of_tokens: `str` or `int`.
    """

    dtype_of_tokens: ClassVar[type]

    def __init__(
        self,
        max_tokens: int | None,
        num_oov_indices: int,
        mask_token: Any,
        oov_token: Any,
        vocabulary: Any,
        idf_weights: Any,
        invert: bool,
        output_mode: str,
        sparse: bool,
        pad_to_max_tokens: bool,
        name: str | None,
    ) -> None:
        super().__init__(output_mode, sparse, ("int", *_ENCODED), name)
        if max_tokens is not None and max_tokens <= 1:
            raise ValueError(f"max_tokens must be greater than 1, but it is {max_tokens}.")
        if pad_to_max_tokens and max_tokens is None:
            raise ValueError("pad_to_max_tokens needs max_tokens: set it.")
        if num_oov_indices < 0:
            raise ValueError(f"num_oov_indices must not be negative, but it is {num_oov_indices}.")
        if invert and self.output_mode != "int":
            raise ValueError(f"invert needs output_mode='int', but that is {output_mode!r}.")
        self.max_tokens, self.num_oov_indices = max_tokens, num_oov_indices
        self.mask_token, self.oov_token = mask_token, oov_token
        self.invert, self.pad_to_max_tokens = invert, pad_to_max_tokens
        self._tokens: Any = None
        self._index_of: Callable[..., Any] | None = None
        self._idf_weights: Any = None
        self.reset_state()
        if vocabulary is not None:
            self.set_vocabulary(vocabulary, idf_weights)

    @property
    def _oov_start(self) -> int:
        return int(self.mask_token is not None and self.output_mode == "int")

    @property
    def _token_start(self) -> int:
        return self._oov_start + self.num_oov_indices

    def set_vocabulary(self, vocabulary: Any, idf_weights: Any = None) -> None:
        """Sets the vocabulary.

        Args:
            vocabulary: the tokens, with or without the special ones before them; or the path of a file with one in each
                line.
            idf_weights: of the tokens, for `output_mode="tf_idf"`.

        Raises:
            ValueError: a token occurs twice; there are more than `max_tokens`; or the weights do not fit.
        """
        if isinstance(vocabulary, str | Path):
            vocabulary = Path(vocabulary).read_text().splitlines()
        given = [self._token(token) for token in np.asarray(vocabulary).tolist()]
        special = [self.mask_token] * self._oov_start + [self.oov_token] * self.num_oov_indices
        has_special = bool(special) and given[: len(special)] == special
        tokens = given[len(special) :] if has_special else given
        if not tokens:
            raise ValueError("The vocabulary is empty. Pass its tokens, or call adapt(data).")
        repeated = [token for token, n in collections.Counter(tokens).items() if n > 1]
        if repeated:
            raise ValueError(f"The vocabulary has repeated terms: {repeated[:10]}. Pass each once.")
        reserved = [self.mask_token] + [self.oov_token] * self.invert
        if misplaced := [token for token in reserved if token is not None and token in tokens]:
            raise ValueError(
                f"The vocabulary has the reserved tokens {misplaced} among the others. Leave them out, or begin it with "
                f"{special}."
            )
        if self.max_tokens is not None and self._token_start + len(tokens) > self.max_tokens:
            raise ValueError(
                f"The vocabulary has {self._token_start + len(tokens)} tokens, the special ones included, but max_tokens is "
                f"{self.max_tokens}."
            )
        if (idf_weights is not None) != (self.output_mode == "tf_idf"):
            raise ValueError(
                "idf_weights are needed with output_mode='tf_idf', and only there, but it is "
                f"{self.output_mode!r}."
            )
        self._set_tokens(tokens)
        if idf_weights is not None:
            weights = np.asarray(idf_weights, keras.config.floatx())
            if weights.shape != (len(given),):
                raise ValueError(
                    f"idf_weights must have the shape {(len(given),)}, that of the vocabulary, but it is {weights.shape}."
                )
            self._set_weights(weights[len(special) :] if has_special else weights)
            if has_special:
                self._idf_weights[: len(special)] = weights[: len(special)]

    def _token(self, token: Any) -> Any:
        if isinstance(token, bytes):
            return token.decode(errors=_INVALID)
        return self.dtype_of_tokens(token)

    def _set_tokens(self, tokens: Sequence[Any]) -> None:
        self._tokens = np.array(tokens)
        self._index_of = None
        order = np.argsort(self._tokens, kind="stable")
        self._sorted, self._places = self._tokens[order], order + self._token_start

    def _set_weights(self, weights: Any) -> None:
        # Nobody knows in how many documents other tokens are.
        front = np.full(self._token_start, weights.mean(), weights.dtype)
        self._idf_weights = np.zeros(self.depth(), weights.dtype)
        self._idf_weights[: self.vocabulary_size()] = np.concatenate([front, weights])

    def vocabulary_size(self) -> int:
        """Returns the number of tokens, the special ones included."""
        return self._token_start + (0 if self._tokens is None else len(self._tokens))

    def get_vocabulary(self, include_special_tokens: bool = True) -> list[Any]:
        """Returns the tokens, in the order of their indices."""
        tokens = [] if self._tokens is None else self._tokens.tolist()
        if not include_special_tokens:
            return tokens
        return (
            [self.mask_token] * self._oov_start + [self.oov_token] * self.num_oov_indices + tokens
        )

    def adapt(self, data: Any, batch_size: int | None = None, steps: int | None = None) -> None:
        """Makes the vocabulary of tokens, those that occur most often first.

        Args:
            data: a dataset of batches, an array, or a list.
            batch_size: without effect.
            steps: how many batches of a dataset to read; None reads all.
        """
        self.reset_state()
        if isinstance(data, np.ndarray | list | tuple) or keras.ops.is_tensor(data):
            array = np.asarray(data)
            self.update_state(array[:, None] if array.ndim == 1 else array)
        else:
            for batch, _ in zip(data, range(steps) if steps else iter(int, 1), strict=False):
                self.update_state(batch)
        self.finalize_state()

    def reset_state(self) -> None:
        """Forgets the tokens that `update_state` counted."""
        self._seen = _Seen()

    def update_state(self, data: Any) -> None:
        """Counts the tokens of a batch, whose rows are documents."""
        array = self._as_tokens(data)
        rows = array.reshape(1, -1) if array.ndim < 2 else array.reshape(len(array), -1)
        self.count(rows.tolist())

    def count(self, documents: Sequence[Sequence[Any]]) -> None:
        """Counts the tokens of documents, which may be bytes."""
        self._seen.add_all(documents, each=self.output_mode == "tf_idf")

    def finalize_state(self) -> None:
        """Makes the vocabulary of what was counted."""
        counts = self._seen.decoded(self._token)
        for token in (self.mask_token, self.oov_token):
            counts.pop(token, None)
        if not counts:
            return
        tokens = sorted(counts, key=lambda token: (counts[token], token), reverse=True)
        if self.max_tokens is not None:
            tokens = tokens[: self.max_tokens - self._token_start]
        self._set_tokens(tokens)
        if self.output_mode == "tf_idf":
            found = np.array([self._seen.documents[token] for token in tokens])
            weights = np.log(1 + self._seen.num_documents / (1 + found))
            self._set_weights(weights.astype(keras.config.floatx()))
        self.reset_state()

    def call(self, inputs: Any) -> Any:
        """Returns the indices of tokens, encoded; with `invert`, the tokens of indices."""
        self._check_vocabulary(self.name)
        if isinstance(inputs, RaggedTensor):
            return inputs.with_flat_values(self.call(inputs.flat_values))
        if self.invert:
            return self._tokens_of(inputs)
        return self.encoded(self._indices(self._as_tokens(inputs)))

    def encoded(self, indices: Any) -> Any:
        """Encodes an array of indices, of which each row of the last axis becomes a vector."""
        return self._encoded(indices, self._weights())

    def encoded_rows(self, indices: np.ndarray, lengths: np.ndarray) -> Any:
        """Encodes rows of indices of different lengths.

        Args:
            indices: of all rows.
            lengths: of each row.
        """
        return self._encoded_rows(indices, lengths, self._weights())

    def _weights(self) -> Any:
        return self._idf_weights if self.output_mode == "tf_idf" else 1.0

    def _check_vocabulary(self, name: str) -> None:
        if self._tokens is None:
            raise RuntimeError(
                f"The layer {name} has no vocabulary yet. Call layer.adapt(data) first, or make it with "
                "vocabulary=tokens."
            )

    def _as_tokens(self, inputs: Any) -> Any:
        raise NotImplementedError

    def _oov_index(self, tokens: Any) -> Any:
        """Returns which of the indices for unknown tokens is theirs."""
        raise NotImplementedError

    def _indices(self, tokens: Any) -> Any:
        numpy: Any = np if isinstance(tokens, np.ndarray) else jnp
        at = numpy.searchsorted(self._sorted, tokens).clip(0, len(self._sorted) - 1)
        known = numpy.asarray(self._sorted)[at] == tokens
        is_mask = numpy.zeros(tokens.shape, bool)
        if self.mask_token is not None:
            is_mask = tokens == numpy.asarray(self.mask_token)
        if self.num_oov_indices == 0:
            self._check_known(tokens, known | is_mask)
            other = 0
        elif self.num_oov_indices == 1:
            other = self._oov_start
        else:
            other = self._oov_start + self._oov_index(tokens)
        indices = numpy.where(known, numpy.asarray(self._places)[at], other)
        return numpy.where(is_mask, 0 if self.output_mode == "int" else _DROPPED, indices)

    def _check_known(self, tokens: Any, known: Any) -> None:
        if isinstance(tokens, np.ndarray) and not known.all():
            raise ValueError(
                f"The layer {self.name} has no index for tokens that are not in its vocabulary, but got "
                f"{np.unique(tokens[~known])[:10].tolist()}. Set num_oov_indices=1, or add them to the vocabulary."
            )

    def _tokens_of(self, indices: Any) -> Any:
        table = np.array([*self.get_vocabulary(), self.oov_token])
        if self._oov_start:
            table[0] = self.mask_token
        if self.dtype_of_tokens is int:
            indices, table = jnp.asarray(indices), jnp.asarray(table)
        else:
            indices = np.asarray(indices)
        exists = (indices >= 0) & (indices < len(table) - 1)
        if self.dtype_of_tokens is int:
            return table[jnp.where(exists, indices, -1)]
        return shown(host_array(table[np.where(exists, indices, -1)], self.name))

    def depth(self) -> int:
        padded = self.max_tokens if self.pad_to_max_tokens else None
        return padded or self.vocabulary_size()

    def compute_output_spec(self, inputs: Any) -> keras.KerasTensor:
        """Returns shape and dtype of the result."""
        if self.invert:
            return keras.KerasTensor(
                inputs.shape, "string" if self.dtype_of_tokens is str else "int64"
            )
        return super().compute_output_spec(inputs)

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments that make such a layer, with its vocabulary."""
        weights = self._idf_weights
        return {
            "name": self.name,
            "max_tokens": self.max_tokens,
            "num_oov_indices": self.num_oov_indices,
            "mask_token": self.mask_token,
            "oov_token": self.oov_token,
            "vocabulary": None if self._tokens is None else self.get_vocabulary(),
            "idf_weights": None if weights is None else weights[: self.vocabulary_size()].tolist(),
            "invert": self.invert,
            "output_mode": self.output_mode,
            "pad_to_max_tokens": self.pad_to_max_tokens,
        }


@_register
class StringLookup(_Lookup):
    """Gives strings their indices in a vocabulary.

    What differs here: it runs on the host, in a map function of a dataset or before a model is called; a compiled step
    holds no strings.

    Examples:
        >>> layer = StringLookup(vocabulary=["a", "b"])
        >>> layer(np.array([["b", "c"]])).tolist(), layer.get_vocabulary()
        ([[2, 0]], ['[UNK]', 'a', 'b'])

    Source: `tf.keras.layers.StringLookup`.
    """

    dtype_of_tokens = str

    def __init__(
        self,
        max_tokens: int | None = None,
        num_oov_indices: int = 1,
        mask_token: str | None = None,
        oov_token: str = "[UNK]",
        vocabulary: Any = None,
        idf_weights: Any = None,
        encoding: str | None = None,
        invert: bool = False,
        output_mode: str = "int",
        sparse: bool = False,
        pad_to_max_tokens: bool = False,
        salt: int | Sequence[int] | None = None,
        name: str | None = None,
        **kwargs: object,
    ) -> None:
        """Makes the layer.

        Args:
            max_tokens: size of the vocabulary at most, special tokens included.
            num_oov_indices: how many indices tokens share that are not in the vocabulary.
            mask_token: the token whose index is 0; None for none.
            oov_token: what `invert` gives for other indices.
            vocabulary: the tokens, or the path of a file with one in each line; None leaves them to `adapt`.
            idf_weights: of the tokens, for `output_mode="tf_idf"`.
            invert: whether indices become tokens.
            output_mode: `"int"`, `"one_hot"`, `"multi_hot"`, `"count"` or `"tf_idf"`.
            pad_to_max_tokens: whether encoded results are `max_tokens` wide.
            salt: of the hash that chooses among several indices.
            name: of the layer.

        Raises:
            ValueError: an argument does not fit the others.
        """
        self.salt = salt
        super().__init__(
            *(max_tokens, num_oov_indices, mask_token, oov_token, vocabulary, idf_weights, invert),
            *(output_mode, sparse, pad_to_max_tokens, name),
        )

    def _as_tokens(self, inputs: Any) -> Any:
        return inputs if self._finds(inputs) else text_array(inputs)

    def _finds(self, tokens: Any) -> bool:
        """Tells whether these are texts of a program, which it can find by their fingerprints."""
        if not isinstance(tokens, Texts):
            return False
        # A program can raise no error for unknown texts, and knows no other hash of them.
        return self.num_oov_indices == 1 or (self.num_oov_indices > 1 and self.salt is None)

    def _indices(self, tokens: Any) -> Any:
        if not isinstance(tokens, Texts):
            return super()._indices(tokens)
        places = TextTable(self._tokens.tolist()).find(tokens)
        other: Any = self._oov_start
        if self.num_oov_indices > 1:
            other = other + tokens.buckets(self.num_oov_indices)
        indices = jnp.where(places < 0, other, places + self._token_start)
        if self.mask_token is None:
            return indices
        masked = 0 if self.output_mode == "int" else _DROPPED
        return jnp.where(tokens == self.mask_token, masked, indices)

    def _oov_index(self, tokens: Any) -> Any:
        return _text_hashes.buckets(tokens, self.num_oov_indices, self.salt)

    def indices_of(
        self, rows: Sequence[Sequence[bytes]], name: str
    ) -> tuple[np.ndarray, np.ndarray]:
        """Finds the indices of tokens, one after the other, where unknown ones share one index.

        Args:
            rows: the tokens of each row.
            name: of the layer that asks, for the error.

        Returns:
            The indices of all rows, and the length of each.

        Raises:
            RuntimeError: there is no vocabulary.
        """
        self._check_vocabulary(name)
        if self._index_of is None:
            table = {
                token.encode(errors=_INVALID): index
                for index, token in enumerate(self._tokens.tolist(), self._token_start)
            }
            if self.mask_token is not None:
                table[self.mask_token.encode()] = 0 if self.output_mode == "int" else _DROPPED
            self._index_of = table.get  # a dictionary would be Keras's to track
        find, unknown = self._index_of, self._oov_start
        lengths = np.fromiter(map(len, rows), np.int64, len(rows))
        found = [find(token, unknown) for row in rows for token in row]
        return np.array(found, np.int64), lengths

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments that make such a layer, with its vocabulary."""
        return {**super().get_config(), "salt": self.salt}


@_register
class IntegerLookup(_Lookup):
    """Gives integers their indices in a vocabulary.

    Examples:
        >>> layer = IntegerLookup(vocabulary=[12, 36])
        >>> layer(np.array([[36, 7]])).tolist()
        [[2, 0]]

    Source: `tf.keras.layers.IntegerLookup`.
    """

    dtype_of_tokens = int

    def __init__(
        self,
        max_tokens: int | None = None,
        num_oov_indices: int = 1,
        mask_token: int | None = None,
        oov_token: int = -1,
        vocabulary: Any = None,
        vocabulary_dtype: str = "int64",
        idf_weights: Any = None,
        invert: bool = False,
        output_mode: str = "int",
        sparse: bool = False,
        pad_to_max_tokens: bool = False,
        name: str | None = None,
        **kwargs: object,
    ) -> None:
        """Makes the layer; the arguments are those of `StringLookup`."""
        super().__init__(
            *(max_tokens, num_oov_indices, mask_token, oov_token, vocabulary, idf_weights, invert),
            *(output_mode, sparse, pad_to_max_tokens, name),
        )

    def _as_tokens(self, inputs: Any) -> Any:
        return np.asarray(inputs) if isinstance(inputs, list | tuple) else inputs

    def _oov_index(self, tokens: Any) -> Any:
        return tokens % self.num_oov_indices


@_register
class Hashing(_Encoding):
    """Gives strings or integers indices by their hash values, those that TensorFlow gives.

    What differs here: it runs on the host, in a map function of a dataset or before a model is called.

    Examples:
        >>> Hashing(num_bins=3)(np.array([["A"], ["B"]])).tolist()
        [[1], [0]]

    Source: `tf.keras.layers.Hashing`.
    """

    def __init__(
        self,
        num_bins: int,
        mask_value: Any = None,
        salt: int | Sequence[int] | None = None,
        output_mode: str = "int",
        sparse: bool = False,
        name: str | None = None,
        **kwargs: object,
    ) -> None:
        """Makes the layer.

        Args:
            num_bins: how many indices there are, the one of `mask_value` included.
            mask_value: the token whose index is 0; None for none.
            salt: one integer or two, of another hash.
            output_mode: `"int"`, `"one_hot"`, `"multi_hot"` or `"count"`.
            name: of the layer.

        Raises:
            ValueError: there are no bins.
        """
        super().__init__(output_mode, sparse, ("int", *_ENCODED[:-1]), name)
        if num_bins is None or num_bins <= 0:
            raise ValueError(f"num_bins must be positive, but it is {num_bins}.")
        self.num_bins, self.mask_value, self.salt = num_bins, mask_value, salt

    def call(self, inputs: Any) -> Any:
        """Returns the indices of tokens, encoded."""
        if isinstance(inputs, Texts) and self.salt is None:
            return self._encoded(self._buckets(inputs))
        tokens = np.asarray(inputs)
        text = text_array(tokens.astype(str) if tokens.dtype.kind in "iu" else tokens)
        masked = 0 if self.mask_value is None or self.num_bins == 1 else 1
        indices = _text_hashes.buckets(text, self.num_bins - masked, self.salt) + masked
        if self.mask_value is not None:
            indices = np.where(text == str(self.mask_value), 0, indices)
        return self._encoded(indices)

    def _buckets(self, texts: Texts) -> jax.Array:
        """Returns the indices of texts of a program."""
        masked = 0 if self.mask_value is None or self.num_bins == 1 else 1
        indices = texts.buckets(self.num_bins - masked) + masked
        return (
            indices if self.mask_value is None else jnp.where(texts == self.mask_value, 0, indices)
        )

    def depth(self) -> int:
        return self.num_bins

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments that make such a layer."""
        own = {"num_bins": self.num_bins, "mask_value": self.mask_value, "salt": self.salt}
        return {"name": self.name, "output_mode": self.output_mode, **own}


def as_given(result: np.ndarray | jax.Array) -> Any:
    """Returns a result as scripts get it: on an element of a dataset, in host memory."""
    if in_map_on_host():
        return as_tensors(result) if isinstance(result, np.ndarray) else result
    return jnp.asarray(result)


def text_array(values: Any) -> np.ndarray[Any, Any]:
    """Makes an array of text, of strings or bytes.

    Raises:
        TypeError: the values are no text.
    """
    array = np.asarray(values)
    if array.dtype.kind == "O":
        array = np.array(
            [one.decode() if isinstance(one, bytes) else one for one in array.ravel().tolist()]
        ).reshape(array.shape)
    if array.dtype.kind == "S":
        array = np.char.decode(array)
    if array.dtype.kind != "U":
        raise TypeError(
            f"Expected strings, but got an array of {array.dtype}. For integers, use tf.keras.layers.IntegerLookup."
        )
    return array


def convert_inputs(convert: Any, /, self: Any, flat_inputs: Iterable[Any]) -> list[Any]:
    """Wraps `Functional._convert_inputs_to_tensors`: text stays NumPy's, and 64 bits that are off become 32 silently."""
    inputs, dtypes = list(flat_inputs), [str(tensor.dtype) for tensor in self._inputs]
    if not any(dtype in _UNLIKE_KERAS for dtype in dtypes):
        return convert(self, inputs)
    converted: list[Any] = []
    # A dict may have more than the model takes; Keras, too, leaves out what is last.
    for value, dtype, tensor in zip(inputs, dtypes, self._inputs, strict=False):
        if value is None:
            converted.append(value)
        elif dtype == "string" and (isinstance(value, Texts) or str(value.dtype) == "uint32"):
            words = value.words if isinstance(value, Texts) else value  # Keras took it apart
            converted.append(_with_text_rank(_WholeTexts(words), len(tensor.shape)))
        elif dtype == "string":
            converted.append(_with_rank(text_array(value), tuple(tensor.shape)))
        else:
            held = jax.dtypes.canonicalize_dtype(dtype).name
            converted.append(keras.ops.convert_to_tensor(value, dtype=held, sparse=tensor.sparse))
    return converted


def shape_of_texts(shape: Any) -> tuple[int | None, ...]:
    """Returns the shape of an input, also of `Texts`, of which Keras noted the shape of the words."""
    return tuple(shape.words)[:-1] if isinstance(shape, Texts) else tuple(shape)


def build_config(get: Any, /, self: Any) -> Any:
    """Wraps `Layer.get_build_config`: what was built for texts is built by calling it."""
    config = get(self)
    return None if config and any(isinstance(one, Texts) for one in config.values()) else config


def check_structure(check: Any, /, self: Any, inputs: Any, *args: Any, **kwargs: Any) -> None:
    """Wraps `Functional._maybe_warn_inputs_struct_mismatch`: texts, which Keras takes apart, are one input."""
    whole = jax.tree.map(
        lambda leaf: leaf.words if isinstance(leaf, Texts) else leaf,
        inputs,
        is_leaf=lambda node: node is None or isinstance(node, Texts),
    )
    check(self, whole, *args, **kwargs)


# Types of inputs that Keras's own cannot convert, or only with a warning.
_UNLIKE_KERAS = ("string", "int64", "uint64", "float64", "complex128")


class _WholeTexts(Texts):
    """Texts that Keras does not take apart on their way through a graph: it is no pytree."""

    __slots__ = ()


def _with_text_rank(texts: Texts, rank: int) -> Texts:
    """Adds or drops a last axis of size 1, as Keras does with numbers."""
    shape = texts.shape
    if len(shape) == rank - 1:
        return texts.reshape((*shape, 1))
    return texts.reshape(shape[:-1]) if len(shape) == rank + 1 and shape[-1] == 1 else texts


def _with_rank(text: np.ndarray[Any, Any], shape: Sequence[int | None]) -> np.ndarray[Any, Any]:
    """Adds or drops a last axis of size 1, as Keras does with numbers."""
    if text.ndim == len(shape) - 1 and shape[-1] == 1:
        return text[..., None]
    if text.ndim == len(shape) + 1 and text.shape[-1] == 1:
        return text[..., 0]
    return text
