"""Estimators: training, evaluation and predictions of a model function."""

import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from frontends import tf
from spmd.state import WRITE_OBSERVERS
from tests.frontends.tf.estimator.models import X, Y, by_hand, data, linear


@pytest.fixture
def make(tmp_path):
    def make(strategy=None, rate=0.1, model_fn=linear, **config):
        config = tf.estimator.RunConfig(
            train_distribute=strategy, eval_distribute=strategy, **config
        )
        return tf.estimator.Estimator(model_fn, tmp_path, config, {"rate": rate})

    return make


def values(estimator):
    return [
        float(estimator.get_variable_value(f"dense/{name}").item()) for name in ("kernel", "bias")
    ]


def test_training_is_gradient_descent(make):
    estimator = make().train(data(10), steps=13)
    weight, bias, _ = by_hand(13)
    assert values(estimator) == pytest.approx([weight, bias], rel=1e-5)
    assert estimator.get_variable_names() == ["dense/bias", "dense/kernel", "global_step"]
    assert estimator.get_variable_value("global_step:0") == 13


def test_no_tape_is_told_of_the_steps_of_an_estimator(make):
    before = set(WRITE_OBSERVERS)
    estimator = make().train(data(10), steps=3)
    assert set(WRITE_OBSERVERS) <= before
    assert estimator.get_variable_value("global_step") == 3


def test_replicas_take_a_batch_each(make):
    estimator = make(tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])).train(data(10))
    weight, bias, _ = by_hand(10, rows=8)  # two batches of four
    assert values(estimator) == pytest.approx([weight, bias], rel=1e-5)


def test_another_estimator_goes_on_where_one_ended(make):
    make().train(data(10), steps=5)
    estimator = make().train(data(10), max_steps=8)
    # The dataset begins anew.
    assert estimator.get_variable_value("global_step") == 8
    before = values(estimator)
    estimator.train(data(10), max_steps=8)
    assert values(estimator) == before


def test_a_training_that_fails_reads_no_further(make):
    class Fails(tf.estimator.SessionRunHook):
        def after_run(self, run_context, run_values):
            raise KeyError("of the hook")

    with pytest.raises(KeyError) as raised:
        make().train(data(10), hooks=[Fails()])
    # What the traceback leads to is still there.
    assert "spmd-input" not in {thread.name for thread in threading.enumerate()}, raised


def test_training_and_evaluation_leave_the_scripts_random_numbers_alone(make):
    drawn = []
    for trains in (False, True):
        tf.random.set_seed(3)
        drawn.append([float(tf.random.normal([]))])
        if trains:
            make().train(data(10), steps=1).evaluate(data())
        drawn[-1].append(float(tf.random.normal([])))
    tf.random.set_seed(None)
    assert drawn[0] == drawn[1]


def test_a_dataset_that_ends_ends_the_training(make):
    assert make().train(data(3), max_steps=100).get_variable_value("global_step") == 6


def test_an_evaluation_is_the_mean_over_batches(make):
    estimator = make(rate=0.0).train(data(), steps=1)
    losses = [
        np.mean((X[i : i + 3] - Y[i : i + 3]) ** 2) for i in (0, 3, 6)
    ]  # the last has two rows
    found = estimator.evaluate(data(batch=3))
    assert found["loss"] == pytest.approx(np.mean(losses), rel=1e-5)
    assert found["global_step"] == 1
    assert estimator.evaluate(data(batch=3), steps=2)["loss"] == pytest.approx(
        np.mean(losses[:2]), rel=1e-5
    )


@pytest.mark.parametrize(("shows_rows", "calls"), [(False, 2), (True, 3)])
def test_training_traces_the_model_function_with_its_variables_once(make, shows_rows, calls):
    """It is called to find the variables, for the step, and with a row more if summaries may have rows."""
    count = []

    def model_fn(features, labels, mode, params):
        count.append(mode)
        spec = linear(features, labels, mode, params)
        shown = features if shows_rows else tf.reduce_sum(features)
        tf.compat.v1.summary.histogram("features", shown)
        return spec

    make(model_fn=model_fn, save_summary_steps=1).train(data(10), steps=3)
    assert count == ["train"] * calls


def test_a_metric_is_computed_of_others(make):
    def model_fn(features, labels, mode):
        metrics = tf.compat.v1.metrics
        mean, largest = metrics.mean(features), metrics.mean_tensor(tf.reduce_max(features, 0))
        shares = {"share": (largest[0] / mean[0], tf.group(mean[1], largest[1]))}
        shares["again"] = tf.identity(shares["share"][0]), 2 * mean[1] - largest[1]
        return tf.estimator.EstimatorSpec(mode, None, mean[0], eval_metric_ops=shares)

    found = tf.estimator.Estimator(model_fn).evaluate(data())
    assert found["share"] == found["again"] == pytest.approx([5 / 3.5], rel=1e-6)


