"""Which rows go to which replica, and what distributed datasets and iterators can do."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from tests.golden.scenarios.base import MIRRORED, NONE, Case, Setting, scenario

GROUP = "input"


@scenario("input.dist_dataset", GROUP)
def dist_dataset(s: Setting) -> Iterator[Case]:
    def steps(total: int, size: int, drop: bool) -> list:
        dataset = s.tf.data.Dataset.range(total).batch(size, drop_remainder=drop)
        return s.steps(s.strategy.experimental_distribute_dataset(dataset))

    for total in (0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 13, 16):
        for size in (1, 2, 3, 4, 5, 6, 8):
            for drop in (False, True):
                name = f"total={total}/B={size}/drop_remainder={drop}"
                yield name, partial(steps, total, size, drop)


@scenario("input.structures", GROUP)
def structures(s: Setting) -> Iterator[Case]:
    tf = s.tf
    x = np.arange(20, dtype=np.float32).reshape(10, 2) / 4
    y = np.arange(10, dtype=np.int32) * 10
    rows = tf.data.Dataset.from_tensor_slices
    datasets = {
        "tuple": lambda: rows((x, y)),
        "dict": lambda: rows({"x": x, "y": y}),
        "nested": lambda: rows({"a": (x, y), "b": {"c": y}}),
        "string": lambda: rows([f"s{i}" for i in range(10)]),
        "scalar": lambda: rows(y),
        "one_tuple": lambda: rows((y,)),
        "ragged": lambda: rows(tf.ragged.range(tf.range(10))),
    }
    for name, make in datasets.items():

        def distributed(make=make):
            return s.strategy.experimental_distribute_dataset(make().batch(4))

        yield f"{name}/steps", lambda make=distributed: s.steps(make())
        yield f"{name}/element_spec", lambda make=distributed: make().element_spec
        yield (
            f"{name}/element_type",
            lambda make=distributed: [
                isinstance(next(iter(make())), kind) for kind in (tuple, dict)
            ],
        )


def _optionals(s: Setting, iterator, count: int) -> list:
    found = []
    for _ in range(count):
        optional = iterator.get_next_as_optional()
        has_value = bool(optional.has_value().numpy())
        found.append(s.rows(optional.get_value()) if has_value else None)
    return found


@scenario("input.dataset_api", GROUP)
def dataset_api(s: Setting) -> Iterator[Case]:
    tf = s.tf

    def make(drop: bool = False):
        return s.strategy.experimental_distribute_dataset(
            tf.data.Dataset.range(10).batch(4, drop_remainder=drop)
        )

    def count(dataset):
        cardinality = dataset.cardinality
        return int(cardinality() if callable(cardinality) else cardinality)

    d = make()
    it = iter(d)
    yield "is_DistributedDataset", lambda: isinstance(d, tf.distribute.DistributedDataset)
    yield "is_DistributedIterator", lambda: isinstance(it, tf.distribute.DistributedIterator)
    yield "is_Dataset", lambda: isinstance(d, tf.data.Dataset)
    yield "element_spec", lambda: d.element_spec
    yield "element_spec_drop", lambda: make(True).element_spec
    yield "iterator_element_spec", lambda: it.element_spec
    yield "cardinality", lambda: count(d)
    yield "cardinality_drop", lambda: count(make(True))
    yield "len", lambda: len(d)
    yield "bool", lambda: bool(d)
    yield "getitem", lambda: d[0]
    yield "map", lambda: s.steps(d.map(lambda x: x * 2))
    yield "first_pass", lambda: s.steps(d)
    yield "second_pass", lambda: s.steps(d)
    a, b = iter(d), iter(d)
    yield "interleaved", lambda: [s.rows(next(i)) for i in (a, b, a, b)]
    yield "get_next", lambda: [s.rows(it.get_next()) for _ in range(3)]
    yield "next_after_end", lambda: next(it)
    yield "next_after_end_again", lambda: next(it)
    yield "next_default", lambda: next(it, "default")
    yield "get_next_after_end", lambda: it.get_next()
    yield "optionals", lambda: _optionals(s, iter(d), 5)
    ended = iter(make(True))
    yield "optionals_drop", lambda: _optionals(s, ended, 3)
    yield "optional_without_value", lambda: ended.get_next_as_optional().get_value()
    pairs = partial(zip, strict=False)
    yield "zip", lambda: [[s.rows(p), s.rows(q)] for p, q in pairs(d, make(True))]
    yield "enumerate", lambda: [[i, s.rows(p)] for i, p in enumerate(d)]

    def total(state, x):
        return state + int(s.strategy.reduce("SUM", x, axis=0))

    yield "reduce_by_hand", lambda: [total(0, x) for x in d]


@scenario("input.unusual", GROUP, MIRRORED)
def unusual(s: Setting) -> Iterator[Case]:
    tf, distribute = s.tf, s.strategy.experimental_distribute_dataset
    of = tf.data.Dataset
    numbers = of.range
    datasets = {
        "unbatched_range6": lambda: numbers(6),
        "batch4_repeat2": lambda: numbers(6).batch(4).repeat(2),
        "repeat2_batch4": lambda: numbers(6).repeat(2).batch(4),
        "batch4_take1": lambda: numbers(10).batch(4).take(1),
        "batch4_skip1": lambda: numbers(10).batch(4).skip(1),
        "batch4_map": lambda: numbers(10).batch(4).map(lambda x: x * 10),
        "batch4_map_reduce": lambda: numbers(10).batch(4).map(lambda x: tf.reduce_sum(x)),
        "batch4_unbatch_batch3": lambda: numbers(10).batch(4).unbatch().batch(3),
        "batch2_batch2": lambda: numbers(10).batch(2).batch(2),
        "padded_batch": lambda: (
            numbers(1, 7).map(lambda i: tf.fill([tf.cast(i % 3 + 1, tf.int32)], i)).padded_batch(4)
        ),
        "ragged": lambda: of.from_tensor_slices(
            tf.ragged.constant([[1], [2, 3], [], [4, 5, 6], [7]])
        ).batch(4),
        "prefetch": lambda: numbers(10).batch(4).prefetch(2),
        "concat": lambda: numbers(5).batch(4).concatenate(numbers(100, 103).batch(4)),
        "cache": lambda: numbers(10).batch(4).cache(),
        "filter": lambda: numbers(16).batch(4).filter(lambda x: tf.reduce_sum(x) > 10),
        "from_tensors": lambda: of.from_tensors(np.arange(6, dtype=np.int32)),
        "from_tensor_slices_2d": lambda: of.from_tensor_slices(
            np.arange(12, dtype=np.int32).reshape(3, 4)
        ),
        "generator": lambda: of.from_generator(
            lambda: iter([[1, 2, 3], [4, 5]]), output_signature=tf.TensorSpec([None], tf.int32)
        ),
        "enumerate": lambda: numbers(8).batch(4).enumerate(),
        "batch_in_map": lambda: numbers(4).map(lambda i: i + tf.range(4, dtype=tf.int64)),
    }
    for name, make in datasets.items():
        yield name, lambda make=make: s.steps(distribute(make()))
    yield "numpy_array", lambda: s.steps(distribute(np.arange(4)))
    yield "list", lambda: s.steps(distribute([1, 2, 3, 4]))
    yield "again", lambda: s.steps(distribute(distribute(numbers(4).batch(4))))
    for policy in ("OFF", "AUTO", "DATA", "FILE", "HINT"):

        def sharded(policy=policy):
            settings = tf.data.Options()
            chosen = tf.data.experimental.AutoShardPolicy[policy]
            settings.experimental_distribute.auto_shard_policy = chosen
            return s.steps(distribute(numbers(10).batch(4).with_options(settings)))

        yield f"autoshard/{policy}", sharded

    def on_devices():
        settings = tf.data.Options()
        settings.experimental_distribute.num_devices = 2
        return s.steps(distribute(numbers(10).batch(4).with_options(settings)))

    yield "num_devices_2", on_devices
    per_replica = {"experimental_replication_mode": tf.distribute.InputReplicationMode.PER_REPLICA}
    options = {
        "fetch_false": {"experimental_fetch_to_device": False},
        "buffer2": {"experimental_per_replica_buffer_size": 2},
        # From here on TensorFlow's strategy makes a pipeline for each replica, without being told.
        "place_on_device": {
            "experimental_fetch_to_device": False,
            "experimental_place_dataset_on_device": True,
            **per_replica,
        },
        "per_replica": per_replica,
    }
    make_options = tf.distribute.InputOptions

    def shard(context):
        of_six = numbers(6).shard(context.num_input_pipelines, context.input_pipeline_id)
        return of_six.batch(2)

    for name, fields in options.items():
        yield (
            f"options/{name}",
            lambda fields=fields: s.steps(distribute(numbers(10).batch(4), make_options(**fields))),
        )
        yield (
            f"options_fn/{name}",
            lambda fields=fields: s.steps(
                s.strategy.distribute_datasets_from_function(shard, make_options(**fields))
            ),
        )


@scenario("input.from_function", GROUP)
def from_function(s: Setting) -> Iterator[Case]:
    tf = s.tf
    make, numbers = s.strategy.distribute_datasets_from_function, tf.data.Dataset.range
    seen: list = []

    def dataset_fn(context):
        seen.append(
            {
                "num_input_pipelines": context.num_input_pipelines,
                "input_pipeline_id": context.input_pipeline_id,
                "num_replicas_in_sync": context.num_replicas_in_sync,
                "str": str(context),
                "per_replica_of_8": context.get_per_replica_batch_size(8),
            }
        )
        return numbers(7).batch(2)

    d = make(dataset_fn)
    yield "calls_after_creation", lambda: len(seen)
    yield "steps", lambda: s.steps(d)
    yield "second_pass", lambda: s.steps(d)
    yield "calls_at_end", lambda: len(seen)
    yield "context", lambda: seen[0]
    yield "element_spec", lambda: d.element_spec
    for total in (0, 1, 2, 3, 4, 5, 6, 8, 9, 12):
        for size in (1, 2, 3):
            for drop in (False, True):

                def steps(total=total, size=size, drop=drop):
                    batched = numbers(total).batch(size, drop_remainder=drop)
                    return s.steps(make(lambda _: batched))

                yield f"total={total}/per_replica={size}/drop_remainder={drop}", steps
    yield "unbatched", lambda: s.steps(make(lambda _: numbers(5)))
    squares = numbers(5).map(lambda i: {"i": i, "sq": i * i}).batch(2)
    yield "dict", lambda: s.steps(make(lambda _: squares))
    yield "not_dataset", lambda: s.steps(make(lambda _: [1, 2]))
    yield "raises", lambda: make(lambda _: 1 / 0)

    def shard(c):
        part = numbers(8).shard(c.num_input_pipelines, c.input_pipeline_id)
        return part.batch(c.get_per_replica_batch_size(4))

    yield "sharded", lambda: s.steps(make(shard))
    yield "optionals", lambda: _optionals(s, iter(d), 6)
    old = s.strategy.experimental_distribute_datasets_from_function
    yield "old_name", lambda: s.steps(old(lambda _: numbers(4).batch(2)))


@scenario("input.context", GROUP, NONE)
def input_context(s: Setting) -> Iterator[Case]:
    make = s.tf.distribute.InputContext
    value = s.tf.distribute.experimental.ValueContext

    def fields(c) -> list:
        return [c.num_input_pipelines, c.input_pipeline_id, c.num_replicas_in_sync, str(c)]

    made = make(num_input_pipelines=2, input_pipeline_id=1, num_replicas_in_sync=4)
    yield "default", lambda: fields(make())
    yield "made", lambda: fields(made)
    for n in (1, 2, 4):
        for size in (0, 1, 2, 3, 4, 6, 7, 8, 10, -4):
            name = f"n={n}/B={size}"
            yield name, partial(make(1, 0, n).get_per_replica_batch_size, size)
    yield "float", lambda: made.get_per_replica_batch_size(8.0)
    yield "set_field", lambda: setattr(made, "num_replicas_in_sync", 3)
    yield (
        "ValueContext",
        lambda: [value().replica_id_in_sync_group, value().num_replicas_in_sync],
    )
    yield (
        "ValueContext_made",
        lambda: [value(1, 4).replica_id_in_sync_group, value(1, 4).num_replicas_in_sync],
    )
