"""Arguments and methods of Keras 2's classes, outside of replicas and in them."""

import contextlib

import numpy as np
import pytest

from frontends import tf
from tests.frontends.tf.keras.strategies import mirrored

keras = tf.keras


@pytest.mark.parametrize(
    "options", [{"input_shape": (4,)}, {"input_dim": 4}, {"batch_input_shape": (None, 4)}]
)
def test_a_first_layer_may_name_its_input_shape(options):
    model = keras.Sequential([keras.layers.Dense(3, **options), keras.layers.Dense(2)])
    assert model.input_shape == (None, 4)
    assert model.count_params() == 4 * 3 + 3 + 3 * 2 + 2


def test_a_first_layer_may_name_its_number_of_rows():
    model = keras.Sequential(
        [keras.layers.LSTM(2, stateful=True, batch_input_shape=[4, None, 3]), keras.layers.Dense(1)]
    )
    assert model.input_shape == (4, None, 3)
    assert model(np.ones((4, 5, 3), np.float32)).shape == (4, 1)
    assert keras.Sequential(
        [keras.layers.Dense(1), keras.layers.Dense(2, batch_input_shape=[3, 1])]
    )


def test_an_unknown_argument_of_a_layer_is_still_an_error():
    with pytest.raises(ValueError, match="foo"):
        keras.layers.Dense(3, foo=1)
    with pytest.raises(ValueError, match="reduction"):
        keras.losses.MeanSquaredError(reduction="foo")
    assert keras.losses.MeanSquaredError(reduction="auto").reduction == "sum_over_batch_size"


def test_reset_states():
    metric = keras.metrics.Mean()
    metric.update_state([1.0, 3.0])
    assert float(metric.result()) == 2.0
    metric.reset_states()
    assert float(metric.result()) == 0.0
    model = keras.Sequential(
        [keras.Input(batch_shape=(1, 2, 1)), keras.layers.LSTM(2, stateful=True)]
    )
    first = model(np.ones((1, 2, 1), np.float32))
    assert np.any(np.asarray(model(np.ones((1, 2, 1), np.float32))) != np.asarray(first))
    model.reset_states()
    np.testing.assert_array_equal(model(np.ones((1, 2, 1), np.float32)), first)


class _Counter(keras.layers.Layer):
    def build(self, input_shape):
        self.kernel = self.add_weight("kernel", shape=(int(input_shape[-1]), 2))
        self.mean = self.add_weight(
            name="mean",
            shape=(),
            trainable=False,
            initializer="zeros",
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.MEAN,
        )
        self.rows = self.add_weight(
            name="rows",
            shape=(),
            trainable=False,
            initializer="zeros",
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
        )

    def call(self, inputs):
        self.mean.assign(tf.reduce_mean(inputs))
        self.rows.assign_add(tf.cast(tf.shape(inputs)[0], tf.float32))
        return tf.matmul(inputs, self.kernel)


def test_add_weight_takes_what_it_did():
    layer = _Counter()
    strategy = mirrored()
    ones = tf.ones((3, 4))

    def replica():
        return layer(
            ones * tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32)
        )

    for _ in range(2):
        strategy.run(replica)
    assert layer.kernel.name == "kernel"
    assert layer.mean.numpy() == 0.5
    assert layer.rows.numpy() == 12.0


class _OfKeras2(keras.layers.Layer):
    def build(self, input_shape):
        self.first = self.add_weight("first", [2], tf.float32, "ones", None, False)
        self.second = self.add_weight(
            "second", [2], None, "zeros", trainable=None, use_resource=True
        )
        self.third = self.add_weight([2], "ones")
        self.mean = self.add_weight(
            "mean", synchronization=tf.VariableSynchronization.ON_READ, initializer="zeros"
        )
        self.count = self.add_weight("count", (), tf.int32, "zeros", experimental_autocast=False)


def test_a_layers_add_weight_takes_the_order_of_keras_2():
    layer = _OfKeras2()
    layer.build((None, 1))
    np.testing.assert_array_equal(layer.first.numpy(), [1, 1])
    assert not layer.first.trainable
    assert layer.second.trainable
    assert not layer.mean.trainable
    assert layer.third.shape == (2,)
    assert layer.count.dtype == "int32"
    with pytest.raises(TypeError, match="name, shape, dtype, initializer"):
        layer.add_weight("twice", [2], name="again")
    with pytest.raises(ValueError, match="ON_READ only for non-trainable"):
        layer.add_weight("m", synchronization=tf.VariableSynchronization.ON_READ, trainable=True)