def test_a_replica_without_a_batch_counts_for_nothing(tmp_path):
    def model_fn(features, labels, mode):
        loss = tf.reduce_mean(labels)
        metrics = {"mean": tf.compat.v1.metrics.mean(loss)}
        return tf.estimator.EstimatorSpec(mode, None, loss, eval_metric_ops=metrics)

    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    config = tf.estimator.RunConfig(eval_distribute=strategy)
    found = tf.estimator.Estimator(model_fn, tmp_path, config).evaluate(data(batch=3))
    means = [np.mean(Y[i : i + 3]) for i in (0, 3, 6)]  # two replicas have one in the last step
    assert [found["loss"], found["mean"]] == pytest.approx([np.mean(means)] * 2, rel=1e-6)


def test_predictions_are_rows_or_batches(make):
    estimator = make(rate=0.0).train(data(), steps=1)
    features = lambda: tf.data.Dataset.from_tensor_slices(X).batch(3)  # noqa: E731
    rows = list(estimator.predict(features))
    assert [row["y"].tolist() for row in rows] == X.tolist()
    assert list(rows[0]) == ["y", "x"]
    batches = list(estimator.predict(features, "y", yield_single_examples=False))
    assert [batch["y"].shape for batch in batches] == [(3, 1), (3, 1), (2, 1)]
    with pytest.raises(
        ValueError, match=r"at least one output from \['x', 'y'\], provided \['z'\]"
    ):
        list(estimator.predict(features, "z"))
    with pytest.raises(ValueError, match=r"Key z not found in checkpoint .* It has: dense/"):
        estimator.get_variable_value("z")


def test_predictions_leave_the_scope_of_their_reader_alone(make):
    estimator = make(rate=0.0).train(data(), steps=1)
    strategy = tf.distribute.OneDeviceStrategy("cpu:0")
    with strategy.scope():
        first, second = (estimator.predict(data()) for _ in range(2))
        found = [next(first), next(second)]
        first.close()
        assert tf.distribute.get_strategy() is strategy
    assert not tf.distribute.has_strategy()
    with ThreadPoolExecutor() as pool:
        found += pool.submit(list, second).result()
    assert [one["x"].tolist() for one in found] == [X[0].tolist(), *X.tolist()]


def test_features_and_labels_that_are_no_dataset_are_those_of_each_step(make):
    estimator = make().train(lambda: (X[:4], Y[:4]), steps=2)
    assert estimator.get_variable_value("global_step") == 2


def test_the_log_says_what_tensorflow_says(make, caplog):
    caplog.set_level(logging.INFO, "tensorflow")
    make(log_step_count_steps=2, save_checkpoints_steps=3).train(data(10), steps=5)
    losses = [f"{loss:.6f}"[:6] for loss in by_hand(5)[2]]
    lines = [record.getMessage() for record in caplog.records]
    starts = [
        "Using config: {",
        "Calling model_fn.",
        "Done calling model_fn.",
        "Create CheckpointSaverHook.",
        "Calling checkpoint listeners before saving checkpoint 0...",
        "Saving checkpoints for 0 into ",
        "Calling checkpoint listeners after saving checkpoint 0...",
        f"loss = {losses[0]}",
        "Calling checkpoint listeners before saving checkpoint 3...",
        "Saving checkpoints for 3 into ",
        "Calling checkpoint listeners after saving checkpoint 3...",
        "global_step/sec: ",
        f"loss = {losses[2]}",
        "global_step/sec: ",
        f"loss = {losses[4]}",
        "Calling checkpoint listeners before saving checkpoint 5...",
        "Saving checkpoints for 5 into ",
        "Calling checkpoint listeners after saving checkpoint 5...",
        f"Loss for final step: {losses[4]}",
    ]
    assert [line[: len(start)] for line, start in zip(lines, starts, strict=True)] == starts
    steps = [line.partition(", step = ")[2].partition(" (")[0] for line in lines]
    assert [step for step in steps if step] == ["0", "2", "4"]


def test_limits_and_missing_checkpoints_are_errors(make):
    estimator = make()
    with pytest.raises(ValueError, match="Can not provide both steps and max_steps"):
        estimator.train(data(), steps=1, max_steps=1)
    with pytest.raises(ValueError, match="Must specify steps > 0, given: 0"):
        estimator.train(data(), steps=0)
    with pytest.raises(ValueError, match="Must specify steps > 0, given: -1"):
        estimator.evaluate(data(), steps=-1)
    with pytest.raises(ValueError, match="Could not find trained model in model_dir"):
        estimator.get_variable_names()
    with pytest.raises(ValueError, match="input_fn gives no batch"):
        estimator.train(lambda: tf.data.Dataset.from_tensor_slices((X[:0], Y[:0])).batch(2))


