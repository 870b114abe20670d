"""What masks take in replicas: as many entries as only the running program knows."""

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.golden.scenarios.base import NONE, Case, Setting, f32, scenario

GROUP = "selected"
_X = f32([[1.0, -2.0, 3.0], [0.0, 5.0, -6.0], [7.0, 8.0, 9.0], [-1.0, 0.5, 2.0]])
_TAKEN = np.array([True, False, True, True])


def _functions(tf: Any) -> dict[str, Any]:
    mask, mean, total = tf.boolean_mask, tf.reduce_mean, tf.reduce_sum
    positive = lambda x: mask(x, x > 0)  # noqa: E731
    far = lambda x: mask(x, x > 100)  # noqa: E731
    labels = tf.constant([0, 1, 2, 1])
    return {
        "mean": lambda x, k: mean(mask(x, k)),
        "mean/axis": lambda x, k: mean(mask(x, k), axis=0),
        "mean/rows": lambda x, k: total(mean(mask(x, k), axis=1, keepdims=True)),
        "mean/integers": lambda x, k: mean(mask(tf.cast(x, tf.int32), k)),
        "sum/entries": lambda x, k: total(positive(x)),
        "max/entries": lambda x, k: tf.reduce_max(mask(x, x < 0)),
        "min/index": lambda x, k: tf.reduce_min(x[k], axis=0),
        "prod": lambda x, k: tf.reduce_prod(mask(x, k)),
        "log": lambda x, k: total(tf.math.log(positive(x))),
        "sqrt": lambda x, k: mean(tf.math.sqrt(mask(x, x >= 0))),
        "variance": lambda x, k: tf.math.reduce_variance(mask(x, k), axis=0),
        "std": lambda x, k: tf.math.reduce_std(mask(x, k)),
        "any": lambda x, k: tf.cast(tf.reduce_any(mask(x, k) > 8.5), tf.float32),
        "shape": lambda x, k: tf.shape(mask(x, k))[0],
        "size": lambda x, k: tf.size(positive(x)),
        "count": lambda x, k: tf.math.count_nonzero(mask(x, k)),
        "divided": lambda x, k: total(mask(x, k)) / tf.cast(tf.shape(mask(x, k))[0], x.dtype),
        "argmax": lambda x, k: tf.argmax(mask(x, k), axis=0),
        "argmax/rows": lambda x, k: total(tf.argmax(mask(x, k), axis=1)),
        "softmax": lambda x, k: tf.reduce_max(tf.nn.softmax(mask(x, k) / 8.0, axis=0)),
        "logsumexp": lambda x, k: tf.reduce_logsumexp(mask(x, k), axis=0),
        "cumsum": lambda x, k: tf.reduce_max(tf.cumsum(mask(x, k))),
        "two/same": lambda x, k: total(mask(x[:, 0], x[:, 0] > 0) * mask(x[:, 1], x[:, 0] > 0)),
        "two/other": lambda x, k: total(mask(x[:, 0], x[:, 0] > 0) * mask(x[:, 1], x[:, 1] > 1)),
        "concat": lambda x, k: mean(tf.concat([mask(x, k), x[:1]], 0)),
        "stack": lambda x, k: total(tf.stack([mask(x, k)[:, 0], mask(x, k)[:, 1]], -1), axis=0),
        "reshape": lambda x, k: mean(tf.reshape(mask(x, k), [-1]) ** 2),
        "gather_nd": lambda x, k: mean(tf.gather_nd(x, tf.where(k))),
        "gather_nd/entries": lambda x, k: mean(tf.gather_nd(x, tf.where(x > 1))),
        "gather": lambda x, k: total(tf.gather(x, tf.where(k)[:, 0])[..., 1]),
        "gather/squeeze": lambda x, k: mean(tf.gather(x, tf.squeeze(tf.where(k), -1))),
        "matmul": lambda x, k: tf.matmul(mask(x, k), mask(x, k), transpose_a=True),
        "distances": lambda x, k: tf.reduce_min(
            tf.norm(mask(x, k)[:, None] - x[None], axis=-1), axis=0
        ),
        "distances/both": lambda x, k: total(
            tf.norm(mask(x, k)[:, None] - mask(x, x[:, 0] > 0)[None] + 1.0, axis=-1)
        ),
        "classes": lambda x, k: mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(mask(labels, k), mask(x, k))
        ),
        "one_hot": lambda x, k: mean(
            tf.nn.softmax_cross_entropy_with_logits(tf.one_hot(mask(labels, k), 3), mask(x, k))
        ),
        "binary": lambda x, k: mean(
            tf.nn.sigmoid_cross_entropy_with_logits(mask(tf.ones_like(x), k), mask(x, k))
        ),
        "ones": lambda x, k: total(tf.ones_like(mask(x, k))),
        "ones/shape": lambda x, k: total(tf.ones(tf.shape(mask(x, k)))),
        "columns": lambda x, k: total(mask(x, x[0] > 0, axis=1), axis=1),
        "twice": lambda x, k: total((lambda s: mask(s, s[:, 0] > 0))(mask(x, k))),
        "operators": lambda x, k: total(2.0 - mask(x, k) * x[0] + (x[1] / (mask(x, k) ** 2 + 1))),
        "where": lambda x, k: mean(tf.where(tf.abs(mask(x, k)) < 1, 0.5, tf.abs(mask(x, k)))),
        "clip": lambda x, k: mean(tf.clip_by_value(mask(x, k), 0.0, 1.0)),
        "none/sum": lambda x, k: total(far(x)),
        "none/max": lambda x, k: tf.reduce_max(far(x)),
        "none/cond": lambda x, k: tf.cond(
            tf.size(far(x)) > 0, lambda: mean(far(x)), lambda: tf.constant(0.0)
        ),
    }


