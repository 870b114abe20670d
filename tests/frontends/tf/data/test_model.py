"""Chains of operations, against lists."""

import itertools
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from frontends.tf.data import Dataset
from frontends.tf.data.base import shuffle_order
from spmd.input.pipeline.shuffling import shuffle_items

# A model is a function that starts a pass: an iterator over numbers, or lists of them (batches).
LIMIT = 60  # what is read of a dataset without end


def each(function, element):
    return [function(x) for x in element] if isinstance(element, list) else function(element)


def mapped(function, model):
    return lambda: (each(function, x) for x in model())


def eager(x):
    return np.asarray(x) * 3 % 97  # a NumPy call, which does not trace


def repeated(model, count):
    for _ in itertools.count() if count is None else range(count):
        empty = True
        for x in model():
            empty = False
            yield x
        if empty:
            return


def shuffled(model, size, seed, reshuffle):
    order = shuffle_order(seed, reshuffle)
    return lambda: shuffle_items(model(), size, order)


def grouped(rows, size, drop):
    while group := list(itertools.islice(rows, size)):
        if len(group) == size or not drop:
            yield group


ANY = st.one_of(
    st.tuples(st.just("take"), st.integers(-1, 12)),
    st.tuples(st.just("skip"), st.integers(0, 6)),
    st.tuples(st.just("shard"), st.integers(1, 3), st.integers(0, 2)),
    st.tuples(st.just("repeat"), st.integers(0, 3)),
    st.tuples(st.just("repeat"), st.none()),
    st.tuples(st.just("shuffle"), st.integers(1, 12), st.integers(0, 9), st.booleans()),
    st.tuples(st.just("concatenate")),
    st.tuples(st.just("cache")),
    st.tuples(st.just("prefetch")),
    st.tuples(st.just("map")),
    st.tuples(st.just("eager")),
)
ROWS = st.one_of(
    ANY,
    st.tuples(st.just("filter")),
    st.tuples(st.just("enumerate"), st.integers(0, 3)),
    st.tuples(st.just("zip"), st.integers(0, 9)),
)
BATCH = st.tuples(st.just("batch"), st.integers(1, 5), st.booleans())
CHAIN = st.tuples(st.lists(ROWS, max_size=4), BATCH, st.lists(ANY, max_size=3), st.booleans())


def apply(op, dataset, model) -> Any:
    """Returns the dataset and the model after `op`."""
    name, *args = op
    if name == "take":
        stop = args[0] if args[0] >= 0 else None
        return dataset.take(*args), lambda: itertools.islice(model(), stop)
    if name == "skip":
        return dataset.skip(*args), lambda: itertools.islice(model(), args[0], None)
    if name == "shard":
        shards, index = args[0], args[1] % args[0]
        after = dataset.shard(shards, index)
        return after, lambda: itertools.islice(model(), index, None, shards)
    if name == "repeat":
        (count,) = args
        most = LIMIT if count is None else None
        after = dataset.repeat(count).take(-1 if most is None else most)
        return after, lambda: itertools.islice(repeated(model, count), most)
    if name == "shuffle":
        size, seed, reshuffle = args
        after = dataset.shuffle(size, seed=seed, reshuffle_each_iteration=reshuffle)
        return after, shuffled(model, size, seed, reshuffle)
    if name == "concatenate":
        more = lambda: itertools.islice(model(), 3)  # noqa: E731
        after = dataset.concatenate(dataset.take(3))
        return after, lambda: (x for part in (model, more) for x in part())
    if name == "cache":
        return dataset.cache(), model
    if name == "prefetch":
        return dataset.prefetch(2), model
    if name == "map":
        return dataset.map(lambda x: (x * 2 + 1) % 97), mapped(lambda x: (x * 2 + 1) % 97, model)
    if name == "eager":
        return dataset.map(eager), mapped(lambda x: x * 3 % 97, model)
    if name == "filter":
        return dataset.filter(lambda x: x % 3 != 0), lambda: (x for x in model() if x % 3)
    if name == "enumerate":
        (start,) = args
        after = dataset.enumerate(start).map(lambda i, x: i + x)
        return after, lambda: (i + x for i, x in enumerate(model(), start))
    if name == "zip":
        (stop,) = args
        after = Dataset.zip(dataset, Dataset.range(stop)).map(lambda x, i: x - i)
        return after, lambda: (x - i for x, i in zip(model(), range(stop), strict=False))
    size, drop = args
    return dataset.batch(size, drop), lambda: grouped(iter(model()), size, drop)


def without_unlike_caches(ops):
    """Drops caches of an order that changes: a stream's keeps the first pass that was completed."""
    changes = False
    for name, *args in ops:
        changes = changes or (name == "shuffle" and args[-1])
        if not (name == "cache" and changes):
            yield name, *args


def sources(size):
    def generate():
        yield from range(size)

    yield Dataset.from_tensor_slices(np.arange(size, dtype=np.int32))
    yield Dataset.from_generator(generate)


@settings(max_examples=50)
@given(st.integers(0, 9), CHAIN)
def test_a_chain_gives_what_lists_give(size, chain):
    before, batch, after, unbatch = chain
    ops = list(without_unlike_caches([*before, batch, *after]))
    for dataset in sources(size):
        model: Any = lambda: iter(range(size))  # noqa: E731
        for op in ops:
            dataset, model = apply(op, dataset, model)
        if unbatch:
            dataset, inner = dataset.unbatch(), model
            model = lambda inner=inner: itertools.chain.from_iterable(inner())  # noqa: E731
        for _ in range(2):  # the second pass: shuffles and caches
            expected = list(model())
            assert [x.tolist() for x in dataset] == expected
            # As in TensorFlow, a dataset of unknown size that is repeated counts as infinite,
            # although it may turn out to be empty.
            if dataset.cardinality() >= 0 and ("repeat", None) not in ops:
                assert len(dataset) == len(expected)