def test_without_a_checkpoint_initial_values_are_evaluated(make, caplog):
    caplog.set_level(logging.INFO, "tensorflow")
    estimator = make()
    found = estimator.evaluate(data(), steps=1)
    assert found["loss"] == pytest.approx(by_hand(1)[2][0], rel=1e-5)
    assert found["global_step"] == 0
    assert "Evaluation [1/1]" in [one.getMessage() for one in caplog.records]
    (events,) = Path(estimator.eval_dir()).iterdir()
    assert events.name.startswith("events.out.tfevents")


def test_predictions_call_hooks(make):
    estimator = make().train(data(), steps=1)
    hook = StopAfter(1, ["global_step"])
    assert len(list(estimator.predict(lambda: X.reshape(2, 4, 1)[0], hooks=[hook]))) == 4
    assert hook.calls == ["begin", "session", [1], ("end", 1)]


@pytest.mark.parametrize("every", [None, 1])
def test_training_that_diverges_fails_and_saves_nothing_more(make, every):
    estimator = make(rate=np.nan, log_step_count_steps=every)
    with pytest.raises(tf.estimator.NanLossDuringTrainingError):
        estimator.train(data(10), steps=3)
    assert estimator.get_variable_value("global_step") == 0


def test_wrong_options_are_errors(make):
    with pytest.raises(ValueError, match="config must be an instance of `RunConfig`"):
        tf.estimator.Estimator(linear, config="config", params={})
    with pytest.raises(ValueError, match="does not include params argument, but params"):
        tf.estimator.Estimator(lambda features: None, params={})
    with pytest.raises(ValueError, match=r"not expected args: \['strange'\]"):
        tf.estimator.Estimator(lambda features, strange: None)
    with pytest.raises(ValueError, match="warm_start_from must be a string or"):
        tf.estimator.Estimator(linear, params={}, warm_start_from=3)
    with pytest.raises(TypeError, match="must be SessionRunHook instances, given: 'hook'"):
        make().train(data(), hooks=["hook"])


def test_a_model_function_that_returns_no_spec_is_an_error(make):
    with pytest.raises(
        ValueError, match="model_fn should return an EstimatorSpec, but returned None"
    ):
        make(model_fn=lambda features, params: None).train(lambda: X)


def test_a_step_that_does_not_move_the_global_step_is_warned_of(make, caplog):
    def model_fn(features, mode, params):
        weight = tf.compat.v1.get_variable("w", [], initializer=tf.ones_initializer())
        return tf.estimator.EstimatorSpec(mode, loss=weight * 1.0, train_op=tf.no_op())

    make(model_fn=model_fn).train(lambda: X, hooks=[StopAfter(3)])
    assert "global step (tf.train.get_global_step) has not been increased" in caplog.text


class StopAfter(tf.estimator.SessionRunHook):
    """Stops after some steps, and notes what it is called with."""

    def __init__(self, steps, fetches=None):
        self.left, self.fetches, self.calls = steps, fetches, []

    def begin(self):
        self.calls.append("begin")

    def after_create_session(self, session, coord):
        self.calls.append("session")

    def before_run(self, run_context):
        return self.fetches and tf.estimator.SessionRunArgs(self.fetches)

    def after_run(self, run_context, run_values):
        self.calls.append(run_values.results)
        self.left -= 1
        if not self.left:
            run_context.request_stop()

    def end(self, session):
        self.calls.append(("end", session.run(session.graph.store.variables["global_step"])))


def test_hooks_get_what_they_ask_for(make):
    _, _, losses = by_hand(2)
    made = []

    def model_fn(features, labels, mode, params):
        def hooks(loss):
            tf.compat.v1.add_to_collection("mine", loss)
            made.append(StopAfter(100, {"loss": loss, "step": "global_step:0"}))
            return [made[-1]]

        return linear(features, labels, mode, {**params, "hooks": hooks})

    hook = StopAfter(2, ["global_step"])
    make(model_fn=model_fn).train(data(10), hooks=[hook])
    # Variables are those that the step begins with.
    assert hook.calls == ["begin", "session", [0], [1], ("end", 2)]
    results = made[-1].calls[2:4]  # it may be traced several times
    assert [float(one["loss"]) for one in results] == pytest.approx(losses, rel=1e-5)
    assert [int(one["step"]) for one in results] == [0, 1]


