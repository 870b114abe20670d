"""Which server holds which part of a variable."""

import numpy as np
import pytest

from spmd.servers import Placement, split_rows


@pytest.mark.parametrize("rows", [1, 2, 7, 64])
@pytest.mark.parametrize("shards", [1, 2, 3, 7])
def test_parts_cover_all_rows_and_differ_by_one_row_at_most(rows, shards):
    parts = split_rows(rows, shards)
    assert [row for start, stop in parts for row in range(start, stop)] == list(range(rows))
    sizes = [stop - start for start, stop in parts]
    assert max(sizes) - min(sizes) <= 1
    assert sizes == sorted(sizes, reverse=True)


def test_the_server_with_the_fewest_bytes_comes_next():
    placement = Placement(3)
    float32 = np.dtype(np.float32)
    servers = [placement.place((rows,), float32, 1)[0].server for rows in (10, 3, 4, 2, 8, 1)]
    assert servers == [0, 1, 2, 1, 2, 1]


def test_parts_of_one_variable_go_to_different_servers():
    placement = Placement(2)
    shards = placement.place((8, 4), np.dtype(np.float32), 2)
    assert [(one.server, one.start, one.stop) for one in shards] == [(0, 0, 4), (1, 4, 8)]
