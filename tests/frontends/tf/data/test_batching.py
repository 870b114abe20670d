"""`padded_batch` and `rebatch`: the examples of TensorFlow's documentation, dtypes and errors."""

import numpy as np
import pytest

from frontends.tf.data import UNKNOWN_CARDINALITY, Dataset
from frontends.tf.data.spec import TensorSpec


def filled():
    return Dataset.range(1, 5).map(lambda x: np.full([int(x)], x))


def batches(dataset):
    return [batch.tolist() for batch in dataset]


# The expected values stand in the documentation of tf.data.Dataset.padded_batch.
def test_pads_to_the_longest_of_each_batch():
    assert batches(filled().padded_batch(2)) == [
        [[1, 0], [2, 2]],
        [[3, 3, 3, 0], [4, 4, 4, 4]],
    ]


def test_pads_to_a_shape():
    padded = filled().padded_batch(2, padded_shapes=[5])
    assert batches(padded) == [
        [[1, 0, 0, 0, 0], [2, 2, 0, 0, 0]],
        [[3, 3, 3, 0, 0], [4, 4, 4, 4, 0]],
    ]
    assert padded.element_spec.shape == (None, 5)
    full = filled().padded_batch(2, padded_shapes=(5,), drop_remainder=True)
    assert full.element_spec.shape == (2, 5)


def test_pads_with_a_value():
    assert batches(filled().padded_batch(2, padded_shapes=[5], padding_values=-1)) == [
        [[1, -1, -1, -1, -1], [2, 2, -1, -1, -1]],
        [[3, 3, 3, -1, -1], [4, 4, 4, 4, -1]],
    ]


def test_components_have_shapes_and_values_of_their_own():
    pairs = Dataset.zip(filled(), filled())
    (first, _) = list(
        pairs.padded_batch(2, padded_shapes=([None], [None]), padding_values=(-1, 100))
    )
    assert [part.tolist() for part in first] == [[[1, -1], [2, 2]], [[1, 100], [2, 2]]]
    labelled = Dataset.zip({"x": filled(), "y": Dataset.range(4)})
    (batch,) = labelled.padded_batch(4, {"x": [6], "y": []}, {"x": None, "y": None})
    assert batch["x"].shape == (4, 6)
    assert batch["y"].tolist() == [0, 1, 2, 3]
    assert labelled.padded_batch(4, {"x": [-1], "y": []}).element_spec["x"].shape == (None, None)


def test_several_axes_and_a_short_last_batch():
    def generate():
        for rows, columns in [(1, 3), (2, 1), (2, 2)]:
            yield np.ones((rows, columns), np.float32)

    dataset = Dataset.from_generator(
        generate, output_signature=TensorSpec((None, None), np.float32)
    ).padded_batch(2, padding_values=float("nan"))
    first, last = dataset
    assert first.shape == (2, 2, 3)
    assert first.dtype == np.float32
    assert np.isnan(first).sum() == 12 - 5
    assert last.tolist() == [[[1, 1], [1, 1]]]
    assert dataset.element_spec == TensorSpec((None, None, None), np.float32)


def test_arrays_keep_their_sizes_in_the_spec():
    rows = Dataset.from_tensor_slices(np.zeros((5, 3), np.uint8)).padded_batch(2)
    assert rows.element_spec == TensorSpec((None, 3), np.uint8)
    assert [batch.shape for batch in rows] == [(2, 3), (2, 3), (1, 3)]
    assert len(rows) == 3


@pytest.mark.parametrize(
    ("words", "pad"), [([["a"], ["bb", "c"]], ""), ([[b"a"], [b"bb", b"c"]], b"")]
)
def test_text_is_padded_with_empty_text(words, pad):
    (batch,) = Dataset.from_generator(lambda: iter(words)).padded_batch(2)
    assert batch.tolist() == [[words[0][0], pad], words[1]]


def test_long_padding_of_short_text():
    words = [["a"], ["b", "c"]]
    (batch,) = Dataset.from_generator(lambda: iter(words)).padded_batch(2, padding_values="<pad>")
    assert batch.tolist() == [["a", "<pad>"], ["b", "c"]]


def test_what_does_not_fit():
    with pytest.raises(ValueError, match="more than the padded shape"):
        list(filled().padded_batch(2, padded_shapes=[1]))
    with pytest.raises(ValueError, match="as many sizes as the component has axes"):
        list(filled().padded_batch(2, padded_shapes=[None, None]))
    with pytest.raises(TypeError, match=r"cannot be padded with 0\.5"):
        list(filled().padded_batch(2, padding_values=0.5))
    with pytest.raises(TypeError, match="padded_shapes must have the structure"):
        list(Dataset.zip(filled(), filled()).padded_batch(2, padded_shapes=[None]))
    with pytest.raises(ValueError, match="padded_batch: batch_size must be at least 1"):
        filled().padded_batch(0)


def test_rebatch():
    dataset = Dataset.range(8).batch(4)
    # The expected values stand in the documentation of tf.data.Dataset.rebatch.
    assert batches(dataset.rebatch(2)) == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert batches(Dataset.range(16).batch(4).rebatch(6, drop_remainder=True)) == [
        [0, 1, 2, 3, 4, 5],
        [6, 7, 8, 9, 10, 11],
    ]
    assert batches(dataset.rebatch([2, 1, 1])) == [[0, 1], [2], [3], [4, 5], [6], [7]]
    assert batches(dataset.rebatch([3, 4], drop_remainder=True)) == [[0, 1, 2], [3, 4, 5, 6]]
    assert dataset.rebatch(2).cardinality() == UNKNOWN_CARDINALITY
    assert dataset.rebatch(2, drop_remainder=True).element_spec == TensorSpec((2,), np.int64)
    assert dataset.rebatch([2, 1]).element_spec == TensorSpec((None,), np.int64)
    with pytest.raises(ValueError, match="rebatch: batch_size must be at least 1"):
        dataset.rebatch([2, 0])


def test_rebatch_of_a_stream():
    stream = Dataset.from_generator(lambda: iter(range(5))).batch(2)
    assert batches(stream.rebatch(3)) == [[0, 1, 2], [3, 4]]
