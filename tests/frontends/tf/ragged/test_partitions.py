"""Where rows begin."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from frontends.tf.ragged import partitions

LENGTHS = st.lists(st.integers(0, 4), max_size=6).map(lambda sizes: np.array(sizes, np.int64))


@given(LENGTHS)
def test_all_say_the_same(lengths):
    splits = partitions.splits_of(lengths)
    assert np.diff(splits).tolist() == lengths.tolist()
    pairs = [(row, place) for row, size in enumerate(lengths) for place in range(size)]
    rows, places = partitions.rows_of(lengths), partitions.places(lengths)
    assert list(zip(rows.tolist(), places.tolist(), strict=True)) == pairs
    assert partitions.coordinates([lengths]).tolist() == [list(pair) for pair in pairs]
