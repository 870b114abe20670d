"""`tf.keras.layers.TextVectorization`, which Keras 3 has on TensorFlow only.

Texts are in host memory, so the layer runs there, in Python: in the map function of a dataset, or before a model is called.
Bytes are standardized by one translation and split, and a dictionary gives the tokens of a whole batch their indices.
"""

import itertools
import string
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np

from frontends.tf.data.host_arrays import shown, text_array
from frontends.tf.feature_column import Texts
from frontends.tf.keras._lookup import StringLookup, TextLayer, as_given, shape_of_texts
from frontends.tf.keras._text_columns import own_columns
from frontends.tf.ragged.ragged_tensor import RaggedTensor
from frontends.tf.strings import ngrams as joined
from frontends.tf.strings import unicode_split

_UPPER, _LOWER = string.ascii_uppercase.encode(), string.ascii_lowercase.encode()
_SMALL = bytes.maketrans(_UPPER, _LOWER)
# What becomes of the bytes of a text, and which of them go.
_STANDARDS: dict[str | None, tuple[bytes | None, bytes]] = {
    None: (None, b""),
    "lower": (_SMALL, b""),
    "strip_punctuation": (None, string.punctuation.encode()),
    "lower_and_strip_punctuation": (_SMALL, string.punctuation.encode()),
}
_SPLITS = (None, "whitespace", "character")
_MODES = ("int", "one_hot", "multi_hot", "count", "tf_idf")
_PADDING = 0