class EveryOther(tf.estimator.SessionRunHook):
    """Fetches in every other step, as TensorFlow's hooks do, with what they find in the graph."""

    def __init__(self, mean, double):
        self.mean, self.double, self.found = mean, double, []

    def before_run(self, run_context):
        step, (_, loss) = tf.compat.v1.train.get_global_step(), run_context.original_args.fetches
        with pytest.raises(ValueError, match="cannot compute what depends on a batch"):
            run_context.session.run(loss)
        self.asks = run_context.session.run(step) % 2 == 0
        args = tf.estimator.SessionRunArgs({"a": self.mean, "b": [loss, {"c": step}]})
        return args if self.asks else None

    def after_run(self, run_context, run_values):
        if self.asks:
            (loss, step), mean = run_values.results["b"], run_values.results["a"]
            assert run_context.session.run([self.double]) == [2 * step["c"] + 2]
            self.found.append((step["c"], float(mean), float(loss)))


def test_a_metric_moves_when_it_is_fetched(make):
    made = []

    def model_fn(features, labels, mode, params):
        def hooks(loss):
            mean = tf.identity(tf.compat.v1.metrics.mean(loss)[1], name="mean")
            made.append(EveryOther(mean, 2 * tf.compat.v1.train.get_global_step()))
            return made[-1:]

        return linear(features, labels, mode, {**params, "hooks": hooks})

    make(model_fn=model_fn).train(data(10), steps=4)
    losses = by_hand(4)[2]
    (found,) = [hook.found for hook in made if hook.found]
    assert found == [
        (0, pytest.approx(losses[0]), pytest.approx(losses[0])),
        (2, pytest.approx(np.mean(losses[:3:2])), pytest.approx(losses[2])),
    ]


def test_a_name_that_no_tensor_has_is_an_error(make):
    with pytest.raises(
        ValueError, match="'probabilities' is neither a variable nor a tensor with a name"
    ):
        make().train(data(), hooks=[StopAfter(1, "probabilities")])


def test_variables_are_started_from_another_model(make, tmp_path):
    make().train(data(10), steps=5)
    settings = tf.estimator.WarmStartSettings(str(tmp_path), vars_to_warm_start=".*kernel")
    other = tf.estimator.Estimator(
        linear, tmp_path / "other", params={"rate": 0.0}, warm_start_from=settings
    ).train(data(), steps=1)
    assert values(other) == [values(make())[0], 0.0]
    assert other.get_variable_value("global_step") == 1


def test_initial_values_follow_the_seed_of_the_configuration(make, tmp_path):
    def model_fn(features, mode):
        loss = tf.reduce_sum(tf.layers.dense(features, 3))
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=tf.no_op())

    found = []
    for seed, folder in ((1, "a"), (1, "b"), (2, "c")):
        config = tf.estimator.RunConfig(tf_random_seed=seed)
        estimator = tf.estimator.Estimator(model_fn, tmp_path / folder, config)
        estimator.train(lambda: X, steps=1, hooks=[StopAfter(1)])
        found.append(estimator.get_variable_value("dense/kernel").tolist())
    assert found[0] == found[1] != found[2]


HIDDEN = ["hidden/bias", "hidden/kernel"]


def _of_drawn_variables(features, labels, mode):
    with tf.name_scope("hidden"):
        kernel = tf.Variable(tf.truncated_normal([1, 4], stddev=0.1), name="kernel")
        bias = tf.Variable(tf.constant(0.1, shape=[4]), name="bias")
    out = tf.Variable(tf.random_uniform([4, 1], -1.0, 1.0) * 0.5)
    y = tf.matmul(tf.nn.relu(tf.matmul(features, kernel) + bias), out)
    loss = tf.losses.mean_squared_error(labels, y)
    train_op = tf.train.AdamOptimizer(0.02).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


@pytest.mark.parametrize("devices", [1, 2])
def test_variables_start_from_what_the_model_function_draws(tmp_path, devices):
    strategy = tf.distribute.MirroredStrategy([f"cpu:{index}" for index in range(devices)])

    def trained(folder, steps):
        config = tf.estimator.RunConfig(tf_random_seed=3, train_distribute=strategy)
        estimator = tf.estimator.Estimator(_of_drawn_variables, tmp_path / folder, config)
        return estimator.train(data(repeat=200), max_steps=steps)

    first, again = trained("a", 1), trained("b", 1)
    names = [name for name in first.get_variable_names() if "Adam" not in name]
    assert names == ["Variable", "beta1_power", "beta2_power", "global_step", *HIDDEN]
    drawn = first.get_variable_value("hidden/kernel")
    assert 0 < np.std(drawn) < 0.3
    np.testing.assert_array_equal(drawn, again.get_variable_value("hidden/kernel"))
    before = first.evaluate(data())["loss"]
    assert trained("a", 60).evaluate(data())["loss"] < before / 2


