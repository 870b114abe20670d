"""Layers that give strings and integers indices: vocabularies, special tokens, hashes, and how indices are encoded."""

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.golden.scenarios.base import NONE, Case, Setting, scenario

GROUP = "lookups"
WORDS = ["pear", "plum", "fig"]
TEXT = [["fig", "pear", "sloe"], ["plum", "plum", ""]]
NUMBERS = [[12, 36, 7], [36, 36, 0]]
ENCODED = ("one_hot", "multi_hot", "count")
# Longer and longer: the hash of a string depends on its length in several ways.
LENGTHS = [["x" * size + "é" * (size % 3) for size in (0, 1, 3, 4, 8, 15, 16, 17)]]
LENGTHS += [["ab" * size for size in (12, 16, 17, 30, 32, 33, 64, 100)]]


def _text(tf: Any, values: Any) -> Any:
    # Ours keeps text in NumPy's arrays.
    return tf.constant(values) if hasattr(tf.compat.v1, "Session") else np.array(values)


def _shown(values: Any, mode: str) -> Any:
    """Takes one row, where Keras 2 encodes no more."""
    return values[0] if mode == "one_hot" else values


def _strings(tf: Any, **kwargs: Any) -> Any:
    layer = tf.keras.layers.StringLookup(vocabulary=WORDS, **kwargs)
    result = np.asarray(layer(_text(tf, _shown(TEXT, layer.output_mode))))
    return {"result": result, "all": layer.get_vocabulary(), "size": layer.vocabulary_size()}


@scenario("lookups.strings", GROUP, NONE)
def strings(s: Setting) -> Iterator[Case]:
    """Indices of strings."""
    make = functools.partial(functools.partial, _strings, s.tf)
    yield "plain", make()
    yield "masked", make(mask_token="")
    yield "several_unknown", make(num_oov_indices=3)
    yield "several_unknown_and_masked", make(num_oov_indices=2, mask_token="")
    yield "none_unknown", make(num_oov_indices=0)
    yield "repeated", lambda: s.tf.keras.layers.StringLookup(vocabulary=["a", "b", "a"])
    yield "too_many", lambda: s.tf.keras.layers.StringLookup(max_tokens=3, vocabulary=WORDS)
    for mode in ENCODED:
        yield mode, make(output_mode=mode)
        yield f"{mode}_masked", make(output_mode=mode, mask_token="")
        yield f"{mode}_padded", make(output_mode=mode, pad_to_max_tokens=True, max_tokens=6)
    yield "tf_idf", make(output_mode="tf_idf", idf_weights=[0.5, 0.25, 2.0])

    def inverse() -> Any:
        layer = s.tf.keras.layers.StringLookup(vocabulary=WORDS, invert=True)
        found = layer(np.array([[1, 3], [0, 2]]))
        return [
            [str(x if isinstance(x, str) else x.decode()) for x in row] for row in np.array(found)
        ]

    yield "inverse", inverse

    def with_special() -> Any:
        words = ["", "[UNK]", *WORDS]
        layer = s.tf.keras.layers.StringLookup(vocabulary=words, mask_token="")
        return [np.asarray(layer(_text(s.tf, TEXT))), layer.get_vocabulary(False)]

    yield "with_special", with_special


@scenario("lookups.integers", GROUP, NONE)
def integers(s: Setting) -> Iterator[Case]:
    """Indices of integers."""

    def found(**kwargs: Any) -> Any:
        layer = s.tf.keras.layers.IntegerLookup(vocabulary=[12, 36], **kwargs)
        result = np.asarray(layer(np.array(_shown(NUMBERS, layer.output_mode))))
        return {"result": result, "all": [int(one) for one in layer.get_vocabulary()]}

    yield "plain", found
    yield "masked", functools.partial(found, mask_token=0)
    yield "several_unknown", functools.partial(found, num_oov_indices=3)
    for mode in ENCODED:
        yield mode, functools.partial(found, output_mode=mode)
    yield "tf_idf", functools.partial(found, output_mode="tf_idf", idf_weights=[0.5, 2.0])
    inverse = s.tf.keras.layers.IntegerLookup(vocabulary=[12, 36], invert=True)
    yield "inverse", lambda: np.asarray(inverse(np.array([[1, 2], [0, 5]])))


@scenario("lookups.adapt", GROUP, NONE)
def adapt(s: Setting) -> Iterator[Case]:
    """Vocabularies that are made of data."""
    tf = s.tf

    def adapted(cls: Any, data: Any, **kwargs: Any) -> Any:
        layer = cls(**kwargs)
        layer.adapt(data)
        shown = _text(tf, TEXT) if cls is tf.keras.layers.StringLookup else np.array(NUMBERS)
        words = [one if isinstance(one, str) else int(one) for one in layer.get_vocabulary()]
        return {"result": np.asarray(layer(shown)), "all": words}

    strings, integers = tf.keras.layers.StringLookup, tf.keras.layers.IntegerLookup
    counted = [["b", "a", "b"], ["c", "a", "fig"]]
    dataset = tf.data.Dataset.from_tensor_slices(counted).batch(1)
    yield "array", functools.partial(adapted, strings, np.array(counted))
    yield "dataset", functools.partial(adapted, strings, dataset)
    yield "at_most", functools.partial(adapted, strings, np.array(counted), max_tokens=3)
    documents = np.array([["b", "a", "pear"], ["c", "a", "fig"]])
    yield "tf_idf", functools.partial(adapted, strings, documents, output_mode="tf_idf")
    yield "integers", functools.partial(adapted, integers, np.array([[7, 36, 7], [36, 7, 1]]))