@keras.saving.register_keras_serializable("jaxtribute")
class TextVectorization(TextLayer):
    """Makes indices, or vectors of counts, of texts.

    What differs here: it runs on the host, in a map function of a dataset or before a model is called; a compiled step
    holds no texts. `fit`, `evaluate` and `predict` run the layers of a model that take its inputs on each batch, before the step.
    Without `output_sequence_length`, each width of a batch is compiled anew. Indices are int64 until a map function returns them.

    Examples:
        >>> layer = TextVectorization(vocabulary=["the", "cat"], output_sequence_length=4)
        >>> layer(["The cat!", "a dog"]).tolist()
        [[2, 3, 0, 0], [1, 1, 0, 0]]

    Source: `tf.keras.layers.TextVectorization`.
    """

    def __init__(
        self,
        max_tokens: int | None = None,
        standardize: str | Callable[[Any], Any] | None = "lower_and_strip_punctuation",
        split: str | Callable[[Any], Any] | None = "whitespace",
        ngrams: int | tuple[int, ...] | None = None,
        output_mode: str = "int",
        output_sequence_length: int | None = None,
        pad_to_max_tokens: bool = False,
        vocabulary: Any = None,
        idf_weights: Any = None,
        sparse: bool = False,
        ragged: bool = False,
        encoding: str = "utf-8",
        name: str | None = None,
        **kwargs: object,
    ) -> None:
        """Makes the layer.

        Args:
            max_tokens: size of the vocabulary at most, those for padding and unknown tokens included.
            standardize: `"lower_and_strip_punctuation"`, `"lower"`, `"strip_punctuation"`, None, or a function of arrays of
                texts, which are bytes, as functions of `tf.strings` take them.
            split: `"whitespace"`, `"character"`, None, or a function of arrays of texts that returns a `tf.RaggedTensor`.
            ngrams: joins up to so many tokens that follow each other, or as many as each number of a tuple says.
            output_mode: `"int"` for indices; `"multi_hot"`, `"count"` or `"tf_idf"` for one vector a text.
            output_sequence_length: how many indices a text gets, if it is given.
            pad_to_max_tokens: whether vectors are `max_tokens` wide.
            vocabulary: the tokens, or the path of a file with one in each line; None leaves them to `adapt`.
            idf_weights: of the tokens, for `output_mode="tf_idf"`.
            sparse: must be False.
            ragged: whether indices are a `tf.RaggedTensor`, which is for the host alone.
            encoding: must be `"utf-8"`.
            name: of the layer.

        Raises:
            ValueError: an argument does not fit the others.
        """
        super().__init__(name=name, trainable=False)
        mode = {"binary": "multi_hot", "tf-idf": "tf_idf"}.get(output_mode, output_mode)
        for what, given, allowed in (
            ("standardize", standardize, tuple(_STANDARDS)),
            ("split", split, _SPLITS),
            ("output_mode", mode, _MODES),
        ):
            if given not in allowed and not (callable(given) and what != "output_mode"):
                raise ValueError(
                    f"TextVectorization: {what} must be one of {', '.join(map(repr, allowed))}"
                    f"{'' if what == 'output_mode' else ', or a function'}; got {given!r}."
                )
        if encoding != "utf-8":
            raise ValueError(
                f"TextVectorization: encoding must be 'utf-8', got {encoding!r}. Decode the texts before."
            )
        if mode != "int" and (output_sequence_length is not None or ragged):
            raise ValueError(
                "TextVectorization: output_sequence_length and ragged are for output_mode='int', and that is "
                f"{output_mode!r}. Leave them out."
            )
        sizes = (ngrams,) if isinstance(ngrams, int) else tuple(ngrams or ())
        if not all(isinstance(one, int) and one > 0 for one in sizes):
            raise ValueError(
                f"TextVectorization: ngrams must be None, an integer or a tuple of them, got {ngrams!r}."
            )
        self.output_mode = mode
        self._standardize, self._split, self._ngrams, self._ragged = (
            standardize,
            split,
            ngrams,
            ragged,
        )
        self._widths = tuple(range(1, ngrams + 1)) if isinstance(ngrams, int) else sizes
        self._length = output_sequence_length
        self._lookup = StringLookup(
            max_tokens=max_tokens,
            mask_token="",
            vocabulary=vocabulary,
            idf_weights=idf_weights,
            output_mode=mode,
            sparse=sparse,
            pad_to_max_tokens=pad_to_max_tokens,
        )

    def adapt(self, data: Any, batch_size: int | None = None, steps: int | None = None) -> None:
        """Makes the vocabulary of the tokens of texts, those that occur most often first.

        Args:
            data: a dataset of texts or of batches of them, an array, or a list.
            batch_size: without effect.
            steps: how many batches of a dataset to read; None reads all.
        """
        self.reset_state()
        if isinstance(data, np.ndarray | list | tuple | RaggedTensor):
            self.update_state(data)
        else:
            for batch in itertools.islice(data, steps):
                self.update_state(batch)
        self.finalize_state()

    def reset_state(self) -> None:
        """Forgets the tokens that `update_state` counted."""
        self._lookup.reset_state()

    def update_state(self, data: Any) -> None:
        """Counts the tokens of texts."""
        rows, _ = self._tokens(data)
        self._lookup.count(rows)

    def finalize_state(self) -> None:
        """Makes the vocabulary of what was counted."""
        self._lookup.finalize_state()

    def set_vocabulary(self, vocabulary: Any, idf_weights: Any = None) -> None:
        """Sets the vocabulary; see `StringLookup.set_vocabulary`."""
        self._lookup.set_vocabulary(vocabulary, idf_weights)

    def get_vocabulary(self, include_special_tokens: bool = True) -> list[str]:
        """Returns the tokens, in the order of their indices."""
        return self._lookup.get_vocabulary(include_special_tokens)

    def vocabulary_size(self) -> int:
        """Returns the number of tokens, the special ones included."""
        return self._lookup.vocabulary_size()

    def call(self, inputs: Any) -> Any:
        """Returns the indices of the texts' tokens, or vectors."""
        if isinstance(inputs, Texts) and (found := own_columns(self, inputs)) is not None:
            if self.output_mode == "int":
                return found.astype(jnp.int32)
            return jax.lax.bitcast_convert_type(found, jnp.float32)
        rows, shape = self._tokens(inputs, self._length)
        flat, lengths = self._lookup.indices_of(rows, self.name)
        if self.output_mode != "int":
            if shape is not None:
                return self._lookup.encoded(flat.reshape(shape))
            return self._lookup.encoded_rows(flat, lengths)
        if shape is not None:
            found = flat.reshape(shape)
            return as_given(found if self._length is None else _fitted(found, self._length))
        if self._ragged:
            return RaggedTensor.from_row_lengths(flat, lengths)
        width = int(lengths.max(initial=0)) if self._length is None else self._length
        found = np.full((len(rows), width), _PADDING, np.int64)
        found[np.arange(width) < lengths[:, None]] = flat
        return as_given(found)

    @property
    def width(self) -> int | None:
        """How many columns the result has; None if the texts decide."""
        return self._length if self.output_mode == "int" else self._lookup.depth()

    def _tokens(
        self, inputs: Any, most: int | None = None
    ) -> tuple[list[list[bytes]], tuple[int, ...] | None]:
        """Takes texts apart.

        Args:
            inputs: texts.
            most: how many tokens of each are needed; None for all.

        Returns:
            The tokens of each text; and the shape of them all, or None for rows of different lengths.
        """
        if isinstance(inputs, RaggedTensor):
            return self._of_rows(inputs.to_list(), most, is_single=False)
        texts = text_array(inputs, "TextVectorization: inputs")
        table, dropped = None, b""
        if callable(self._standardize):
            texts = text_array(self._standardize(shown(texts)), "TextVectorization: standardize(x)")
        else:
            table, dropped = _STANDARDS[self._standardize]
        if self._split is not None and texts.ndim > 1:
            if texts.shape[-1] != 1:
                raise ValueError(
                    "TextVectorization splits texts of shape [texts] or [texts, 1], got "
                    f"{list(texts.shape)}.\nFix: x[:, 0], or split=None for tokens."
                )
            texts = texts[..., 0]
        given: list[bytes] = texts.reshape(-1).tolist()
        if table is not None or dropped:
            given = [text.translate(table, dropped) for text in given]
        if self._split == "whitespace":
            # No more than are needed; what is behind them is one part.
            limit = -1 if most is None or self._widths else most
            rows = [text.split(None, limit) for text in given]
        else:
            array = np.fromiter(given, object, len(given)).reshape(texts.shape)
            parts: Any = array
            if self._split == "character":
                parts = unicode_split(array, "UTF-8")
            elif callable(self._split):
                parts = self._split(shown(array))
            if not isinstance(parts, RaggedTensor) and (self._split is None or texts.ndim):
                return self._of_array(text_array(parts, "TextVectorization: split(x)"))
            rows = parts.to_list() if texts.ndim else [text_array(parts, "split(x)").tolist()]
        return self._of_rows(rows, most, is_single=texts.ndim == 0)

    def _of_rows(
        self, rows: list[list[bytes]], most: int | None, *, is_single: bool
    ) -> tuple[list[list[bytes]], tuple[int, ...] | None]:
        if self._widths:
            rows = [_joined(row, self._widths) for row in rows]
        if most is not None:
            rows = [row[:most] for row in rows]
        return rows, (len(rows[0]),) if is_single else None

    def _of_array(self, array: np.ndarray) -> tuple[list[list[bytes]], tuple[int, ...]]:
        """Takes an array's entries as tokens, and its last axis as the tokens of a text."""
        if self._widths and array.ndim:
            array = text_array(joined(array, list(self._widths)), "TextVectorization: ngrams")
        rows = array.reshape(-1, array.shape[-1]) if array.ndim > 1 else array.reshape(-1, 1)
        return rows.tolist(), array.shape

    def build(self, input_shape: Sequence[int | None] | None = None) -> None:
        """Does nothing: there are no weights."""
        self._lookup.built = self.built = True

    def compute_output_shape(self, input_shape: Sequence[int | None]) -> tuple[int | None, ...]:
        """Returns the shape of the result."""
        return (shape_of_texts(input_shape)[0], self.width)

    def compute_output_spec(self, inputs: Any) -> keras.KerasTensor:
        """Returns shape and dtype of the result."""
        dtype = "int64" if self.output_mode == "int" else keras.config.floatx()
        return keras.KerasTensor(self.compute_output_shape(inputs.shape), dtype)

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments that make such a layer, with its vocabulary."""
        kept = ("max_tokens", "vocabulary", "idf_weights", "pad_to_max_tokens")
        config = self._lookup.get_config()
        return {
            **{key: config[key] for key in kept},
            "name": self.name,
            "standardize": self._standardize,
            "split": self._split,
            "ngrams": self._ngrams,
            "output_mode": self.output_mode,
            "output_sequence_length": self._length,
            "ragged": self._ragged,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> "TextVectorization":
        """Makes the layer of such arguments; functions were saved by name."""
        made = {key: _function(config[key]) for key in ("standardize", "split")}
        sizes = config["ngrams"]
        return cls(**{**config, **made, "ngrams": tuple(sizes) if type(sizes) is list else sizes})


def _function(value: Any) -> Any:
    return keras.saving.deserialize_keras_object(value) if isinstance(value, dict) else value


def _joined(row: list[bytes], widths: Sequence[int]) -> list[bytes]:
    return [
        b" ".join(row[at : at + width]) for width in widths for at in range(len(row) - width + 1)
    ]


def _fitted(indices: np.ndarray, length: int) -> np.ndarray:
    """Cuts the last axis, or fills it up."""
    found = indices[..., :length]
    widths = [(0, 0)] * (found.ndim - 1) + [(0, length - found.shape[-1])]
    return np.pad(found, widths, constant_values=_PADDING)