class _Extremes(keras.metrics.Metric):
    def __init__(self):
        super().__init__()
        self.total = self.add_weight("total", (), tf.VariableAggregation.SUM, initializer="zeros")
        self.mean = self.add_weight(
            name="mean", initializer="zeros", aggregation=tf.VariableAggregation.MEAN
        )
        self.count = self.add_weight((), "zeros", "int32", "count")

    def update_state(self, values, sample_weight=None):
        self.total.assign_add(tf.reduce_sum(values))
        self.mean.assign_add(tf.reduce_mean(values))
        self.count.assign_add(1)

    def result(self):
        return tf.stack([self.total.read_value(), self.mean.read_value()])


def test_a_metrics_add_weight_takes_an_aggregation():
    metric = _Extremes()

    def replica():
        replica_id = tf.distribute.get_replica_context().replica_id_in_sync_group
        metric.update_state(tf.ones(2) * tf.cast(replica_id + 1, tf.float32))
        return metric.result()

    for result in mirrored().run(replica).values:
        np.testing.assert_allclose(result, [6.0, 1.5])
    np.testing.assert_allclose(metric.result(), [6.0, 1.5])
    assert metric.count.numpy() == 2
    assert metric.count.dtype == "int32"


def test_variables_of_one_array_are_two_sources():
    start = tf.constant([1.0, 2.0])
    first, second = keras.Variable(start), keras.Variable(start)
    third = keras.Variable(np.zeros(2, np.float32))
    third.assign(second)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(first * 2 + second * 3 + third * 5)
    gradients = [gradient.numpy()[0] for gradient in tape.gradient(loss, [first, second, third])]
    assert gradients == [2, 3, 5]


def test_fit_under_a_scope_still_works():
    with mirrored().scope():
        model = keras.Sequential([keras.layers.Dense(1, input_shape=(1,))])
        model.compile(loss="mse", optimizer="sgd")
        history = model.fit(np.ones((8, 1)), np.ones((8, 1)), epochs=2, verbose=0)
    assert history.history["loss"][1] < history.history["loss"][0]


def test_shapes_and_references_of_weights():
    model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2)])
    kernel, bias = model.trainable_variables
    assert kernel.shape.as_list() == kernel.get_shape().as_list() == [3, 2]
    assert sum(v.shape.num_elements() for v in (kernel, bias)) == model.count_params() == 8
    assert {kernel.ref(): "kernel", bias.ref(): "bias"}[kernel.ref()] == "kernel"
    assert kernel.ref().deref() is kernel
    assert tf.zeros_like(kernel).shape == kernel.shape


def test_a_layer_takes_a_list_of_numbers():
    dense = tf.keras.layers.Dense(2, kernel_initializer="ones")
    np.testing.assert_array_equal(dense([[1.0, 2.0], [3.0, 4.0]]), [[3, 3], [7, 7]])
    added = tf.keras.layers.Add()([tf.ones([2]), tf.ones([2])])
    np.testing.assert_array_equal(added, [2, 2])


def test_a_model_lists_its_layers_as_submodules():
    inner = keras.Sequential([keras.layers.Dense(2), keras.layers.Dense(1)])
    model = keras.Sequential([inner, keras.layers.Flatten()])
    assert set(model.submodules) == {inner, *inner.layers, *model.layers}


class _Scaled(keras.layers.Layer):
    def build(self, input_shape):
        self.kernel = self.add_weight("kernel", shape=(2, 2), initializer="ones")

    def call(self, x, training, mask, scale=1.0, past=None):
        x = x @ self.kernel * scale
        if training:
            x = x + 1.0
        return x if mask is None else x * mask


class _Outer(keras.Model):
    def __init__(self):
        super().__init__()
        self.inner = _Scaled()
        self.dropout = keras.Sequential([keras.layers.Dropout(0.5)])

    def call(self, x, training=False):
        x = self.inner(x, training, None, 2.0, [None, None])
        return self.dropout(x, False)


