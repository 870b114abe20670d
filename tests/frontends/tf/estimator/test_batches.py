"""What an `input_fn` returns, as batches."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf.estimator.batches import batches_of, call_with
from tests.frontends.tf.estimator.models import X, Y, by_hand, data, linear


def test_three_values_are_an_error():
    with pytest.raises(ValueError, match="as a len 2 tuple, not 3 values"):
        next(batches_of(lambda: (1, 2, 3), tf.distribute.get_strategy()))


def test_a_list_is_features_and_labels_and_nothing_is_an_error():
    strategy = tf.distribute.get_strategy()
    features, labels = next(batches_of(lambda: [np.ones((2, 3)), np.zeros(2)], strategy))
    assert (features.shape, labels.shape) == ((2, 3), (2,))
    with pytest.raises(ValueError, match=r"return a tf\.data\.Dataset, .* but returned None"):
        next(batches_of(lambda: None, strategy))


def test_a_function_gets_the_arguments_that_it_takes():
    assert call_with(lambda mode: mode, mode=1, params=2) == 1
    assert call_with(lambda **known: known, mode=1, params=2) == {"mode": 1, "params": 2}
    assert call_with(lambda: 3, mode=1) == 3


@pytest.mark.parametrize(
    ("element", "expected"),
    [
        ((np.ones(2), np.zeros(2)), ([1, 1], [0, 0])),
        ({"a": np.ones(2)}, ({"a": [1, 1]}, None)),
        (({"a": np.ones(2)}, np.zeros(2)), ({"a": [1, 1]}, [0, 0])),
    ],
)
def test_features_and_labels(element, expected):
    strategy = tf.distribute.get_strategy()

    def plain(value):
        return tf.nest.map_structure(
            lambda one: (
                one
                if one is None
                else np.asarray(strategy.experimental_local_results(one)[0]).tolist()
            ),
            value,
        )

    first = next(iter(batches_of(lambda: tf.data.Dataset.from_tensors(element), strategy)))
    assert plain(first) == expected
    again = batches_of(lambda: element, strategy)  # is no dataset: the same for each step
    assert [plain(next(again)) for _ in range(2)] == [expected] * 2


def test_the_context_tells_the_worker():
    seen = []

    def input_fn(input_context, params):
        seen.append((input_context.num_input_pipelines, params))
        return tf.data.Dataset.from_tensors(1.0)

    assert len(list(batches_of(input_fn, tf.distribute.get_strategy(), params={"a": 1}))) == 1
    assert seen == [(1, {"a": 1})]


def test_texts_become_what_a_step_can_take():
    features = {"name": np.array(["a", "b"]), "age": np.ones(2)}, np.array(["x", "y"])
    for source in (tf.data.Dataset.from_tensors(features), features):
        element = next(iter(batches_of(lambda given=source: given, tf.distribute.get_strategy())))
        equal = tf.distribute.get_strategy().run(
            lambda features, labels: (features["name"] == "b", labels == "x"), element
        )
        assert [one.numpy().tolist() for one in equal] == [[False, True], [True, False]]


@pytest.mark.parametrize("count", [1, 2])
def test_an_element_of_an_iterator_stands_for_all_batches(count):
    strategy = tf.distribute.MirroredStrategy([f"/cpu:{i}" for i in range(count)])

    def input_fn(params):
        rows = tf.data.Dataset.range(8).batch(params["size"])
        return {"x": rows.make_one_shot_iterator().get_next() + 1}, None

    batches = list(batches_of(input_fn, strategy, params={"size": 2}))
    assert len(batches) == 4 // count
    first = strategy.experimental_local_results(batches[0][0]["x"])
    assert [np.asarray(one).tolist() for one in first] == [[1, 2], [3, 4]][:count]
    assert all(labels is None for _, labels in batches)


class Feeding(tf.estimator.SessionRunHook):
    """Feeds the placeholders of an input_fn, as scripts of TensorFlow 1 do."""

    def __init__(self):
        self.initialize = None

    def input_fn(self):
        x, y = (tf.placeholder(tf.float32, [None, 1]) for _ in range(2))
        dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(4)
        iterator = dataset.make_initializable_iterator()
        self.initialize = lambda session: session.run(iterator.initializer, feed_dict={x: X, y: Y})
        return iterator.get_next()

    def after_create_session(self, session, coord):
        self.initialize(session)


def test_hooks_feed_placeholders_whatever_the_estimator_does(tmp_path):
    hook, estimator = Feeding(), tf.estimator.Estimator(linear, tmp_path, params={"rate": 0.1})
    estimator.train(hook.input_fn, hooks=[hook])
    assert estimator.get_variable_value("dense/bias") == pytest.approx(by_hand(2)[1], rel=1e-5)
    found = estimator.evaluate(hook.input_fn, hooks=[hook])
    assert found == estimator.evaluate(data())
    rows = list(estimator.predict(hook.input_fn, hooks=[hook]))
    assert [row["x"] for row in rows] == X.tolist()
