"""Gradients of looked-up rows, `tf.IndexedSlices`: what they are, and which rows optimizers move."""

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.golden.scenarios.base import Case, Setting, f32, scenario
from tests.golden.scenarios.optimizers_v1 import named_optimizers

GROUP = "looked_up_rows"
TABLE = f32(np.sin(np.arange(12.0).reshape(6, 2)) / 2)
# Of each step: the ids of the first replica; the others have those after them.
IDS = [[[0, 0], [1, 3]], [[2, 2], [2, 1]], [[0, 4], [1, 2]], [[4, 4], [0, 0]]]


def _lookups(tf: Any) -> dict[str, Callable[[Any, Any], Any]]:
    """Returns tensors of rows, by how they are looked up in a table."""
    nn = tf.nn
    return {
        "gather": tf.gather,
        "embedding_lookup": nn.embedding_lookup,
        "max_norm": lambda t, ids: nn.embedding_lookup(t, ids, max_norm=0.3),
        "sparse_read": lambda t, ids: t.sparse_read(ids),
        "gather_nd": lambda t, ids: tf.gather_nd(t, tf.reshape(ids, [-1, 1])),
        "one_id": lambda t, ids: tf.gather(t, ids[0, 0]),
        "twice": lambda t, ids: tf.gather(t, ids) * tf.gather(t, ids[::-1]),
        "identity": lambda t, ids: tf.gather(tf.identity(t), ids),
        "negated": lambda t, ids: tf.gather(-t, ids),
        "cast": lambda t, ids: tf.cast(tf.gather(tf.cast(t, tf.float16), ids), tf.float32),
        "of_rows": lambda t, ids: tf.gather(tf.gather(t, [3, 1, 0, 2, 2]), ids),
        "in_function": lambda t, ids: tf.function(lambda i: tf.gather(t, i) ** 2)(ids),
        # In TensorFlow, too, the gradients of these are tensors.
        "scaled": lambda t, ids: tf.gather(t * 2.0, ids),
        "columns": lambda t, ids: tf.gather(t, ids % 2, axis=1),
        "transposed": lambda t, ids: tf.gather(tf.transpose(t), ids % 2),
        "sliced": lambda t, ids: t[1:3],
        "batch_dims": lambda t, ids: tf.gather(tf.stack([t, t]), ids, batch_dims=1),
        "with_all": lambda t, ids: tf.reduce_sum(tf.gather(t, ids)) + tf.reduce_sum(t * t),
    }


def _gradient(s: Setting, look_up: Callable[[Any, Any], Any], table: Any, ids: Any) -> Any:
    tf = s.tf
    with tf.GradientTape() as tape:
        tape.watch(table)
        y = tf.reduce_sum((look_up(table, ids) - 0.25) ** 2)
    return tape.gradient(y, table)


@scenario("looked_up_rows.gradients", GROUP, ("none",))
def gradients(s: Setting) -> Iterator[Case]:
    """What a tape returns."""
    tf = s.tf
    for name, look_up in _lookups(tf).items():
        yield name, lambda f=look_up: _gradient(s, f, tf.Variable(TABLE), tf.constant(IDS[0]))
    yield "tensor", lambda: _gradient(s, tf.gather, tf.constant(TABLE), tf.constant(IDS[0]))

    def joined(t: Any, ids: Any) -> Any:
        return tf.gather(tf.concat([t, t], 0), ids + 4)

    # Ours has the rows of the other part as well, as none.
    yield (
        "concat",
        lambda: tf.linalg.global_norm([_gradient(s, joined, tf.Variable(TABLE), IDS[0])]),
    )

    def second() -> Any:
        table = tf.Variable(TABLE)
        with tf.GradientTape() as outer:
            found = _gradient(s, tf.gather, table, tf.constant(IDS[0]))
            y = tf.reduce_sum(found.values * tf.gather(table, found.indices))
        return tf.convert_to_tensor(outer.gradient(y, table))

    yield "second", second

    def layer() -> Any:
        embedding = tf.keras.layers.Embedding(6, 2)
        embedding.build(None)
        embedding.set_weights([TABLE])
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(embedding(tf.constant(IDS[0])) ** 2)
        return tape.gradient(y, embedding.trainable_variables)

    yield "embedding_layer", layer


