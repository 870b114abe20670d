"""Streams; test_rows.py compares every operation with the same one on rows."""

import numpy as np
import pytest

from spmd.input.pipeline import MapFunction, Sending, array_rows, iterated, ready
from spmd.input.pipeline.stream import Stream


def stream(n=5):
    return array_rows(np.arange(n, dtype=np.int32), n).as_stream()


def test_what_skip_drops_is_never_built():
    built = []

    def build(x):
        built.append(int(x))
        return x if x >= 0 else -x

    form = stream().map(MapFunction(build), 0).skip(3)
    assert list(form.elements()) == [3, 4]
    assert [n for n in built if n < 3] == []


@pytest.mark.parametrize("workers", [0, 2])
def test_map_keeps_the_order(workers):
    form = stream(20).map(MapFunction(lambda x: int(x) * 2), workers)
    assert form.workers == workers
    assert list(form.elements()) == list(range(0, 40, 2))


@pytest.mark.parametrize(("workers", "count"), [(1, 0), (2, 1)])
def test_only_threads_that_may_wait_for_each_other_start_processes(monkeypatch, workers, count):
    asked = []
    monkeypatch.setenv("JAXTRIBUTE_MAP_PROCESSES", "2")
    monkeypatch.setattr("spmd.input.pipeline.processes.shared_workers", asked.append)
    plain = Sending(bytes, lambda: True, int, print)
    form = stream(1).map(MapFunction(lambda x: int(x) * 2, None, plain), workers)
    assert list(form.elements()) == [0]
    assert len(asked) == count


def test_an_endless_stream_is_not_cached():
    form = stream().repeat(None)
    assert form.cache() is form
    assert not form.finite
    assert form.take(3).finite


def test_repeating_nothing_ends():
    assert list(stream().take(0).repeat(None).elements()) == []


def test_specs_follow():
    form = stream().batch(2, True)
    assert form.spec().shape == (2,)
    assert form.unbatch().spec().shape == ()
    assert iterated([1.5], finite=True).batch(2, False).spec().shape == (None,)


def test_what_python_yields_is_not_stable():
    form = ready(lambda: iter([1]), lambda: None, stream().repeat(None))
    assert isinstance(form, Stream)
    assert (form.stable, form.finite) == (False, False)
