"""Functions that do nothing but compute what they return."""

import functools
import math
import random

import jax.numpy as jnp
import numpy as np
import pytest

from frontends import tf
from frontends.tf.data import plain_functions
from frontends.tf.data.plain_functions import outside_of

SCALE = 255.0
MEAN = np.ones(3, np.float32)
SPEC = {"x": tf.io.FixedLenFeature([], tf.string)}
SEEN = []
TABLE = tf.lookup.StaticHashTable(
    tf.lookup.KeyValueTensorInitializer(tf.constant(["a"]), tf.constant([1])), -1
)
VARIABLE = tf.Variable(1.0)
COUNT = 0


def scaled(x):
    return tf.cast(x, tf.float32) / SCALE - MEAN


def parsed(record):
    image = tf.io.parse_single_example(record, SPEC)["x"]
    return scaled(tf.image.random_flip_left_right(tf.io.decode_jpeg(image)))


def in_a_closure(factor):
    return lambda x: np.sqrt(x) * factor + math.pi


def in_a_closure_of_numpy():
    import numpy

    return lambda x: x + numpy.random.rand()


def counted(x):
    global COUNT
    COUNT += 1
    return x


class Augmenter:
    def __call__(self, x):
        return x

    def method(self, x):
        return x


@pytest.mark.parametrize(
    "function",
    [
        scaled,
        parsed,
        in_a_closure(2),
        in_a_closure(jnp.ones(2)),
        functools.partial(lambda x, by: x * by, by=3),
        lambda text: TABLE.lookup(tf.strings.lower(text)),
        lambda x: [scaled(x) for _ in range(2)],
        lambda x: x + tf.random.uniform([]),
    ],
)
def test_plain(function):
    assert outside_of(function) is not None


@pytest.mark.parametrize(
    "function",
    [
        lambda x: SEEN.append(x),
        lambda x: print(x),
        lambda x: tf.print(x),
        counted,
        in_a_closure(SEEN.append),
        in_a_closure(VARIABLE),
        lambda x: VARIABLE + x,
        lambda x: VARIABLE.assign_add(x),
        lambda x: x + random.random(),
        lambda x: x + np.random.rand(),
        lambda x: (lambda: x + np.random.rand())(),
        in_a_closure_of_numpy(),
        lambda x, numpy=np: x + numpy.random.rand(),
        lambda x, *, numpy=np: x + numpy.random.rand(),
        lambda x: np.add.at(MEAN, x, 1),
        lambda x: np.copyto(MEAN, x),
        lambda x: np.add(x, 1, out=MEAN),
        lambda x: tf.io.TFRecordWriter("path").close(),
        lambda x: [x, [SEEN.append]],
        in_a_closure([{"x": SEEN.append}]),
        lambda x: tf.numpy_function(scaled, [x], tf.float32),
        lambda x: input(x),
        Augmenter(),
        Augmenter().method,
        len,
        tf.function(scaled),
        lambda x: unknown_name(x),  # noqa: F821
    ],
)
def test_not_plain(function):
    assert outside_of(function) is None


def test_a_list_may_be_in_itself():
    nested = [1]
    nested.append(nested)
    assert outside_of(lambda x: nested[x]) is not None


def test_texts_of_a_vocabulary_are_not_looked_at_one_by_one(monkeypatch):
    words = {str(number): number for number in range(1000)}
    looked_at = []
    original = plain_functions._Finder.look_at

    def look_at(finder, value):
        looked_at.append(value)
        original(finder, value)

    monkeypatch.setattr(plain_functions._Finder, "look_at", look_at)
    assert outside_of(lambda x: words[x]) is not None
    assert len(looked_at) == 2


def test_items_and_attributes_are_not_assigned_to():
    def item(x):
        x[0] = 1
        return x

    def attribute(x):
        x.shape = (1,)
        return x

    def outer():
        nonlocal calls
        calls += 1

    calls = 0
    assert [outside_of(one) for one in (item, attribute, outer)] == [None] * 3


def test_other_values_are_noticed(monkeypatch):
    outside = outside_of(parsed)
    assert outside.is_current()
    monkeypatch.setattr(f"{__name__}.SCALE", 1.0)
    assert not outside.is_current()
    assert outside.modules == {__name__}