@scenario("looked_up_rows.functions", GROUP, ("none",))
def functions(s: Setting) -> Iterator[Case]:
    """What TensorFlow's functions make of such a gradient."""
    tf = s.tf
    table = tf.Variable(TABLE)
    g = _gradient(s, tf.gather, table, tf.constant(IDS[0]))
    other = tf.ones([2])
    of = {
        "shape": lambda: list(g.shape),
        "dense_shape": lambda: [int(size) for size in g.dense_shape],
        "negative": lambda: -g,
        "convert_to_tensor": lambda: tf.convert_to_tensor(g),
        "times_tensor": lambda: tf.constant(2.0) * g,
        "multiply": lambda: tf.multiply(g, 2.0),
        "norm": lambda: tf.norm(g),
        "reduce_sum": lambda: tf.reduce_sum(g),
        "square": lambda: tf.square(g),
        "zeros_like": lambda: tf.zeros_like(g),
        "where": lambda: tf.where(tf.math.is_finite(g), g, 0.0),
        "add_n": lambda: tf.add_n([g, g]),
        "identity": lambda: tf.identity(g),
        "stop_gradient": lambda: tf.stop_gradient(g),
        "cast": lambda: tf.cast(g, tf.float16),
        "scalar_mul": lambda: tf.math.scalar_mul(3.0, g),
        "global_norm": lambda: tf.linalg.global_norm([g, None, other]),
        "clip_by_global_norm": lambda: list(tf.clip_by_global_norm([g, None, other], 0.5)),
        "clip_by_global_norm_high": lambda: list(tf.clip_by_global_norm([g, other], 50.0)),
        "clip_by_norm": lambda: tf.clip_by_norm(g, 0.5),
        "clip_by_norm_rows": lambda: tf.clip_by_norm(g, 0.5, axes=[1]),
        "clip_by_value": lambda: tf.clip_by_value(g, -0.1, 0.2),
        "assign_add": lambda: tf.Variable(TABLE).assign_add(g).numpy(),
        "scatter_add": lambda: tf.Variable(TABLE).scatter_add(g).numpy(),
    }
    yield from of.items()


def _losses(tf: Any) -> dict[str, Callable[[Any, Any], Any]]:
    """Losses of rows of a table."""

    def of(name: str) -> Callable[[Any, Any], Any]:
        look_up = _lookups(tf)[name]
        return lambda t, ids: tf.reduce_mean((tf.reduce_sum(look_up(t, ids), -1) - 1.0) ** 2)

    names = "gather", "max_norm", "twice", "identity", "of_rows", "scaled"
    return {name: of(name) for name in names} | {
        "penalty": lambda t, ids: of("gather")(t, ids) + 0.1 * tf.nn.l2_loss(t),
    }


def _changes(tf: Any) -> dict[str, Callable[[Any], Any]]:
    """What scripts do to gradients before they apply them."""
    return {
        "clip_by_global_norm": lambda gs: tf.clip_by_global_norm(gs, 0.4)[0],
        "clip_by_norm": lambda gs: [tf.clip_by_norm(g, 0.3) for g in gs],
        "clip_by_value": lambda gs: [tf.clip_by_value(g, -0.2, 0.1) for g in gs],
        "scaled": lambda gs: [tf.multiply(g, 0.5) for g in gs],
        "scalar_mul": lambda gs: [tf.math.scalar_mul(0.5, g) for g in gs],
        "all_reduced": lambda gs: tf.distribute.get_replica_context().all_reduce(
            tf.distribute.ReduceOp.MEAN, gs
        ),
    }


