"""The formula that deals rows out to replicas."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spmd.replica.context import BlockMask
from spmd.replica.rows import RowLayout, deal, masks_of_length, share


@pytest.mark.parametrize(
    ("rows", "replicas", "expected"),
    [
        (8, 2, (4, 4)),
        (7, 2, (4, 3)),
        (6, 4, (2, 2, 2, 0)),
        (5, 4, (2, 2, 1, 0)),
        (1, 3, (1, 0, 0)),
    ],
)
def test_first_replicas_are_served_first(
    rows: int, replicas: int, expected: tuple[int, ...]
) -> None:
    assert deal(rows, replicas) == expected


@given(st.integers(1, 60), st.integers(1, 8), st.integers(0, 5))
def test_every_row_once_in_order_then_padding(rows: int, replicas: int, spare: int) -> None:
    layout = RowLayout(deal(rows, replicas), share(rows, replicas) + spare)
    index, mask = layout.row_index, layout.mask
    assert index.shape == mask.shape == (replicas * layout.rows_per_replica,)
    assert index[mask].tolist() == list(range(rows))
    assert set(index[~mask]) <= {rows - 1}
    assert layout.is_identity == mask.all()
    blocks = mask.reshape(replicas, -1)
    assert tuple(blocks.sum(1)) == layout.counts
    # Valid rows come first in a block.
    assert (np.diff(blocks.astype(int), axis=1) <= 0).all()


def test_every_batch_of_as_many_rows_may_own_an_array() -> None:
    masks = [BlockMask(jnp.ones(size, bool), ()) for size in (2, 3, 3)]
    assert masks_of_length(masks, 3) == masks[1:]
    assert masks_of_length(masks, 1) == []
