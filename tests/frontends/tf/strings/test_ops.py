"""Functions of texts: what differs from TensorFlow's; tests/golden compares results."""

import numpy as np
import pytest

from frontends import tf


def test_a_text_is_a_tensor():
    text = tf.strings.upper("a")
    assert text.numpy() == b"A"
    assert text == "A"
    assert text != "B"
    assert text in {b"A"}
    assert np.asarray(text).item() == b"A"
    assert np.asarray([text, text]).tolist() == [b"A", b"A"]
    assert tf.constant(["a", "é"]).numpy().tolist() == [b"a", "é".encode()]


def test_a_batch_keeps_its_texts_on_the_host():
    dataset = tf.data.Dataset.from_tensor_slices((["a", "b", "c", "d"], [1, 2, 3, 4])).batch(4)
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    ((texts, numbers),) = strategy.experimental_distribute_dataset(
        dataset.map(lambda text, number: (tf.strings.upper(text), number))
    )
    local = strategy.experimental_local_results
    assert [np.asarray(one).tolist() for one in local(texts)] == [[b"A", b"B"], [b"C", b"D"]]
    assert [one.tolist() for one in local(numbers)] == [[1, 2], [3, 4]]
    found = strategy.run(lambda x: x * 2, (numbers,))
    assert [one.tolist() for one in local(found)] == [[2, 4], [6, 8]]


def test_errors_say_what_does_not_fit():
    with pytest.raises(ValueError, match="same shape"):
        tf.strings.substr(["abc"], [0], 1)
    with pytest.raises(ValueError, match="have different rows"):
        tf.strings.join([tf.ragged.constant([["a"]]), tf.ragged.constant([["a", "b"]])])
    with pytest.raises(ValueError, match="at least 1, got 0"):
        tf.strings.to_hash_bucket_fast("a", 0)


def test_a_text_that_is_no_number_is_named():
    with pytest.raises(ValueError, match=r"tf\.strings\.to_number: .*'1x' is no int32"):
        tf.strings.to_number(["1", "1x"], tf.int32)
