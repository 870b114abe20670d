"""Closed walks over blocks of chips."""

import itertools

import pytest

from frontends.tf.tpu.rings import ring


@pytest.mark.parametrize("sizes", list(itertools.product((1, 2, 3, 4), repeat=3)))
def test_every_chip_once(sizes):
    x, y, z = sizes
    assert sorted(ring(x, y, z)) == sorted(itertools.product(range(x), range(y), range(z)))
    assert ring(x, y, z)[0] == (0, 0, 0)


@pytest.mark.parametrize("sizes", [(2, 2, 1), (4, 4, 1), (4, 1, 2), (2, 4, 4), (4, 4, 4)])
def test_from_neighbour_to_neighbour(sizes):
    walk = ring(*sizes)
    for one, other in zip(walk, [*walk[1:], walk[0]], strict=True):
        assert sum(abs(a - b) for a, b in zip(one, other, strict=True)) == 1
