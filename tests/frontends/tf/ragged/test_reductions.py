"""Reductions of random ragged tensors, against lists; tests/golden compares with TensorFlow."""

from hypothesis import given
from hypothesis import strategies as st

from frontends import tf

DEEP = st.lists(
    st.lists(st.lists(st.integers(-9, 9), max_size=3), max_size=3), min_size=1, max_size=3
)


@given(DEEP)
def test_sums(rows):
    ragged = tf.ragged.constant(rows, dtype=tf.int32, ragged_rank=2)
    assert tf.reduce_sum(ragged, axis=2).to_list() == [[sum(x) for x in row] for row in rows]
    flat = [[sum(x) for x in zip(*_padded(row), strict=True)] for row in rows]
    assert tf.reduce_sum(ragged, axis=1).to_list() == flat
    assert tf.reduce_sum(ragged, axis=[1, 2]).tolist() == [sum(map(sum, row)) for row in rows]


def _padded(row):
    longest = max(map(len, row), default=0)
    return [[*x, *[0] * (longest - len(x))] for x in row]
