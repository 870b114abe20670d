"""Optimizers of tables; the recorded results have their numbers and errors."""

from frontends import tf

embedding = tf.tpu.experimental.embedding


def test_equal_ones_are_one_key():
    optimizers = {embedding.Adam(0.1), embedding.Adam(0.1), embedding.Adam(0.2)}
    assert len(optimizers) == 2
    assert embedding.SGD(0.1) != embedding.Adagrad(0.1)
