"""The steps of an estimator on parameter servers of this process."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf.distribute.coordinator import cluster_coordinator
from spmd.servers import RemoteValue, WorkerLostError
from tests.frontends.tf.estimator import test_strategies
from tests.frontends.tf.estimator.clusters import cluster as cluster
from tests.frontends.tf.estimator.models import data

v1 = tf.compat.v1
Hook = tf.estimator.SessionRunHook
OPTIMIZERS = {
    "sgd": lambda: v1.train.GradientDescentOptimizer(0.1),
    "momentum": lambda: v1.train.MomentumOptimizer(0.05, 0.9),
    "adam": lambda: v1.train.AdamOptimizer(0.1),
    "adagrad": lambda: v1.train.AdagradOptimizer(0.1),
    "ftrl": lambda: v1.train.FtrlOptimizer(0.1),
}


def linear(features, labels, mode, params):
    y = tf.layers.dense(features, 1, kernel_initializer=tf.ones_initializer())
    loss = tf.losses.mean_squared_error(labels, tf.identity(y, name="y"))
    rate = v1.train.exponential_decay(1.0, tf.train.get_global_step(), 10, 0.5)
    train_op = params["optimizer"]().minimize(loss * rate, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def estimator(tmp_path, optimizer="sgd", **options):
    return tf.estimator.Estimator(
        linear,
        str(tmp_path),
        tf.estimator.RunConfig(**options),
        params={"optimizer": OPTIMIZERS[optimizer]},
    )


class Saved(tf.train.CheckpointSaverListener):
    """Notes at which steps a checkpoint was written, and what the variable has then."""

    def __init__(self):
        self.steps = []

    def after_save(self, session, global_step_value):
        self.steps.append((global_step_value, int(session.run("global_step"))))


class Seen(Hook):
    """Notes losses and steps."""

    def __init__(self, stop_at=None):
        self.losses, self.steps, self.stop_at, self.ends = [], [], stop_at, 0

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(run_context.original_args.fetches)

    def after_run(self, run_context, run_values):
        self.losses.append(float(run_values.results[1]))
        self.steps.append(run_context.session.global_step)
        if len(self.steps) == self.stop_at:
            run_context.request_stop()

    def end(self, session):
        self.ends += 1


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_one_worker_computes_what_no_strategy_does(optimizer, cluster, tmp_path):
    alone, seen = Seen(), Seen()
    expected = estimator(tmp_path / "alone", optimizer).train(data(None), [alone], max_steps=12)
    cluster(worker=1, ps=2)
    found = estimator(tmp_path / "served", optimizer).train(data(None), [seen], max_steps=12)
    assert seen.losses == pytest.approx(alone.losses, rel=1e-4)
    assert seen.steps == alone.steps == list(range(1, 13))
    assert found.get_variable_names() == expected.get_variable_names()
    for name in expected.get_variable_names():
        np.testing.assert_allclose(
            found.get_variable_value(name), expected.get_variable_value(name), rtol=1e-4, atol=1e-6
        )


@pytest.mark.parametrize("options", [{"save_checkpoints_steps": 7}, {"save_checkpoints_secs": 0.2}])
def test_no_step_of_several_workers_is_lost_or_counted_twice(options, cluster, tmp_path):
    cluster(worker=3, ps=1)
    saved, seen = Saved(), Seen()
    made = estimator(tmp_path, **options)
    made.train(data(None), [seen], max_steps=40, saving_listeners=[saved])
    assert made.get_variable_value("global_step") == 40
    assert len(seen.steps) == 40
    assert seen.steps == sorted(seen.steps)
    steps = [step for step, _ in saved.steps]
    assert steps[0] == 0
    assert steps[-1] == 40
    assert steps == sorted(set(steps))
    assert all(step == variable for step, variable in saved.steps)
    if "save_checkpoints_steps" in options:
        assert steps == [0, 7, 14, 21, 28, 35, 40]
    # Not the last one: a worker that was late may have computed it with old values.
    assert min(seen.losses) < seen.losses[0] / 10


def test_training_goes_on_where_it_ended(cluster, tmp_path):
    cluster(worker=2, ps=1)
    estimator(tmp_path).train(data(None), steps=10)
    seen = Seen()
    made = estimator(tmp_path).train(data(None), [seen], steps=10)
    assert made.get_variable_value("global_step") == 20
    assert seen.steps[0] > 10
    assert made.train(data(None), [seen], max_steps=20) is made
    assert len(seen.steps) == 10


def test_it_ends_when_the_data_of_all_workers_has(cluster, tmp_path):
    cluster(worker=2, ps=1)
    made = estimator(tmp_path).train(data(repeat=3))  # six batches for each
    assert made.get_variable_value("global_step") == 12


def test_each_worker_knows_which_it_is(cluster, tmp_path):
    cluster("chief", chief=1, worker=1, ps=1)
    contexts = []

    def input_fn(input_context):
        contexts.append((input_context.num_input_pipelines, input_context.input_pipeline_id))
        return data(repeat=2)()

    estimator(tmp_path).train(input_fn)
    assert sorted(contexts) == [(2, 0), (2, 1)]


def test_a_hook_stops_it(cluster, tmp_path):
    cluster(worker=2, ps=1)
    seen = Seen(stop_at=5)
    made = estimator(tmp_path).train(data(None), [seen])
    assert len(seen.steps) == 5
    assert seen.ends == 1
    # What others ran meanwhile counts.
    assert made.latest_checkpoint().endswith(f"-{made.get_variable_value('global_step')}")
    assert made.get_variable_value("global_step") >= 5


def test_a_hook_gets_named_tensors_and_the_variables_before_a_step(cluster, tmp_path):
    cluster(worker=1, ps=1)
    found = []

    class Asks(Hook):
        def begin(self):
            self.step = tf.train.get_global_step()

        def before_run(self, run_context):
            return tf.train.SessionRunArgs({"y": "y:0", "step": self.step})

        def after_run(self, run_context, run_values):
            found.append((run_values.results["y"].shape, int(run_values.results["step"])))

    estimator(tmp_path).train(data(None), [Asks()], max_steps=2)
    assert found == [((4, 1), 0), ((4, 1), 1)]


def test_an_error_of_a_worker_is_raised(cluster, tmp_path):
    cluster(worker=2, ps=1)

    def input_fn():
        return data(None)().map(lambda x, y: (x, tf.debugging.check_numerics(y * np.nan, "bad")))

    with pytest.raises(tf.errors.InvalidArgumentError, match="bad"):
        estimator(tmp_path).train(input_fn, max_steps=3)


def test_a_step_that_ran_twice_as_its_worker_was_lost_counts_once(cluster, tmp_path, monkeypatch):
    cluster(worker=2, ps=1)
    run, times = cluster_coordinator._Thread.run, []

    def lose_some(self, closures, finish):
        times.append(self._index)
        if len(times) in (1, 4, 9):
            run(self, closures, lambda value: None)
            raise WorkerLostError("It is gone.")
        run(self, closures, finish)

    monkeypatch.setattr(cluster_coordinator._Thread, "run", lose_some)
    saved = Saved()
    made = estimator(tmp_path, save_checkpoints_steps=5)
    made.train(data(None), max_steps=20, saving_listeners=[saved])
    assert saved.steps == [(step, step) for step in (0, 5, 10, 15, 20)]
    assert made.get_variable_value("global_step") == 20
    assert len(times) == 23


def test_a_train_op_that_counts_no_steps_ends_with_the_data(cluster, tmp_path):
    def model_fn(features, labels, mode):
        loss = tf.losses.mean_squared_error(labels, tf.layers.dense(features, 1))
        train_op = v1.train.GradientDescentOptimizer(0.1).minimize(loss)
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

    cluster(worker=2, ps=1)
    seen = Seen()
    made = tf.estimator.Estimator(model_fn, str(tmp_path)).train(data(repeat=2), [seen])
    assert len(seen.steps) == 8
    assert made.get_variable_value("global_step") == 0


def test_a_step_that_is_seen_after_the_end_of_the_data_counts(cluster, tmp_path, monkeypatch):
    seen_once, done = set(), RemoteValue.done

    def later(self):
        """Tells of a step when it is asked for the second time, and at once of the end of a worker's data."""
        if not done(self) or isinstance(self.get(), int) or id(self) in seen_once:
            return done(self)
        seen_once.add(id(self))
        return False

    cluster(worker=2, ps=1)
    monkeypatch.setattr(RemoteValue, "done", later)
    monkeypatch.setattr(tf.distribute.coordinator.ClusterCoordinator, "wait", lambda *_: None)
    seen = Seen()
    estimator(tmp_path).train(data(repeat=2), [seen])
    assert len(seen.steps) == 8