@pytest.mark.filterwarnings("ignore:Layer .* was passed an input with a mask:UserWarning")
def test_layers_take_what_is_no_tensor_by_position():
    x, mask = tf.ones((1, 2)), tf.constant([[1.0, 0.0]])
    layer = _Scaled()
    np.testing.assert_array_equal(layer(x, True, None), [[3.0, 3.0]])
    np.testing.assert_array_equal(layer(x, False, mask), [[2.0, 0.0]])
    np.testing.assert_array_equal(layer(x, False, mask, scale=2), [[4.0, 0.0]])
    np.testing.assert_array_equal(layer(x, False, mask, 3), [[6.0, 0.0]])
    model = _Outer()
    np.testing.assert_array_equal(model(x, True), [[5.0, 5.0]])
    np.testing.assert_array_equal(tf.function(model)(x, False), [[4.0, 4.0]])
    inputs = keras.Input((2,))
    symbolic = keras.Model(inputs, layer(inputs, True, None, 2))
    np.testing.assert_array_equal(symbolic(x, True), [[5.0, 5.0]])
    with pytest.raises((TypeError, ValueError)):
        layer(x, True, None, 1.0, None, None)
    with pytest.raises((TypeError, ValueError)):
        layer(x, True, None, mask=mask)


def test_layers_take_a_number():
    class Twice(keras.layers.Layer):
        def call(self, x):
            return 2 * x

    assert float(Twice()(3.0)) == 6.0


def test_replicas_pass_training_by_position():
    with (strategy := mirrored(2)).scope():
        model = _Outer()
    result = strategy.run(lambda x: model(x, True), args=(tf.ones((1, 2)),))
    for value in strategy.experimental_local_results(result):
        np.testing.assert_array_equal(value, [[5.0, 5.0]])


def test_add_variable_takes_the_name_first():
    layer = keras.layers.Layer()
    weight = layer.add_variable("w", [2, 3])
    assert (weight.name, tuple(weight.shape)) == ("w", (2, 3))
    assert layer.add_variable((4,), "ones").shape == (4,)


def test_variables_of_layers_take_use_locking():
    source, target = keras.layers.Dense(2), keras.layers.Dense(2)
    for layer in (source, target):
        layer.build((None, 3))
    for old, new in zip(target.weights, source.weights, strict=True):
        old.assign(0.5 * new + 0.5 * old, False)
    copy = keras.Variable(1.0)
    copy.assign(2.0, use_locking=True, name="update", read_value=False)
    assert float(copy) == 2.0
    with pytest.raises(TypeError):
        copy.assign(2.0, lock=True)


def test_layers_take_settings_by_position():
    class Layer(keras.layers.Layer):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)

    layer = Layer(False, "own", "float16")
    assert (layer.trainable, layer.name, layer.compute_dtype) == (False, "own", "float16")
    with pytest.raises(TypeError, match=r"Expected trainable, a bool.*got 'own'.*name="):
        Layer("own")
    for args in ((True, "own"), (True, "own", None, False, 1)):
        with pytest.raises(TypeError, match=r"each once, but got .*keywords \['name'\]"):
            Layer(*args, name="other")


def test_a_model_ignores_what_it_gets_by_position():
    class Policy(keras.Model):
        def __init__(self):
            super().__init__("my_policy")
            self.dense = keras.layers.Dense(2)

        def call(self, inputs):
            return self.dense(inputs)

    model = Policy()
    assert (model.name, model(tf.ones([3, 4])).shape) == ("policy", (3, 2))


