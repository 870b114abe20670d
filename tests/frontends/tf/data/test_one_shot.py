"""Iterators of TensorFlow 1: in an `input_fn`, an element stands for all."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf.data.fed_inputs import feeding
from frontends.tf.data.one_shot import input_of

ROWS = np.arange(10, dtype=np.float32).reshape(5, 2)
LABELS = np.arange(5)


def dataset():
    return tf.data.Dataset.from_tensor_slices((ROWS, LABELS)).batch(2)


def shown(elements):
    return tf.nest.map_structure(lambda leaf: np.asarray(leaf).tolist(), list(elements))


def as_it_is():
    return dataset().make_one_shot_iterator().get_next()


def in_another_order():
    features, labels = tf.data.make_one_shot_iterator(dataset()).get_next()
    return {"x": features}, labels


def computed():
    features, labels = tf.compat.v1.data.make_one_shot_iterator(dataset()).get_next()
    features.set_shape([None, 2])
    return {"x": tf.reshape(features, [-1]) + 1}, labels


def without_labels():
    return dataset().make_one_shot_iterator().get_next()[0], None


def of_two():
    rows = tf.data.Dataset.from_tensor_slices(ROWS).batch(2).make_one_shot_iterator()
    labels = tf.data.Dataset.from_tensor_slices(LABELS).batch(2).make_initializable_iterator()
    return {"x": rows.get_next()}, labels.get_next()


def of_a_dict():
    rows = tf.data.Dataset.from_tensor_slices({"x": ROWS, "label": LABELS}).batch(2)
    features = rows.make_one_shot_iterator().get_next()
    labels = features.pop("label")
    return features, labels


def of_texts():
    rows = tf.data.Dataset.from_tensor_slices((["a", "b", "c"], [1, 2, 3])).batch(2)
    names, labels = rows.make_one_shot_iterator().get_next()
    return {"x": names}, labels


@pytest.mark.parametrize(
    ("input_fn", "expected"),
    [
        (as_it_is, dataset()),
        (in_another_order, dataset().map(lambda x, y: ({"x": x}, y))),
        (computed, dataset().map(lambda x, y: ({"x": tf.reshape(x, [-1]) + 1}, y))),
        (without_labels, dataset().map(lambda x, y: x)),
        (of_two, dataset().map(lambda x, y: ({"x": x}, y))),
        (of_a_dict, dataset().map(lambda x, y: ({"x": x}, y))),
        (of_texts, [({"x": ["a", "b"]}, [1, 2]), ({"x": ["c"]}, [3])]),
        (lambda: dataset().skip(1), dataset().skip(1)),
    ],
)
def test_all_elements_are_read(input_fn, expected):
    found = input_of(input_fn)
    assert isinstance(found, tf.data.Dataset)
    assert shown(found) == shown(expected)
    assert shown(found) == shown(expected)


def test_what_takes_no_element_is_left_alone():
    assert input_of(lambda: (1, 2)) == (1, 2)


def test_looking_at_the_first_element_moves_no_shuffle_on():
    def shuffled():
        return tf.data.Dataset.range(20).shuffle(20, seed=3)

    found = input_of(lambda: shuffled().make_one_shot_iterator().get_next())
    assert shown(found) == shown(shuffled())


def test_batches_stay_known_as_batches():
    assert input_of(in_another_order).full_batch_rows == dataset().full_batch_rows == 2


def test_errors():
    def twice():
        iterator = dataset().make_one_shot_iterator()
        return iterator.get_next(), iterator.get_next()

    with pytest.raises(NotImplementedError, match=r"dataset\.batch\(2\)"):
        input_of(twice)
    with pytest.raises(tf.errors.OutOfRangeError, match="is empty"):
        input_of(lambda: dataset().take(0).make_one_shot_iterator().get_next())
    with pytest.raises(RuntimeError, match="for element in dataset"):
        dataset().make_initializable_iterator()


class Feeding(tf.estimator.SessionRunHook):
    """Feeds what an input_fn asks for, as scripts of TensorFlow 1 do."""

    def __init__(self):
        self.initialize = None

    def after_create_session(self, session, coord):
        self.initialize(session)


def fed_by(hook, *, shape=(None, 2)):
    def input_fn():
        rows = tf.placeholder(tf.float32, shape)
        words = tf.placeholder(tf.string, [None])
        pairs = tf.data.Dataset.from_tensor_slices((rows, words))
        iterator = pairs.batch(2).make_initializable_iterator()
        features, found = iterator.get_next()
        hook.initialize = lambda session: session.run(
            iterator.initializer, feed_dict={rows: ROWS, words: np.array(list("abcde"))}
        )
        return features + 1, found

    return input_fn


def test_a_hook_feeds_placeholders():
    hook = Feeding()
    others = [tf.estimator.SessionRunHook(), tf.estimator.StopAtStepHook(1)]
    elements = list(input_of(fed_by(hook), feeding([*others, hook])))
    assert [rows.tolist() for rows, _ in elements] == [
        (ROWS[at : at + 2] + 1).tolist() for at in (0, 2, 4)
    ]
    assert [str(word) for _, words in elements for word in np.asarray(words).astype(str)] == list(
        "abcde"
    )


def test_what_is_fed_has_the_dtype_of_the_placeholder():
    hook = Feeding()

    def input_fn():
        pictures = tf.placeholder(tf.float32, [None])
        iterator = tf.data.Dataset.from_tensors(pictures).make_initializable_iterator()
        hook.initialize = lambda session: session.run(
            iterator.initializer, feed_dict={pictures: np.uint8([200])}
        )
        return iterator.get_next() * 2

    (found,) = input_of(input_fn, feeding([hook]))
    assert (found.tolist(), found.dtype) == ([400], np.float32)


def test_somebody_feeds_placeholders():
    for feed in (None, feeding([tf.estimator.SessionRunHook()])):
        with pytest.raises(RuntimeError, match="2 placeholders, and 0 of them are fed"):
            input_of(fed_by(Feeding()), feed)


def test_elsewhere_it_is_an_iterator():
    iterator = tf.data.make_one_shot_iterator(tf.data.Dataset.range(2))
    assert [iterator.get_next(), iterator.get_next()] == [0, 1]
    with pytest.raises(tf.errors.OutOfRangeError):
        iterator.get_next()
