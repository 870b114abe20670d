"""Averages over the global batch: `tf.nn.compute_average_loss`, `scale_regularization_loss`."""

import importlib
from collections.abc import Iterator
from functools import partial
from typing import Any

from tests.golden.scenarios.base import Case, Setting, f32, scenario

GROUP = "loss"


@scenario("loss.compute_average_loss", GROUP)
def compute_average_loss(s: Setting) -> Iterator[Case]:
    tf, average = s.tf, s.tf.nn.compute_average_loss
    n = range(s.n)
    losses = [[1.0 + r, 2.0, 0.5 * r, -1.0] for r in n]
    loss = s.values([f32(one) for one in losses])
    weights = s.values([f32([1.0, 0.5, float(r), 2.0]) for r in n])
    uneven = s.values([f32([1.0 + i + r for i in range(r + 1)]) for r in n])

    def both(value: object, weighted: bool = False, **options: object) -> dict:
        def one(x: object, w: object) -> object:
            return average(x, sample_weight=w, **options) if weighted else average(x, **options)

        result = s.strategy.run(one, args=(value, weights if value is loss else 0.0))
        return {"per_replica": result, "sum": s.strategy.reduce("SUM", result, axis=None)}

    yield "plain", lambda: both(loss)
    yield "global_batch_size", lambda: both(loss, global_batch_size=4 * s.n)
    yield "global_batch_size_10", lambda: both(loss, global_batch_size=10)
    yield "sample_weight", lambda: both(loss, weighted=True)
    yield "sample_weight_and_gbs", lambda: both(loss, weighted=True, global_batch_size=10)
    yield "scalar_weight", lambda: both(loss, sample_weight=2.0)
    yield "gbs_tensor", lambda: both(loss, global_batch_size=tf.constant(10))
    yield "uneven_default", lambda: both(uneven)["sum"]
    total = sum(range(1, s.n + 1))
    yield "uneven_gbs", lambda: both(uneven, global_batch_size=total)
    first = tf.constant(losses[0])
    yield "outside", lambda: average(first)
    yield "outside_gbs", lambda: average(first, None, 10)
    yield "outside_gbs_kw", lambda: average(first, global_batch_size=10)
    yield "in_scope_cross_replica", lambda: s.in_scope(lambda: average(first))
    yield (
        "in_scope_cross_replica_gbs",
        lambda: s.in_scope(lambda: average(first, global_batch_size=8)),
    )
    compiled = tf.function(lambda x: s.strategy.run(lambda y: average(y), args=(x,)))
    yield "tf.function", lambda: compiled(loss)


@scenario("loss.scale_regularization_loss", GROUP)
def scale_regularization_loss(s: Setting) -> Iterator[Case]:
    tf, scale = s.tf, s.tf.nn.scale_regularization_loss
    values = {
        "scalar": lambda: tf.constant(6.0),
        "list": lambda: [tf.constant(1.0), tf.constant(5.0)],
        "vector": lambda: tf.constant([1.0, 2.0]),
        "py": lambda: 6.0,
        "empty_list": lambda: [],
        "int": lambda: tf.constant(6),
        "list_vectors": lambda: [tf.constant([1.0, 2.0]), tf.constant(3.0)],
        "float64": lambda: tf.constant(3.0, tf.float64),
    }
    for name, value in values.items():
        scaled = partial(lambda make: scale(make()), value)
        yield f"in_run/{name}", partial(s.strategy.run, scaled)
        yield f"in_scope/{name}", partial(s.in_scope, scaled)
        yield f"outside/{name}", scaled


_REDUCTIONS = ("sum_over_batch_size", "sum", "none")
_SINGLE_OR_MIRRORED = ("n1", "n2", "one_device", "default")


def _keras_losses(s: Setting, losses: Any, reductions: tuple[str, ...]) -> Iterator[Case]:
    y_true = s.tf.constant([[0.0, 1.0], [2.0, 3.0], [1.0, 1.0]])
    y_pred = s.tf.constant([[1.0, 1.0], [0.0, 3.0], [1.0, 5.0]])
    for reduction in reductions:

        def error(reduction: str = reduction, **weights: object) -> object:
            return losses.MeanSquaredError(reduction=reduction)(y_true, y_pred, **weights)

        weighted = partial(error, sample_weight=[1.0, 2.0, 0.0])
        yield f"{reduction}/in_run", partial(s.strategy.run, error)
        yield f"{reduction}/in_scope", partial(s.in_scope, error)
        yield f"{reduction}/outside", error
        yield f"{reduction}/in_run_weighted", partial(s.strategy.run, weighted)


@scenario("loss.keras_losses", GROUP, _SINGLE_OR_MIRRORED)
def keras_losses(s: Setting) -> Iterator[Case]:
    yield from _keras_losses(s, s.tf.keras.losses, ("auto", *_REDUCTIONS))


@scenario("loss.keras3_losses", GROUP, _SINGLE_OR_MIRRORED)
def keras3_losses(s: Setting) -> Iterator[Case]:
    """Keras 3 itself, which tf.keras is not while results are recorded, divides means by the replicas."""
    assert s.tf.keras  # ours teaches Keras what a replica is
    losses = importlib.import_module("keras").losses
    yield from _keras_losses(s, losses, (*_REDUCTIONS, "mean", "mean_with_sample_weight"))
