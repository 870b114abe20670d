"""Modules that are saved and loaded without their code."""

import pytest

from frontends import tf
from spmd.errors import ExportError


class Scale(tf.Module):
    def __init__(self):
        super().__init__()
        self.factor = tf.Variable(3.0)


class Model(tf.Module):
    def __init__(self):
        super().__init__()
        self.weight = tf.Variable([[1.0], [2.0]], name="weight")
        self.calls = tf.Variable(0, trainable=False)
        self.scale = Scale()
        self.parts = [Scale(), Scale()]

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32)])
    def __call__(self, x):
        self.calls.assign_add(1)
        y = x @ self.weight * self.scale.factor
        if tf.reduce_sum(y) > 100.0:
            y = -y
        return y

    @tf.function(
        input_signature=[
            tf.TensorSpec([None], tf.float32),
            {"shift": tf.TensorSpec([], tf.float32), "times": tf.TensorSpec([], tf.float32)},
        ]
    )
    def moved(self, x, how):
        return {"sum": tf.reduce_sum(x), "moved": x * how["times"] + how["shift"]}

    @tf.function
    def power(self, x, exponent):
        return x**exponent


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "module"
    model = Model()
    model.weight.assign([[2.0], [1.0]])
    square = model.power.get_concrete_function(tf.TensorSpec([None], tf.float32), 2)
    tf.saved_model.save(
        model, path, signatures={"square": square, "serving_default": model.__call__}
    )
    return path


def test_methods_and_variables_are_where_they_were(folder):
    loaded = tf.saved_model.load(folder)
    assert loaded(tf.ones([3, 2])).tolist() == [[9]] * 3
    assert loaded(tf.ones([30, 2])).tolist() == [[-9]] * 30
    assert loaded.calls.numpy() == 2
    loaded.scale.factor.assign(10.0)
    assert loaded(x=[[1.0, 1.0]]).tolist() == [[30]]
    assert [part.factor.numpy() for part in loaded.parts] == [3, 3]
    assert len(loaded.variables) == 5
    assert [v.shape for v in loaded.trainable_variables if v.shape.rank] == [(2, 1)]
    assert loaded.power(tf.constant([3.0, 1.0]), 2).tolist() == [9, 1]


def test_structures(folder):
    loaded = tf.saved_model.load(folder)
    how = {"shift": tf.constant(1.0), "times": tf.constant(2.0)}
    for found in (loaded.moved([1.0, 2.0], how), loaded.moved(how=how, x=tf.constant([1.0, 2.0]))):
        assert {name: value.tolist() for name, value in found.items()} == {
            "sum": 3,
            "moved": [3, 5],
        }


def test_signatures(folder):
    signatures = tf.saved_model.load(folder).signatures
    assert sorted(signatures) == ["serving_default", "square"]
    assert signatures["square"](x=tf.constant([3.0]))["output_0"].tolist() == [9]
    serve = signatures["serving_default"]
    assert serve(tf.ones([1, 2]))["output_0"].tolist() == [[9]]
    assert serve.structured_input_signature == (
        (),
        {"x": tf.TensorSpec([None, 2], tf.float32, "x")},
    )
    assert serve.structured_outputs == {
        "output_0": tf.TensorSpec([None, 1], tf.float32, "output_0")
    }


def test_steps_find_the_variables(folder):
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    with strategy.scope():
        loaded = tf.saved_model.load(folder)
    results = strategy.run(lambda: tf.reduce_sum(loaded(tf.ones([1, 2]))))
    assert strategy.reduce("SUM", results, axis=None) == 18


class Layer(tf.Module):
    def __init__(self):
        super().__init__()
        self.scale = tf.Variable(2.0)

    @tf.function
    def __call__(self, x, negate=False):
        return -x * self.scale if negate else x * self.scale


class Trained(tf.Module):
    def __init__(self):
        super().__init__()
        self.layers = [Layer(), Layer()]
        self.optimizer = tf.keras.optimizers.SGD(0.5)

    @tf.function
    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

    @tf.function
    def train(self, x):
        with tf.GradientTape() as tape:
            loss = self(x)
        weights = self.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        return loss

    @tf.function(input_signature=[tf.TensorSpec(None)])
    def doubled(self, x):
        return 2.0 * x