def test_a_model_with_a_dynamic_layer_runs_eagerly():
    class Counts(keras.layers.Layer):
        def __init__(self):
            super().__init__(dynamic=True)
            self.calls = 0

        def call(self, inputs):
            self.calls += 1
            return inputs

    model = keras.Sequential([keras.Input((2,)), counts := Counts(), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    before = counts.calls
    model.fit(tf.ones([6, 2]), tf.ones([6, 1]), batch_size=2, epochs=2, verbose=0)
    assert counts.calls - before >= 6, "each step calls it"
    model.compile("sgd", "mse", run_eagerly=False)
    assert not model.run_eagerly


def test_metrics_take_the_values_of_several_replicas():
    strategy = mirrored()

    @tf.function
    def step():
        index = tf.distribute.get_replica_context().replica_id_in_sync_group
        return tf.constant([1.0, 5.0]) + tf.cast(index, tf.float32)

    first, second = values = strategy.experimental_local_results(strategy.run(step))
    mean, error = keras.metrics.Mean(), keras.metrics.MeanSquaredError()
    mean.update_state(values)
    assert mean.result() == mean(list(values)) == 3.5
    error.update_state(first, second)
    assert error.result() == 1
    with pytest.raises(TypeError, match="shape"):
        error.update_state(first, tf.ones([3]))


def test_a_call_writes_a_variable_of_a_plain_object():
    class Counter:
        def __init__(self):
            self.count = tf.Variable(0.0)

    class Model(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = keras.layers.Dense(1, kernel_initializer="ones")
            self.counter = Counter()

        def call(self, inputs):
            return self.dense(inputs) * self.counter.count.assign_add(1.0)

    model = Model()
    assert model(tf.ones([2, 2])).tolist() == [[2], [2]]
    run = tf.function(lambda: model(tf.ones([1, 2])))
    assert [run().item(), run().item(), model.counter.count.numpy()] == [4, 6, 3]


def test_a_model_takes_one_row_as_in_a_map_function():
    row = tf.keras.Input((3,))
    model = tf.keras.Model(row, tf.keras.layers.Rescaling(2.0)(row))
    assert model(np.array([1.0, 2.0, 3.0], np.float32)).tolist() == [2, 4, 6]
    rows = tf.data.Dataset.from_tensor_slices(np.ones((4, 3), np.float32))
    assert next(iter(rows.map(model).batch(2))).tolist() == [[2, 2, 2], [2, 2, 2]]
    with pytest.raises(ValueError, match="shape"):
        model(np.ones(4, np.float32))


def test_a_target_for_each_row_is_compared_with_all_outputs():
    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(3, use_bias=False)])
    model.compile("sgd", "mse", metrics=["mae"])
    model.layers[0].kernel.assign(np.eye(2, 3))
    x, y = np.ones((4, 2), np.float32), np.full(4, 3.0, np.float32)
    loss, error = model.evaluate(x, y, batch_size=2, verbose=0)
    assert (loss, error) == (pytest.approx((4 + 4 + 9) / 3), pytest.approx((2 + 2 + 3) / 3))


def test_classes_are_encoded_in_the_type_that_is_asked_for():
    encoded = tf.keras.utils.to_categorical([0, 2], 3, dtype="uint8")
    assert encoded.dtype == np.uint8
    assert encoded.tolist() == [[1, 0, 0], [0, 0, 1]]
    assert tf.keras.utils.to_categorical([1]).dtype.kind == "f"


def test_a_schedule_without_a_name_has_its_classes():
    schedule = tf.keras.optimizers.schedules.ExponentialDecay(0.5, 10, 0.5, name=None)
    assert float(schedule(10)) == 0.25


def test_names_may_have_a_slash(tmp_path):
    class Block(keras.layers.Layer):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.dense = keras.layers.Dense(2, name="dense/1")

        def build(self, input_shape):
            self.scale = self.add_weight(name="scale/all", shape=(3,), initializer="ones")
            super().build(input_shape)

        def call(self, inputs):
            return self.dense(inputs * self.scale)

    block = Block(name="block/1")
    block(np.ones((2, 3), np.float32))
    assert block.name == "block/1"
    assert [weight.path for weight in block.weights] == [
        "block/1/scale/all",
        "block/1/dense/1/kernel",
        "block/1/dense/1/bias",
    ]
    assert block.scale.name == "scale/all"
    inputs = keras.Input((3,), name="image/input")
    model = keras.Model(inputs, keras.layers.Dense(2, name="head/out")(inputs), name="net/1")
    for file in ("model.keras", "model.h5"):
        model.save(tmp_path / file)
        loaded = keras.models.load_model(tmp_path / file)
        assert loaded.name == "net/1"
        np.testing.assert_array_equal(
            loaded.get_layer("head/out").kernel, model.get_layer("head/out").kernel
        )


@pytest.mark.parametrize("strategy", [None, "mirrored"])
def test_the_target_of_one_output_may_stand_under_its_name(strategy):
    x, y = np.ones((8, 3), np.float32), np.ones((8, 2), np.float32)

    def fit(target):
        with mirrored().scope() if strategy else contextlib.nullcontext():
            inputs = keras.Input((3,))
            outputs = keras.layers.Dense(2, kernel_initializer="ones", name="out")(inputs)
            model = keras.Model(inputs, outputs)
            model.compile("sgd", lambda y, p: tf.reduce_mean(tf.square(y - p), -1), metrics=["mae"])
        data = tf.data.Dataset.from_tensor_slices((x, target)).batch(4)
        return model.fit(data, validation_data=data, verbose=0).history

    named = fit({"out": y})
    assert named == fit(y)
    # As tf_keras of TensorFlow 2.21 gives it.
    assert named["loss"][0] == pytest.approx(3.8432002, rel=1e-6)
    assert named["mae"][0] == pytest.approx(1.96, rel=1e-6)
    with pytest.raises(
        ValueError, match="Expected the targets of the output 'out', but those of 'typo'"
    ):
        fit({"typo": y})


@pytest.mark.parametrize(
    ("args", "options"),
    [
        ((["mae"],), {}),
        (("mae",), {}),
        (([keras.metrics.MeanAbsoluteError("mae")], [2.0]), {}),
        ((["mae"],), {"loss_weights": [2.0]}),
        (({"out": "mae"}, {"out": 2.0}), {}),
        (([2.0], ["mae"]), {}),
        (([2.0], "mae"), {}),
        ((), {"metrics": "mae"}),
    ],
)
def test_metrics_may_come_third(args, options):
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1, "relu", name="out")])
    model.compile("sgd", "mse", *args, **options)
    weight = 2.0 if len(args) == 2 or "loss_weights" in options else 1.0
    loss, error = model.evaluate(-np.ones((2, 2)), 3 * np.ones((2, 1)), verbose=0)
    prediction = 3 - error
    assert loss == pytest.approx(weight * (3 - prediction) ** 2, rel=1e-5)


