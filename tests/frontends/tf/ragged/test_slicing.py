"""Items of ragged tensors, compared with those of lists."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from frontends import tf

ROWS = st.lists(st.lists(st.integers(-9, 9), max_size=4), min_size=1, max_size=5)


@given(ROWS, st.integers(-5, 5), st.integers(-5, 5), st.sampled_from([-2, -1, 1, 2]))
def test_slices_are_those_of_lists(rows, start, stop, step):
    ragged = tf.RaggedTensor.from_row_lengths(
        np.array([x for row in rows for x in row], int), [len(row) for row in rows]
    )
    assert ragged.to_list() == rows
    assert ragged[start:stop:step].to_list() == rows[start:stop:step]
    assert ragged[:, start:stop:step].to_list() == [row[start:stop:step] for row in rows]


def test_many_new_axes_take_no_more_time_each():
    found = tf.ragged.constant([[1, 2], [3]])[(None,) * 40]
    assert found.ragged_rank == 41