@scenario("lookups.hashes", GROUP, NONE)
def hashes(s: Setting) -> Iterator[Case]:
    """Indices by hash values."""
    tf = s.tf

    def hashed(values: Any, **kwargs: Any) -> Any:
        return np.asarray(tf.keras.layers.Hashing(**kwargs)(values))

    lengths = _text(tf, LENGTHS)
    yield "strings", functools.partial(hashed, lengths, num_bins=100_000)
    yield "salted", functools.partial(hashed, lengths, num_bins=100_000, salt=133)
    yield "two_salts", functools.partial(hashed, lengths, num_bins=100_000, salt=[133, 137])
    yield "masked", functools.partial(hashed, _text(tf, TEXT), num_bins=3, mask_value="")
    yield "integers", functools.partial(hashed, np.array(NUMBERS), num_bins=5)
    for mode in ENCODED:
        shown = _text(tf, _shown(TEXT, mode))
        yield mode, functools.partial(hashed, shown, num_bins=4, output_mode=mode)


REVIEWS = ["The cat sat!", "  a DOG, a cat\tran ", "", "don't über-eat: über"]


@scenario("lookups.vectorization", GROUP, NONE)
def vectorization(s: Setting) -> Iterator[Case]:
    """Indices and vectors of texts."""
    tf = s.tf
    words = ["cat", "the", "a", "dog", "über", "DOG,", "cat ran"]

    def vectors(values: Any, **kwargs: Any) -> Any:
        layer = tf.keras.layers.TextVectorization(**{"vocabulary": words, **kwargs})
        result = layer(_text(tf, values))
        result = result.to_list() if kwargs.get("ragged") else np.asarray(result)
        return {"result": result, "all": layer.get_vocabulary()}

    make = functools.partial(functools.partial, vectors, REVIEWS)
    yield "plain", make()
    yield "columns", functools.partial(vectors, [[one] for one in REVIEWS])
    yield "wide", functools.partial(vectors, [REVIEWS])
    yield "single", functools.partial(vectors, REVIEWS[1])
    yield "single_padded", functools.partial(vectors, REVIEWS[1], output_sequence_length=7)
    for length in (2, 9):
        yield f"length_{length}", make(output_sequence_length=length)
    for standard in (None, "lower", "strip_punctuation"):
        yield f"standardize_{standard}", make(standardize=standard)
    yield "characters", make(split="character", vocabulary=["a", "t", "ü", " "])
    yield "tokens", functools.partial(vectors, ["cat", "a", "kiwi", ""], split=None)
    tokens = [["cat", "a", "kiwi"], ["", "DOG", "cat"]]
    yield "rows_of_tokens", functools.partial(vectors, tokens, split=None)
    yield "tokens_padded", functools.partial(vectors, tokens, split=None, output_sequence_length=4)
    yield "ngrams", make(ngrams=2)
    yield "ngrams_of_2", make(ngrams=(2,), output_sequence_length=3)
    yield "ragged", make(ragged=True)
    for mode in ("multi_hot", "count"):
        yield mode, make(output_mode=mode)
        yield f"{mode}_padded", make(output_mode=mode, pad_to_max_tokens=True, max_tokens=10)
        yield f"{mode}_ngrams", make(output_mode=mode, ngrams=2)
        yield f"{mode}_tokens", functools.partial(vectors, tokens, split=None, output_mode=mode)
    weights = [0.5, 0.25, 2.0, 1.0, 3.0, 0.125, 1.5]
    yield "tf_idf", make(output_mode="tf_idf", idf_weights=weights)
    yield "with_special", make(vocabulary=["", "[UNK]", *words])
    yield "repeated", make(vocabulary=["a", "a"])
    yield "standardize_unknown", make(standardize="upper")
    yield "length_of_vectors", make(output_mode="count", output_sequence_length=3)

    def shouted(texts: Any) -> Any:
        return tf.strings.regex_replace(tf.strings.lower(texts), "[!,:]", " ")

    yield "functions", make(standardize=shouted, split=lambda x: tf.strings.split(x, "a"))

    def adapted(data: Any, **kwargs: Any) -> Any:
        layer = tf.keras.layers.TextVectorization(**kwargs)
        layer.adapt(data)
        return {"result": np.asarray(layer(_text(tf, REVIEWS))), "all": layer.get_vocabulary()}

    texts = tf.data.Dataset.from_tensor_slices(REVIEWS)
    yield "adapt_array", functools.partial(adapted, np.array(REVIEWS))
    yield "adapt_list", functools.partial(adapted, REVIEWS)
    yield "adapt_batches", functools.partial(adapted, texts.batch(3), max_tokens=5)
    yield "adapt_texts", functools.partial(adapted, texts, output_sequence_length=2)
    yield "adapt_tf_idf", functools.partial(adapted, texts.batch(2), output_mode="tf_idf")
    yield "adapt_count", functools.partial(adapted, np.array(REVIEWS), output_mode="count")