def test_methods_are_saved_for_what_they_were_called_with(tmp_path):
    model = Trained()
    model(tf.ones([]))
    model(tf.ones([2]))
    model.layers[0](tf.ones([2]))
    model.layers[0](tf.ones([2]), True)
    model.other = Layer()  # which nobody calls
    tf.saved_model.save(model, tmp_path)
    loaded = tf.saved_model.load(tmp_path)
    assert loaded(3.0).tolist() == 12
    assert loaded([1.0, 2.0]).tolist() == [4, 8]
    layer = loaded.layers[0]
    assert layer(tf.ones([2])).tolist() == layer(tf.ones([2]), negate=False).tolist() == [2, 2]
    assert (
        layer(tf.ones([2]), negate=True).tolist() == layer(tf.ones([2]), True).tolist() == [-2, -2]
    )
    layer.scale.assign(5.0)
    assert loaded([1.0, 2.0]).tolist() == [10, 20]
    with pytest.raises(
        ValueError, match=r"(?s)matching concrete function.*x: float32\[2\], negate=True"
    ):
        layer(tf.ones([3]))
    with pytest.raises(TypeError, match="saved without a method __call__"):
        loaded.other(tf.ones([2]))
    assert loaded.layers[1](tf.ones([2])).tolist() == [2, 2]


class Calling(tf.Module):
    """Methods that call one."""

    def __init__(self):
        super().__init__()
        self.factor = tf.Variable(2.0)

    @tf.function
    def inner(self, x, scale=1.0):
        return x * self.factor * scale

    @tf.function
    def outer(self, x):
        return self.inner(x) + self.inner(tf.concat([x, x], 0), scale=2.0)[:1]


def reloaded(module, path):
    tf.saved_model.save(module, path)
    return tf.saved_model.load(path)


def test_methods_that_others_call_are_saved_too(tmp_path):
    module = Calling()
    module.outer(tf.ones([1]))
    for _ in range(2):  # saving calls them, with sizes of the program
        loaded = reloaded(module, tmp_path)
        assert loaded.outer(tf.ones([1])).tolist() == [6]
        assert loaded.inner(tf.ones([1])).tolist() == [2]
        assert loaded.inner(tf.ones([2]), scale=2.0).tolist() == [4, 4]
        with pytest.raises(ValueError, match="matching concrete function"):
            loaded.inner(tf.ones([3]))


def test_a_call_with_a_keyword_does_not_stand_for_one_without(tmp_path):
    module = Calling()
    with tf.GradientTape():
        module.inner(tf.ones([1]), scale=3.0)
        module.inner(tf.ones([1]))
        module.inner(tf.ones([1]), 5.0)
    loaded = reloaded(module, tmp_path)
    assert loaded.inner(tf.ones([1]), scale=3.0).tolist() == [6]
    assert loaded.inner(tf.ones([1])).tolist() == [2]
    assert loaded.inner(tf.ones([1]), 5.0).tolist() == [10]


def test_methods_that_were_called_under_a_tape_are_saved(tmp_path):
    module = Calling()
    with tf.GradientTape() as tape:
        loss = module.inner(tf.ones([1]), scale=3.0)
    assert tape.gradient(loss, module.factor).numpy() == 3
    assert reloaded(module, tmp_path).inner(tf.ones([1]), scale=3.0).tolist() == [6]


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    ("make", "is_saved"),
    [
        (lambda: tf.distribute.MirroredStrategy(["cpu:0"]), False),
        (lambda: tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"]), False),
        (lambda: tf.distribute.OneDeviceStrategy("cpu:0"), True),
        (tf.distribute.get_strategy, True),
    ],
)
def test_methods_that_replicas_call_are_saved_where_tensorflow_does(
    tmp_path, make, is_saved, compiled
):
    strategy = make()
    with strategy.scope():
        module = Calling()

    def run(x):
        return strategy.run(module.inner, (x,))

    (tf.function(run) if compiled else run)(tf.ones([2]))
    loaded = reloaded(module, tmp_path)
    assert hasattr(loaded, "inner") == is_saved
    if is_saved:
        assert loaded.inner(tf.ones([2])).tolist() == [2, 2]


