"""Calls on several threads: results in order, errors passed on, threads ended."""

import threading

import pytest

from spmd.input.pipeline import parallel


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_order(workers):
    assert list(parallel.map_in_order(lambda x: x * x, range(20), workers)) == [
        x * x for x in range(20)
    ]


def test_reads_a_few_items_ahead():
    pulled = []

    def items():
        for i in range(100):
            pulled.append(i)
            yield i

    read = parallel.map_in_order(lambda x: x, items(), workers=3)
    next(read)
    assert len(pulled) == 4
    read.close()  # pyright: ignore[reportAttributeAccessIssue]


def workers():
    return [one for one in threading.enumerate() if one.name.startswith("spmd-map")]


def test_the_first_error_in_order_surfaces_and_the_threads_end():
    with pytest.raises(ZeroDivisionError):
        list(parallel.map_in_order(lambda x: 1 // (x - 5), range(20), workers=3))
    assert not workers()
