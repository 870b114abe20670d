"""`run`, `reduce`, `gather`, local results, what a replica does with the others, `extended`."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from tests.golden.scenarios.base import MIRRORED, NONE, Case, Setting, f32, scenario

GROUP = "run_reduce"
OPS = ("SUM", "MEAN")


@scenario("run.scalar", GROUP)
def run_scalar(s: Setting) -> Iterator[Case]:
    out = s.strategy.run(lambda: s.number() * 10.0 + 1.0)
    yield "result", lambda: out
    yield "local_results", lambda: s.strategy.experimental_local_results(out)


@scenario("run.nested", GROUP)
def run_nested(s: Setting) -> Iterator[Case]:
    tf, run = s.tf, s.strategy.run

    def nested():
        r = s.number()
        return {
            "v": tf.stack([r, r + 0.5]),
            "l": [r * 2.0, {"deep": r * 3.0}],
            "t": (r, None),
            "i": 7,
            "none": None,
        }

    yield "result", lambda: run(nested)
    yield "text", lambda: run(lambda: "abc")
    yield "none", lambda: run(lambda: None)
    yield "pyfloat", lambda: run(lambda: 2.5)
    yield "tuple", lambda: run(lambda: (tf.constant(1.0), tf.constant(2.0)))
    compiled = tf.function(lambda: run(lambda: {"a": s.number() + 1.0, "b": None}))
    yield "in_tf_function", compiled


@scenario("run.args", GROUP)
def run_args(s: Setting) -> Iterator[Case]:
    run = s.strategy.run
    a = s.values([1.0 + r for r in range(s.n)])
    x = s.values([[100.0 * (r + 1), -r] for r in range(s.n)])
    yield (
        "result",
        lambda: run(
            lambda a, b, c, d=None: a + b * c + d["x"],
            args=(a, 2.0, s.tf.constant(3.0)),
            kwargs={"d": {"x": x}},
        ),
    )
    yield "args_not_tuple", lambda: run(lambda a: a + 1.0, args=[a])
    yield "args_bare", lambda: run(lambda a: a + 1.0, args=a)


@scenario("reduce.axis_none", GROUP)
def reduce_axis_none(s: Setting) -> Iterator[Case]:
    inputs = {
        "scalar": [1.5 * r + 1.0 for r in range(s.n)],
        "vector": [[1.0 + r, 2.0 * r, -0.25] for r in range(s.n)],
        "matrix": [[[r + 1.0, 2.0], [0.1 * r, 4.0]] for r in range(s.n)],
    }
    for name, values in inputs.items():
        value = s.values([f32(one) for one in values])
        for op in OPS:
            member = s.tf.distribute.ReduceOp[op]
            yield f"{name}/{op}", partial(s.strategy.reduce, member, value, axis=None)


@scenario("reduce.axis", GROUP)
def reduce_axis(s: Setting) -> Iterator[Case]:
    rows = [[[r + 1.0, 2.0, 3.0 * r], [0.1 * r, 4.0, -1.0]] for r in range(s.n)]
    matrix = s.values([f32(one) for one in rows])
    vector = s.values([f32([1.0 + r, 5.0 * r]) for r in range(s.n)])
    for op in OPS:
        for axis in (0, 1, -1, 2, (0,), [0, 1]):
            thunk = partial(s.strategy.reduce, op, matrix, axis=axis)
            yield f"matrix/{op}/axis={axis}", thunk
        for axis in (0, 1, -1):
            yield f"vector/{op}/axis={axis}", partial(s.strategy.reduce, op, vector, axis=axis)


def _uneven(s: Setting) -> list[np.ndarray]:
    return [f32([[10 * r + i, 10 * r + i + 0.5] for i in range(r + 1)]) for r in range(s.n)]


@scenario("reduce.uneven", GROUP, ("n2",))
def reduce_uneven(s: Setting) -> Iterator[Case]:
    reduce = s.strategy.reduce
    matrix = s.values(_uneven(s))
    vector = s.values([f32(range(r + 1)) for r in range(s.n)])
    for op in OPS:
        for axis in (0, None, 1):
            yield f"{op}/axis={axis}", partial(reduce, op, matrix, axis=axis)
        yield (
            f"{op}/axis=0/tf.function",
            partial(s.tf.function(partial(reduce, op, axis=0)), matrix),
        )
        for axis in (0, None):
            yield f"vector/{op}/axis={axis}", partial(reduce, op, vector, axis=axis)


@scenario("reduce.plain", GROUP)
def reduce_plain(s: Setting) -> Iterator[Case]:
    tf, reduce = s.tf, s.strategy.reduce
    values = {
        "float": 3.0,
        "int": 3,
        "zero": 0.0,
        "tensor": tf.constant(3.0),
        "tensor_int": tf.constant(5),
        "vec": tf.constant([1.0, 2.0, 6.0]),
        "numpy": f32([1.0, 3.0]),
        "list": [1.0, 2.0],
        "dict": {"a": 1.0},
        "none": None,
        "tensor_zero": tf.constant(0.0),
        "variable": s.in_scope(lambda: tf.Variable([1.0, 2.0])),
    }
    for name, value in values.items():
        for op in OPS:
            for axis in (None, 0):
                yield f"{name}/{op}/axis={axis}", partial(reduce, op, value, axis=axis)

    def both() -> tuple:
        return tf.constant(1.0), tf.constant([2.0, 3.0])

    in_dict = s.strategy.run(lambda: dict(zip("ab", both(), strict=True)))
    yield "run_dict/SUM", lambda: reduce("SUM", in_dict, axis=None)
    in_list = s.strategy.run(lambda: list(both()))
    yield "run_list/SUM", lambda: reduce("SUM", in_list, axis=None)
    number = s.strategy.run(lambda: 2.0)
    for op in OPS:
        yield f"run_pyfloat/{op}", partial(reduce, op, number, axis=None)


@scenario("reduce.ops_and_dtypes", GROUP, MIRRORED)
def reduce_ops_and_dtypes(s: Setting) -> Iterator[Case]:
    tf, reduce = s.tf, s.strategy.reduce
    value = s.values([f32(1.0 + 2 * r) for r in range(s.n)])
    for op in ("SUM", "sum", "Mean", "mean", "MEAN", "MAX", "min", "foo", None, 0):
        yield f"op={op!r}", partial(reduce, op, value, axis=None)
    members = tf.distribute.ReduceOp.__members__
    yield "ReduceOp.members", lambda: {name: member.value for name, member in members.items()}
    yield "missing_axis_arg", lambda: reduce("SUM", value)
    kinds = ("int32", "int64", "float16", "bfloat16", "float64", "uint8", "bool", "complex64")
    for kind in kinds:
        typed = s.strategy.experimental_distribute_values_from_function(
            lambda c, kind=kind: tf.cast(
                tf.constant([1, 2 + int(c.replica_id_in_sync_group)]), getattr(tf, kind)
            )
        )
        for op in OPS:
            for axis in (None, 0):
                yield f"{kind}/{op}/axis={axis}", partial(reduce, op, typed, axis=axis)


@scenario("local_results", GROUP)
def local_results(s: Setting) -> Iterator[Case]:
    tf, local = s.tf, s.strategy.experimental_local_results
    value = s.strategy.run(lambda: s.number() * 2.0)
    mirrored = s.in_scope(lambda: tf.Variable(4.0))
    yield "per_replica", lambda: local(value)
    yield "plain_tensor", lambda: local(tf.constant(3.0))
    yield "plain_float", lambda: local(3.0)
    yield "none", lambda: local(None)
    yield "list", lambda: local([value, value])
    yield "dict", lambda: local({"a": value})
    yield "mirrored_var", lambda: local(mirrored)
    on_read = s.in_scope(
        lambda: tf.Variable(
            1.0,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
        )
    )
    s.strategy.run(lambda: (on_read.assign(s.number() + 10.0), None)[1])
    yield "on_read_var", lambda: local(on_read)
    yield "is_tuple", lambda: isinstance(local(value), tuple)


@scenario("gather", GROUP, fresh=True)
def gather(s: Setting) -> Iterator[Case]:
    tf, gather_ = s.tf, s.strategy.gather
    n = range(s.n)

    def of(values: list, axis: object) -> object:
        return gather_(s.values(values), axis=axis)

    even = [f32([[r, r + 0.5], [10 + r, -r]]) for r in n]
    rows = _uneven(s)
    columns = [f32([[r + 0.1 * i for i in range(r + 1)], [5.0] * (r + 1)]) for r in n]
    first_empty = [f32([[1.0, 2.0]] if r else []).reshape(-1, 2) for r in n]
    for axis in (0, 1, -1, 2):
        yield f"even/{axis}", partial(of, even, axis)
    yield "uneven_rows/0", lambda: of(rows, 0)
    yield "uneven_rows/1", lambda: of(rows, 1)
    yield "uneven_cols/1", lambda: of(columns, 1)
    yield "uneven_cols/0", lambda: of(columns, 0)
    yield "scalar/0", lambda: of([1.0 + r for r in n], 0)
    yield "string/0", lambda: of([[f"s{r}"] for r in n], 0)
    yield "int/0", lambda: of([[r, r + 1] for r in n], 0)
    yield "plain_tensor/0", lambda: gather_(tf.constant([1.0, 2.0]), axis=0)
    yield "plain_float/0", lambda: gather_(3.0, axis=0)
    yield "dict/0", lambda: gather_({"a": s.values(even)}, axis=0)
    yield "axis_none", lambda: of(even, None)
    rows_compiled = tf.function(partial(gather_, axis=0))
    yield "even/0/tf.function", lambda: rows_compiled(s.values(even))
    yield "uneven_rows/0/tf.function", lambda: rows_compiled(s.values(rows))
    columns_compiled = tf.function(partial(gather_, axis=1))
    yield "uneven_cols/1/tf.function", lambda: columns_compiled(s.values(columns))
    yield "one_empty/0", lambda: of(first_empty, 0)
    one = tf.constant([1.0])
    yield "in_replica_context", lambda: s.strategy.run(lambda: gather_(one, axis=0))
    reduce = s.strategy.reduce
    yield (
        "reduce_in_replica_context",
        lambda: s.strategy.run(lambda: reduce("SUM", one, axis=None)),
    )


@scenario("ctx.all_reduce", GROUP, fresh=True)
def all_reduce(s: Setting) -> Iterator[Case]:
    tf = s.tf
    builds = {
        "scalar": lambda r: r + 1.0,
        "vector": lambda r: tf.stack([r, r * r]),
        "pyfloat": lambda r: 2.5,
        "list": lambda r: [r + 1.0, tf.stack([r, 2.0])],
        "tuple": lambda r: (r + 1.0, r),
        "dict": lambda r: {"a": r + 1.0, "b": [tf.stack([r, 2.0]), r * 0.5]},
        "int": lambda r: tf.cast(r, tf.int32) * 3 + 1,
        "empty_list": lambda r: [],
        "indexed_slices": lambda r: tf.IndexedSlices(
            tf.reshape(r + 1.0, [1, 1]),
            tf.reshape(tf.cast(r, tf.int64), [1]),
            dense_shape=tf.constant([4, 1], tf.int64),
        ),
    }

    def reduced(build: object, op: object) -> object:
        return s.strategy.run(lambda: s.context().all_reduce(op, build(s.number())))

    for name, build in builds.items():
        for op in OPS:
            yield f"{name}/{op}", partial(reduced, build, tf.distribute.ReduceOp[op])

    def gradient(op: str) -> object:
        x = tf.stack([s.number() + 1.0, 2.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(s.context().all_reduce(op, x) * (s.number() + 1.0))
        return tape.gradient(y, x)

    for op in OPS:
        yield f"gradient/{op}", partial(s.strategy.run, partial(gradient, op))
    for op in ("sum", "MEAN", "foo", None):
        yield f"op={op!r}", partial(reduced, builds["scalar"], op)
    yield "tf.function", tf.function(lambda: reduced(builds["scalar"], "sum"))
    yield "uneven_shape/SUM", lambda: reduced(lambda r: tf.ones([tf.cast(r, tf.int32) + 1]), "sum")


@scenario("ctx.all_gather", GROUP, fresh=True)
def all_gather(s: Setting) -> Iterator[Case]:
    tf = s.tf

    def gathered(build: object, axis: int) -> object:
        return s.strategy.run(lambda: s.context().all_gather(build(s.number()), axis))

    yield "vector/0", partial(gathered, lambda r: tf.stack([r, r + 0.5]), 0)
    yield "matrix/0", partial(gathered, lambda r: tf.stack([[r, r + 0.5], [1.0, 2.0]]), 0)
    yield "matrix/1", partial(gathered, lambda r: tf.stack([[r, r + 0.5], [1.0, 2.0]]), 1)
    yield "dict/0", partial(gathered, lambda r: {"a": tf.stack([r])}, 0)
    yield "scalar/0", partial(gathered, lambda r: r, 0)


@scenario("ctx.properties", GROUP)
def properties(s: Setting) -> Iterator[Case]:
    tf, run = s.tf, s.strategy.run
    seen: list = []
    merged: list = []

    def look():
        context = s.context()
        seen.append(
            {
                "n": context.num_replicas_in_sync,
                "strategy_is": context.strategy is s.strategy,
                "is_context": isinstance(context, tf.distribute.ReplicaContext),
                "devices": len(context.devices),
            }
        )
        return tf.cast(context.replica_id_in_sync_group, tf.int32)

    yield "ids", lambda: run(look)
    yield "seen", lambda: seen[0]

    def merge_fn(strategy, a, b=None):
        merged.append(
            {
                "strategy_is": strategy is s.strategy,
                "b": b,
                "in_cross": tf.distribute.in_cross_replica_context(),
                "replica_context_is_none": tf.distribute.get_replica_context() is None,
            }
        )
        return strategy.reduce("SUM", a, axis=None)

    def merge(function, *args, **kwargs):
        return s.context().merge_call(function, args=args, kwargs=kwargs)

    yield "merge_reduce", lambda: run(lambda: merge(merge_fn, s.number() + 1.0, b="k"))
    yield "merge_seen", lambda: merged[0]
    yield "merge_identity", lambda: run(lambda: merge(lambda _, x: x, s.number() + 1.0))
    yield "merge_plain", lambda: run(lambda: merge(lambda _: 42))
    yield "merge_raises", lambda: run(lambda: merge(lambda _: 1 / 0))

    def twice():
        total = merge(lambda st, x: st.reduce("SUM", x, axis=None), s.number())
        mean = merge(lambda st, x: st.reduce("MEAN", x, axis=None), total + s.number())
        return total, mean

    yield "merge_twice", lambda: run(twice)


@scenario("extended", GROUP)
def extended(s: Setting) -> Iterator[Case]:
    tf, x = s.tf, s.strategy.extended
    p = s.strategy.run(lambda: s.number() + 1.0)
    q = s.strategy.run(lambda: tf.stack([s.number(), 2.0]))
    v, w = s.in_scope(lambda: (tf.Variable([1.0, 2.0]), tf.Variable(5.0)))
    outside = tf.Variable(0.0)

    def update(*args, **kwargs):
        return s.in_scope(lambda: x.update(*args, **kwargs))

    yield "reduce_to_var/SUM", lambda: s.in_scope(lambda: x.reduce_to("SUM", p, v))
    yield "reduce_to_cpu0/MEAN", lambda: s.in_scope(lambda: x.reduce_to("MEAN", p, "/cpu:0"))
    yield (
        "batch_reduce_to",
        lambda: s.in_scope(lambda: x.batch_reduce_to("SUM", [(p, w), (q, v)])),
    )
    gradient = tf.constant([0.5, 0.25])
    yield (
        "update_add",
        lambda: tf.convert_to_tensor(
            s.strategy.experimental_local_results(
                update(v, lambda var, g: tf.identity(var.assign_add(g)), args=(gradient,))
            )[0]
        ),
    )
    yield "v_after", lambda: tf.convert_to_tensor(v)
    yield (
        "update_nogroup",
        lambda: update(w, lambda var, g: var.assign_sub(g) * 2.0, args=(1.5,), group=False),
    )
    yield "w_after", lambda: tf.convert_to_tensor(w)
    yield (
        "update_outside_scope",
        lambda: tf.convert_to_tensor(
            s.strategy.experimental_local_results(
                x.update(w, lambda var: tf.identity(var.assign(9.0)))
            )[0]
        ),
    )
    yield "w_after3", lambda: tf.convert_to_tensor(w)
    yield (
        "update_per_replica_arg",
        lambda: update(w, lambda var, g: tf.identity(var.assign(g)), args=(p,), group=False),
    )
    yield "worker_devices", lambda: list(x.worker_devices)
    yield "parameter_devices", lambda: [name[-5:] for name in x.parameter_devices]
    yield (
        "created_in_scope",
        lambda: [x.variable_created_in_scope(v), x.variable_created_in_scope(outside)],
    )
    yield "num_replicas_in_sync", lambda: s.strategy.num_replicas_in_sync
    yield "cluster_resolver", lambda: s.strategy.cluster_resolver
    yield "value_container", lambda: x.value_container(w) is w
    yield "static_shapes", lambda: x.experimental_require_static_shapes
    yield "colocate", lambda: s.in_scope(lambda: _enters(x.colocate_vars_with(v)))


def _enters(context) -> bool:
    with context:
        return True


@scenario("partitioners", GROUP, NONE)
def partitioners(s: Setting) -> Iterator[Case]:
    tf, p = s.tf, s.tf.distribute.experimental.partitioners
    made = {
        "fixed2": lambda: p.FixedShardsPartitioner(2),
        "fixed20": lambda: p.FixedShardsPartitioner(num_shards=20),
        "min4_2": lambda: p.MinSizePartitioner(min_shard_bytes=4, max_shards=2),
        "min4_10": lambda: p.MinSizePartitioner(min_shard_bytes=4, max_shards=10),
        "min100_10": lambda: p.MinSizePartitioner(min_shard_bytes=100, max_shards=10),
        "min_default": lambda: p.MinSizePartitioner(),
        "min_bad": lambda: p.MinSizePartitioner(min_shard_bytes=0),
        "max4": lambda: p.MaxSizePartitioner(max_shard_bytes=4),
        "max4_2": lambda: p.MaxSizePartitioner(4, 2),
        "max50": lambda: p.MaxSizePartitioner(50),
        "max1024": lambda: p.MaxSizePartitioner(max_shard_bytes=1024),
        "max_bad": lambda: p.MaxSizePartitioner(0),
    }
    for name, make in made.items():
        for shape in ([6, 1], [10, 3], [7, 30, 2]):
            for kind in ("float32", "float64"):
                yield (
                    f"{name}/{shape}/{kind}",
                    lambda make=make, shape=shape, kind=kind: make()(
                        tf.TensorShape(shape), getattr(tf, kind)
                    ),
                )
        yield (
            f"{name}/axis=1",
            lambda make=make: make()(tf.TensorShape([4, 8]), tf.float32, axis=1),
        )


@scenario("former_names", GROUP)
def former_names(s: Setting) -> Iterator[Case]:
    tf, strategy = s.tf, s.strategy
    value = s.values([1.0 + r for r in range(s.n)])
    yield "unwrap", lambda: strategy.unwrap(value)
    yield "group", lambda: strategy.group(value)
    batches = strategy.make_dataset_iterator
    yield (
        "make_dataset_iterator",
        lambda: s.rows(batches(tf.data.Dataset.range(4).batch(4)).get_next()),
    )
    dataset = tf.data.Dataset.range(8).batch(2)
    yield (
        "make_input_fn_iterator",
        lambda: s.rows(strategy.make_input_fn_iterator(lambda _: dataset).get_next()),
    )
    yield (
        "experimental_run",
        lambda: strategy.experimental_run(
            lambda x: x * 2, iter(strategy.experimental_distribute_dataset(dataset))
        ),
    )
    yield "experimental_run/no_input", lambda: strategy.experimental_run(lambda: s.number())
    yield (
        "colocate_vars_with",
        lambda: s.in_scope(lambda: _enters(strategy.colocate_vars_with(tf.Variable(1.0)))),
    )