def test_a_hook_that_saves_takes_the_place_of_the_estimators_own(make, tmp_path):
    saves = []

    class Listener(tf.estimator.CheckpointSaverListener):
        def after_save(self, session, global_step_value):
            saves.append(int(global_step_value))

    hook = tf.estimator.CheckpointSaverHook(tmp_path, save_steps=3)
    estimator = make(save_checkpoints_steps=1)
    estimator.train(data(10), [hook], steps=5, saving_listeners=[Listener()])
    assert saves == [0, 3, 5]


def test_hooks_find_the_checkpoint_of_their_step(make):
    estimator, found = make(save_checkpoints_steps=2), []

    class Looking(tf.estimator.SessionRunHook):
        def after_create_session(self, session, coord):
            found.append(estimator.latest_step())

        def after_run(self, run_context, run_values):
            found.append(estimator.latest_step())

        def end(self, session):
            found.append(estimator.latest_step())

    estimator.train(data(10), [Looking()], steps=3)
    assert found == [0, 0, 2, 2, 3]


def test_metrics_are_in_order_and_the_global_step_comes_last(make):
    def model_fn(features, labels, mode):
        mean = tf.compat.v1.metrics.mean(features)
        return tf.estimator.EstimatorSpec(
            mode, None, mean[0], eval_metric_ops={"z": mean, "a": mean}
        )

    assert list(tf.estimator.Estimator(model_fn).evaluate(data())) == [
        "a",
        "loss",
        "z",
        "global_step",
    ]


def test_listeners_need_a_hook_that_saves(make):
    estimator = make(save_checkpoints_steps=None, save_checkpoints_secs=None)
    with pytest.raises(ValueError, match="There should be a CheckpointSaverHook"):
        estimator.train(data(), steps=1, saving_listeners=[tf.estimator.CheckpointSaverListener()])


def test_the_scope_around_is_not_the_strategy(make, tmp_path):
    with tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"]).scope():
        make().train(data(), steps=1)
    weight, bias, _ = by_hand(1)
    assert values(make()) == pytest.approx([weight, bias], rel=1e-5)


def test_a_model_function_may_change_its_parameters(make, tmp_path):
    def model_fn(features, labels, mode, params):
        params["more"].append(params["rate"])
        assert params["more"] == [0.1]
        return linear(features, labels, mode, params)

    params = {"rate": 0.1, "more": []}
    estimator = tf.estimator.Estimator(model_fn, tmp_path, params=params)
    estimator.train(data(), steps=1)
    estimator.train(data(), steps=1)
    assert estimator.params["more"] == params["more"] == []


def test_a_summary_and_a_hook_may_show_updates_of_metrics(tmp_path):
    def model_fn(features, labels, mode):
        y = tf.layers.dense(features, 1)
        seen, rows = tf.metrics.mean(features), tf.metrics.mean(tf.ones_like(y))
        tf.identity(seen[1], name="seen")
        tf.summary.scalar("rows", rows[1])
        tf.summary.scalar("seen", seen[1])
        loss = tf.losses.mean_squared_error(labels, y)
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

    shown = []
    hook = tf.estimator.LoggingTensorHook(
        {"seen": "seen"},
        every_n_iter=2,
        formatter=lambda values: shown.append(values["seen"]) or "",
    )
    config = tf.estimator.RunConfig(str(tmp_path), save_summary_steps=3)
    tf.estimator.Estimator(model_fn, config=config).train(data(None), [hook], max_steps=7)
    # Means over the steps 0, 2, 3, 4 and 6, in which the hook or a summary shows it; those of TensorFlow 2.15.
    assert shown == pytest.approx([0.1875, 0.1875, 0.3125, 0.2875])


def test_an_error_of_a_model_function_says_what_it_was_given(caplog):
    def model_fn(features, labels, mode, params):
        return features[params["key"]]

    estimator = tf.estimator.Estimator(model_fn, params={"key": "y"})
    assert caplog.messages[0].startswith("Using temporary folder as model directory: ")
    with pytest.raises(KeyError) as caught:
        estimator.model_fn({"x": X}, None, tf.estimator.ModeKeys.TRAIN, None)
    assert caught.value.__notes__ == [
        "If it is a key of features: the keys are 'x'.",
        "If it is a key of params: the keys are 'key'.",
    ]