def test_a_method_that_trains_with_an_optimizer_is_left_out(tmp_path):
    model = Trained()
    model(tf.ones([]))
    model.train(tf.ones([]))
    with pytest.warns(UserWarning, match="Not saved: The function 'train' uses .*iteration"):
        tf.saved_model.save(model, tmp_path)
    loaded = tf.saved_model.load(tmp_path)
    assert not hasattr(loaded, "train")
    assert loaded(1.0) == model(tf.ones([]))


def test_tensors_of_unknown_rank(tmp_path):
    tf.saved_model.save(Trained(), tmp_path)
    loaded = tf.saved_model.load(tmp_path)
    assert loaded.doubled(1.0).tolist() == 2
    assert loaded.doubled(tf.ones([1, 3])).tolist() == [[2, 2, 2]]


class Holding(tf.Module):
    """Lists, dicts and arguments of all kinds."""

    def __init__(self):
        super().__init__()
        self.parts = ["nothing to save", Layer(), {"b": Layer()}, {5: Layer()}]
        self.parts[2]["b"].scale.assign(3.0)

    @tf.function
    def named(self, x, mode="double"):
        return x * 2 if mode == "double" else x

    @tf.function
    def sized(self, n):
        return tf.zeros([n])

    @tf.function(autograph=False)
    def switched(self, x, on=False):
        return x + 1 if on else x

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32, "first"), tf.TensorSpec([])])
    def both(self, a, first):
        return a - first


def test_arguments_and_containers_of_all_kinds(tmp_path):
    module = Holding()
    one = tf.ones([])
    module.named(one)
    module.named(one, "other")
    module.sized(3)
    module.switched(one)
    module.switched(one, on=True)
    for part in (module.parts[1], module.parts[2]["b"], module.parts[3][5]):
        part(one)
    tf.saved_model.save(module, tmp_path)
    loaded = tf.saved_model.load(tmp_path)
    assert [float(loaded.named(1.0)), float(loaded.named(1.0, mode="other"))] == [2, 1]
    assert loaded.sized(3).tolist() == [0, 0, 0]
    assert [float(loaded.switched(1.0)), float(loaded.switched(1.0, True))] == [1, 2]
    assert float(loaded.both(a=3.0, first=1.0)) == 2
    _, second, third, fourth = loaded.parts
    assert [float(part(1.0)) for part in (second, third["b"], fourth[5])] == [2, 3, 2]


def test_loaded_functions_are_trained_on(tmp_path):
    layer = Layer()
    layer(tf.ones([2]))
    tf.saved_model.save(layer, tmp_path / "layer")
    loaded = tf.saved_model.load(tmp_path / "layer")
    optimizer = tf.keras.optimizers.SGD(0.1)

    def train():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((loaded([1.0, 1.0]) - 5.0) ** 2)
        gradients = tape.gradient(loss, [loaded.scale])
        optimizer.apply_gradients(zip(gradients, [loaded.scale], strict=True))
        return loss

    losses = [float(step()) for step in (train, tf.function(train))]
    assert losses == pytest.approx([18.0, 6.48])


def test_a_loop_without_a_derivative_is_saved(tmp_path):
    class Halving(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([])])
        def __call__(self, x):
            while x > 1.0:
                x = x / 2.0
            return x

    tf.saved_model.save(Halving(), tmp_path)
    assert float(tf.saved_model.load(tmp_path)(12.0)) == 0.75