def test_weights_of_losses_may_come_third():
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse", 2.0, None, ["mae"], experimental_run_tf_function=False)
    assert len(model.evaluate(np.ones((2, 2)), np.ones((2, 1)), verbose=0)) == 2
    model.compile("sgd", "mse", [], None)
    assert np.ndim(model.evaluate(np.ones((2, 2)), np.ones((2, 1)), verbose=0)) == 0


class _Projection(keras.layers.Layer):
    """Makes its weights of what operations compute, as scripts for TensorFlow 2 do."""

    def __init__(self, initial_value):
        super().__init__()
        self.initial_value = initial_value

    def build(self, input_shape):
        self.kernel = tf.Variable(self.initial_value([input_shape[-1], 3]), name="kernel")
        self.offsets = tf.range(3.0)

    def call(self, x):
        return tf.matmul(x, self.kernel) + self.offsets


class _Projections(keras.layers.Layer):
    def __init__(self, initial_value):
        super().__init__()
        self.parts = [_Projection(initial_value) for _ in range(2)]

    def call(self, x):
        for part in self.parts:
            x = part(x)
        return x


@pytest.mark.parametrize(
    "initial_value",
    [
        lambda shape: lambda: tf.random.normal(shape),
        tf.random.normal,
        tf.random_normal_initializer(),
        lambda shape: keras.initializers.GlorotUniform()(shape),
    ],
    ids=["function", "tensor", "tf", "keras"],
)
@pytest.mark.parametrize("functional", [True, False])
def test_layers_in_layers_compute_initial_values(initial_value, functional) -> None:
    """They are built while Keras infers shapes; drawn there, those of all layers were alike."""
    layer = _Projections(initial_value)
    if functional:
        inputs = keras.Input((3,))
        keras.Model(inputs, layer(inputs))
    x = np.ones([2, 3], np.float32)
    first, second = layer(x), layer(x)
    kernels = layer.get_weights()
    assert not np.array_equal(kernels[0], kernels[1])
    expected = (x @ kernels[0] + np.arange(3)) @ kernels[1] + np.arange(3)
    np.testing.assert_allclose(first, expected, rtol=1e-5)
    np.testing.assert_array_equal(first, second)


def test_a_layer_that_a_step_builds_computes_initial_values() -> None:
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    with strategy.scope():
        layer = _Projections(tf.random.normal)
    x = tf.ones([4, 3])
    results = strategy.experimental_local_results(strategy.run(layer, args=(x,)))
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_allclose(results[0], layer(x), rtol=1e-5)