def _train(
    s: Setting,
    optimizer: str,
    loss: str = "gather",
    change: str | None = None,
) -> dict[str, Any]:
    """Trains a table and a bias; each replica has ids of its own."""
    tf = s.tf
    with s.strategy.scope():
        table, bias = tf.Variable(TABLE, name="table"), tf.Variable([0.1], name="bias")
        made = named_optimizers(tf.compat.v1.train, 0.1)[optimizer]()
    variables = [table, bias]
    loss_of = _losses(tf)[loss]

    @tf.function
    def step(ids: Any) -> None:
        def replica(ids: Any) -> None:
            ids = (ids + s.replica_id()) % 5

            def of_replica() -> Any:
                return loss_of(table, ids) + tf.reduce_sum(bias * bias)

            if change is None:
                made.minimize(of_replica, var_list=variables)
                return
            pairs = made.compute_gradients(of_replica, variables)
            changed = _changes(tf)[change]([gradient for gradient, _ in pairs])
            made.apply_gradients(zip(changed, variables, strict=True))

        s.strategy.run(replica, (ids,))

    found = []
    for ids in IDS:
        step(tf.constant(ids))
        found.append(table.numpy())
    slots = {name: made.get_slot(table, name).numpy() for name in made.get_slot_names()}
    return {"weights": found, "bias": bias.numpy()} | slots


@scenario("looked_up_rows.training", GROUP, ("default", "n2"))
def training(s: Setting) -> Iterator[Case]:
    """Optimizers of TensorFlow 1 leave rows alone that nobody looked up, with their slots."""
    for name in named_optimizers(s.tf.compat.v1.train, 0.1):
        yield name, functools.partial(_train, s, name)
    for name in _losses(s.tf):
        yield f"momentum/{name}", functools.partial(_train, s, "momentum", name)
    for name in _changes(s.tf):
        yield f"momentum/changed/{name}", functools.partial(_train, s, "momentum", "gather", name)
        yield f"adagrad/changed/{name}", functools.partial(_train, s, "adagrad", "twice", name)


def _eager_ids(s: Setting, name: str) -> Any:
    """Looks up ids of rows that differ in length; only outside of steps, where ours takes sparse tensors."""
    tf = s.tf
    table = tf.Variable(TABLE)
    ids = tf.SparseTensor(
        [[0, 0], [0, 1], [2, 0], [2, 1]], tf.constant([1, 1, 4, 1], tf.int64), [3, 2]
    )
    weights = tf.SparseTensor(ids.indices, [1.0, 2.0, 0.5, 1.0], ids.dense_shape)
    look_up = {
        "sum": lambda t: tf.nn.embedding_lookup_sparse(t, ids, None, combiner="sum"),
        "mean": lambda t: tf.nn.embedding_lookup_sparse(t, ids, weights, combiner="mean"),
        "sqrtn": lambda t: tf.nn.embedding_lookup_sparse(t, ids, weights, combiner="sqrtn"),
        "safe": lambda t: tf.nn.safe_embedding_lookup_sparse(t, ids, combiner="mean"),
        "safe_default": lambda t: tf.nn.safe_embedding_lookup_sparse(t, ids, default_id=3),
    }[name]
    optimizer = tf.compat.v1.train.MomentumOptimizer(0.1, 0.9)
    found, norms = [], []
    for _ in range(3):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum((look_up(table) - 1.0) ** 2)
        gradients, norm = tf.clip_by_global_norm([tape.gradient(y, table)], 1.5)
        optimizer.apply_gradients(zip(gradients, [table], strict=True))
        found.append(table.numpy())
        norms.append(norm)
    return found, norms


@scenario("looked_up_rows.sparse_ids", GROUP, ("none",))
def sparse_ids(s: Setting) -> Iterator[Case]:
    """Of ids in sparse tensors each row is looked up once, which norms of gradients show."""
    for name in ("sum", "mean", "sqrtn", "safe", "safe_default"):
        yield name, functools.partial(_eager_ids, s, name)