@scenario("selected.functions", GROUP, ("n2",))
def functions(s: Setting) -> Iterator[Case]:
    tf = s.tf

    made = _functions(tf)

    @functools.cache
    def found(*, slopes: bool) -> dict[str, Any]:
        """All results, of one program: compiling one for each takes long."""

        def slope(function: Any, x: Any, k: Any) -> Any:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.reduce_sum(tf.cast(function(x, k), tf.float32) ** 2)
            found = tape.gradient(y, x)
            return tf.zeros_like(x) if found is None else tf.convert_to_tensor(found)

        def all_of(x: Any, k: Any) -> Any:
            return {
                name: slope(function, x, k) if slopes else function(x, k)
                for name, function in made.items()
            }

        step = tf.function(lambda x, k: s.strategy.run(all_of, (x, k)))
        return step(tf.constant(_X), tf.constant(_TAKEN))

    for name in made:
        yield name, lambda name=name: found(slopes=False)[name]
        yield f"{name}/slope", lambda name=name: found(slopes=True)[name]


def _overlap(tf: Any, one: Any, other: Any) -> Any:
    """How much boxes overlap, as scripts of YOLO compute it."""
    one, other = tf.expand_dims(one, -2), tf.expand_dims(other, 0)
    shape = tf.broadcast_dynamic_shape(tf.shape(one), tf.shape(other))
    one, other = tf.broadcast_to(one, shape), tf.broadcast_to(other, shape)
    low, high = tf.maximum(one[..., :2], other[..., :2]), tf.minimum(one[..., 2:], other[..., 2:])
    width, height = tf.unstack(tf.maximum(high - low, 0.0), axis=-1)
    area = width * height
    areas = [(box[..., 2] - box[..., 0]) * (box[..., 3] - box[..., 1]) for box in (one, other)]
    return area / (areas[0] + areas[1] - area)


@scenario("selected.fit", GROUP, NONE)
def fit(s: Setting) -> Iterator[Case]:
    tf = s.tf
    rng = np.random.RandomState(0)
    corner = rng.rand(5, 3, 3, 2) * 0.5
    boxes = np.concatenate([corner, corner + rng.rand(5, 3, 3, 2) * 0.5], -1)
    grid = f32(np.concatenate([boxes, rng.rand(5, 3, 3, 1) > 0.6], -1))

    def yolo(truth: Any, found: Any) -> Any:
        there = tf.squeeze(truth[..., 4:5], -1)
        best = tf.map_fn(
            lambda x: tf.reduce_max(
                _overlap(tf, x[0], tf.boolean_mask(x[1], tf.cast(x[2], tf.bool))), axis=-1
            ),
            (found[..., :4], truth[..., :4], there),
            tf.float32,
        )
        known = tf.cast(best < 0.5, tf.float32) * there
        apart = tf.reduce_sum((found[..., :4] - truth[..., :4]) ** 2, axis=-1)
        return tf.reduce_sum(apart * (1.0 + known) + best, axis=(1, 2))

    def masked(truth: Any, found: Any) -> Any:
        there = tf.squeeze(truth[..., 4:5], -1) > 0.5
        return tf.reduce_mean(
            tf.square(tf.boolean_mask(truth, there) - tf.boolean_mask(found, there))
        )

    def coordinates(truth: Any, found: Any) -> Any:
        there = tf.where(truth[..., 4] > 0.5)
        return tf.reduce_mean(tf.abs(tf.gather_nd(truth, there) - tf.gather_nd(found, there)))

    def history(loss: Any) -> Any:
        layer = tf.keras.layers.Dense(5, kernel_initializer=tf.constant_initializer(0.3))
        model = tf.keras.Sequential([tf.keras.layers.InputLayer(grid.shape[1:]), layer])
        model.compile(tf.keras.optimizers.SGD(0.02), loss)
        found = model.fit(grid, grid, batch_size=2, epochs=2, verbose=0, shuffle=False)
        return [found.history["loss"], layer.kernel.numpy()]

    yield "yolo", lambda: history(yolo)
    yield "masked", lambda: history(masked)
    yield "coordinates", lambda: history(coordinates)