def test_rows_that_are_looked_up_are_trained(cluster, tmp_path):
    def model_fn(features, labels, mode):
        table = v1.get_variable("table", [8, 2], initializer=tf.ones_initializer())
        loss = tf.reduce_mean(tf.nn.embedding_lookup(table, features) ** 2)
        train_op = v1.train.AdagradOptimizer(0.1).minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

    cluster(worker=2, ps=1)
    made = tf.estimator.Estimator(model_fn, str(tmp_path))
    made.train(lambda: tf.data.Dataset.from_tensors(([1, 5], [0.0, 0.0])).repeat(), max_steps=4)
    rows = made.get_variable_value("table")[:, 0]
    assert (rows < 1).tolist() == [index in (1, 5) for index in range(8)]


def normalized(folder):
    """A model function whose moving averages are updated beside an optimizer."""
    return tf.estimator.Estimator(test_strategies.model_fn, folder), test_strategies.input_fn(4)


def wide_and_deep(folder):
    """An estimator of TensorFlow's own, of texts."""
    words = np.array(["a", "b", "c", "d"] * 4)
    column = tf.feature_column.categorical_column_with_vocabulary_list("word", ["a", "b", "c"])
    made = tf.estimator.DNNLinearCombinedClassifier(
        folder,
        linear_feature_columns=[column],
        dnn_feature_columns=[
            tf.feature_column.embedding_column(column, 2, initializer=tf.ones_initializer())
        ],
        dnn_hidden_units=[4],
    )
    rows = {"word": words}, np.array([0, 1, 1, 0] * 4)
    return made, lambda: tf.data.Dataset.from_tensor_slices(rows).repeat().batch(4)


@pytest.mark.parametrize("make", [normalized, pytest.param(wide_and_deep, marks=pytest.mark.slow)])
def test_models_of_all_kinds_are_trained(make, cluster, tmp_path):
    found = []
    for jobs in ({}, {"worker": 1, "ps": 1}, {"worker": 2, "ps": 1}):
        if jobs:
            cluster(**jobs)
        made, input_fn = make(str(tmp_path / str(jobs)))
        made.train(input_fn, max_steps=8)
        names = made.get_variable_names()
        found.append({name: made.get_variable_value(name) for name in names})
    alone, one, several = found
    assert alone.keys() == one.keys() == several.keys()
    for name, value in alone.items():
        np.testing.assert_allclose(one[name], value, rtol=1e-3, atol=1e-5, err_msg=name)
    assert several["global_step"] == 8