def test_wrong_calls(folder):
    loaded = tf.saved_model.load(folder)
    with pytest.raises(
        TypeError, match=r"__call__ takes x: float32\[None, 2\], but got 0 arguments"
    ):
        loaded()
    with pytest.raises(TypeError, match=r"1 arguments by position and y by name"):
        loaded(tf.ones([1, 2]), y=1)
    with pytest.raises(ValueError, match="Reshape it"):
        loaded(tf.ones([1, 3]))
    with pytest.raises(TypeError, match="but got 2 arrays"):
        loaded.moved(tf.ones([1]), {"shift": tf.constant(1.0)})


def test_what_cannot_be_saved(tmp_path):
    model, outside = Model(), tf.Variable(1.0)
    with pytest.raises(
        TypeError, match=r"'serving_default' must be a tf.function with an input_signature"
    ):
        tf.saved_model.save(model, tmp_path / "a", signatures=model.power)

    class Reaching(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([])])
        def add(self, x):
            return x + outside

    with pytest.raises(ExportError, match=r"'add' uses .*not in the module"):
        tf.saved_model.save(Reaching(), tmp_path / "b")


def test_a_module_with_variables_alone(tmp_path):
    tf.saved_model.save(Scale(), tmp_path / "scale")
    loaded = tf.saved_model.load(tmp_path / "scale")
    assert loaded.factor.numpy() == 3
    with pytest.raises(TypeError, match="saved without a method __call__"):
        loaded(1.0)


def test_the_declared_arguments_of_a_function():
    assert Model().__call__.input_signature == (tf.TensorSpec([None, 2], tf.float32),)
    assert Model().power.input_signature is None


class Classifier(tf.Module):
    """Gives names of classes, as the tutorial on audio does when it exports its model."""

    names = ("no", "yes", "maybe")

    @tf.function
    def __call__(self, x):
        numbers = tf.argmax(x, axis=-1)
        return {"number": numbers, "name": tf.gather(self.names, numbers)}

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32)])
    def best(self, x):
        return tf.gather(self.names, tf.argmax(x, axis=-1))[0], x


@pytest.fixture(scope="module")
def classifier(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "classifier"
    model = Classifier()
    declared = model.__call__.get_concrete_function(tf.TensorSpec([None, 3], tf.float32))
    tf.saved_model.save(model, path, signatures=declared)
    return tf.saved_model.load(path)


ROWS = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]


def test_saved_functions_choose_texts_by_their_numbers(classifier):
    found = classifier(tf.constant(ROWS))
    assert found["number"].tolist() == [1, 2]
    assert found["name"].numpy().tolist() == [b"yes", b"maybe"]
    name, same = classifier.best(tf.constant(ROWS))
    assert (name.numpy(), same.tolist()) == (b"yes", ROWS)


def test_saved_signatures_choose_texts_by_their_numbers(classifier):
    serve = classifier.signatures["serving_default"]
    assert serve(x=tf.constant(ROWS))["name"].tolist() == [b"yes", b"maybe"]
    assert serve.structured_outputs["name"].dtype == tf.string


def test_loaded_functions_choose_texts_in_programs(classifier):
    program = tf.function(lambda x: classifier(x)["name"])
    assert program(tf.constant(ROWS)).numpy().tolist() == [b"yes", b"maybe"]


def test_functions_that_take_texts_are_left_out_with_a_warning(tmp_path):
    class Lengths(tf.Module):
        def __init__(self):
            super().__init__()
            self.scale = tf.Variable(2.0)

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def of_texts(self, texts):
            return self.scale * tf.cast(tf.strings.length(texts), tf.float32)

        @tf.function(input_signature=[tf.TensorSpec([None])])
        def of_numbers(self, lengths):
            return self.scale * lengths

    model = Lengths()
    signatures = {"texts": model.of_texts, "numbers": model.of_numbers}
    with pytest.warns(UserWarning, match="takes the texts 'texts'") as warned:
        tf.saved_model.save(model, tmp_path / "lengths", signatures=signatures)
    assert len(warned) == 2  # the method, and the signature
    loaded = tf.saved_model.load(tmp_path / "lengths")
    assert list(loaded.signatures) == ["numbers"]
    assert loaded.of_numbers(tf.constant([3.0])).tolist() == [6.0]
    assert not hasattr(loaded, "of_texts")
