"""NumPy's old random functions."""

from frontends import tf

draw = tf.experimental.numpy.random


def test_a_seed_repeats_numbers():
    draw.seed(3)
    first = draw.randn(2).tolist()
    draw.seed(3)
    assert draw.randn(2).tolist() == first
    tf.random.set_seed(None)
    assert set(draw.randint(2, 4, [9]).tolist()) <= {2, 3}
    assert draw.uniform(size=[2]).shape == (2,)
