"""Which of Keras's objects hold state, and how replicas share it."""

import keras

from spmd.integrations.keras.parts import is_built, kind_of, parts_of, variables_of
from spmd.state import Kind


def test_parts_of_a_compiled_model():
    dropout = keras.layers.Dropout(0.5)
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1), dropout])
    inner = keras.optimizers.SGD()
    scaled = keras.optimizers.LossScaleOptimizer(inner)
    model.compile(scaled, "mse", metrics=["mae"])
    parts = parts_of([model, None, keras.Variable(1.0)])
    assert len({id(part) for part in parts}) == len(parts)
    for part in (model, model.layers[0], dropout, dropout.seed_generator, scaled, inner):
        assert any(part is found for found in parts)
    assert all(any(metric is found for found in parts) for metric in model.metrics)


def test_a_metric_may_have_a_network():
    metric = keras.metrics.Mean()
    metric.encoder = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    found = {id(variable) for variable in variables_of(metric)}
    assert {id(variable) for variable in metric.encoder.variables} < found


def test_kinds():
    normalization = keras.layers.BatchNormalization()
    normalization.build((None, 2))
    kinds = {variable.name: kind_of(variable) for variable in variables_of(normalization)}
    assert kinds == {
        **{"gamma": Kind.MIRRORED, "beta": Kind.MIRRORED},
        **{"moving_mean": Kind.MEAN, "moving_variance": Kind.MEAN},
    }
    metric = keras.metrics.Mean()
    assert {kind_of(variable) for variable in variables_of(metric)} == {Kind.SUM}


def test_what_has_made_its_variables():
    layer, optimizer = keras.layers.Dense(1), keras.optimizers.SGD()
    assert not is_built(layer)
    assert not is_built(optimizer)
    assert not is_built(keras.metrics.F1Score())
    layer.build((None, 1))
    optimizer.build(layer.trainable_variables)
    assert is_built(layer)
    assert is_built(optimizer)
    assert is_built(keras.metrics.Mean())
