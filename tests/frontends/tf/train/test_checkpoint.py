"""`tf.train.Checkpoint` numbers, saves and restores as TensorFlow's does."""

import functools

import keras
import numpy as np
import pytest

from frontends import tf

X = np.random.default_rng(0).normal(size=(24, 4)).astype(np.float32)
Y = X[:, :1] * 2


def cpus(count):
    return tf.distribute.MirroredStrategy([f"cpu:{index}" for index in range(count)])


def test_saves_are_numbered(tmp_path):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    prefix = str(tmp_path / "new" / "ckpt")
    assert [checkpoint.save(prefix) for _ in range(3)] == [f"{prefix}-{i}" for i in (1, 2, 3)]
    assert checkpoint.save_counter.numpy() == 3
    assert tf.train.latest_checkpoint(tmp_path / "new") == f"{prefix}-3"
    assert (tmp_path / "new" / "checkpoint").read_text() == (
        'model_checkpoint_path: "ckpt-3"\nall_model_checkpoint_paths: "ckpt-3"\n'
    )


def test_the_counter_goes_on(tmp_path):
    path = tf.train.Checkpoint(v=tf.Variable(1.0)).save(tmp_path / "ckpt")
    checkpoint = tf.train.Checkpoint(v=tf.Variable(0.0))
    checkpoint.restore(path).assert_consumed()
    assert checkpoint.save(tmp_path / "ckpt") == str(tmp_path / "ckpt-2")


def test_write_and_read_do_not_count(tmp_path):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    path = checkpoint.write(tmp_path / "ckpt")
    assert path == str(tmp_path / "ckpt")
    assert not (tmp_path / "checkpoint").exists()
    fresh = tf.train.Checkpoint(v=tf.Variable(0.0))
    fresh.read(path).assert_consumed()
    assert fresh.v.numpy() == 1.0
    with pytest.raises(AssertionError, match="save_counter"):  # as in TensorFlow
        fresh.restore(path).assert_consumed()


def test_restore_assigns_to_the_same_variable(tmp_path):
    variable = tf.Variable([1.0, 2.0])
    checkpoint = tf.train.Checkpoint(v=variable)
    path = checkpoint.save(tmp_path / "ckpt")
    variable.assign([0.0, 0.0])
    checkpoint.restore(path)
    assert variable.numpy().tolist() == [1.0, 2.0]


def test_lists_and_dicts_of_variables(tmp_path):
    checkpoint = tf.train.Checkpoint(vs=[tf.Variable(1.0), {"a": tf.Variable(2.0)}])
    path = checkpoint.save(tmp_path / "ckpt")
    fresh = tf.train.Checkpoint(vs=[tf.Variable(0.0), {"a": tf.Variable(0.0)}])
    fresh.restore(path).assert_consumed()
    assert [fresh.vs[0].numpy(), fresh.vs[1]["a"].numpy()] == [1.0, 2.0]


def test_a_checkpoint_in_a_checkpoint(tmp_path):
    inner = tf.train.Checkpoint(v=tf.Variable(1.0))
    path = tf.train.Checkpoint(inner=inner).save(tmp_path / "ckpt")
    inner.v.assign(0.0)
    tf.train.Checkpoint(inner=inner).restore(path).assert_consumed()
    assert inner.v.numpy() == 1.0


def test_an_attribute_that_is_set_later_is_restored(tmp_path):
    path = tf.train.Checkpoint(v=tf.Variable(1.0)).save(tmp_path / "ckpt")
    checkpoint = tf.train.Checkpoint()
    status = checkpoint.restore(path)
    with pytest.raises(AssertionError, match=r"Unresolved object in checkpoint \(root\)\.v"):
        status.assert_consumed()
    checkpoint.v = tf.Variable(0.0)
    assert checkpoint.v.numpy() == 1.0
    status.assert_consumed()


def test_nothing_is_restored_from_none():
    status = tf.train.Checkpoint(v=tf.Variable(1.0)).restore(None).expect_partial()
    with pytest.raises(AssertionError, match="No checkpoint specified"):
        status.assert_consumed()


@pytest.mark.parametrize("value", [[1.0, 2.0], 1])
def test_a_variable_of_another_shape_or_type_is_refused(tmp_path, value):
    path = tf.train.Checkpoint(v=tf.Variable(1.0)).save(tmp_path / "ckpt")
    with pytest.raises(
        ValueError, match=r"v: expected (float32\[2\]|int32\[\]), found float32\[\]"
    ):
        tf.train.Checkpoint(v=tf.Variable(value)).restore(path)


def test_a_path_without_a_checkpoint(tmp_path):
    with pytest.raises(tf.errors.NotFoundError, match="missing the number"):
        tf.train.Checkpoint(v=tf.Variable(1.0)).restore(tmp_path / "ckpt")


def test_weights_of_keras_are_told_from_a_checkpoint(tmp_path):
    (tmp_path / "w.weights.h5").touch()
    with pytest.raises(tf.errors.NotFoundError, match=r"load them with model\.load_weights"):
        tf.train.Checkpoint().restore(str(tmp_path / "w"))


def test_what_tensorflow_wrote_is_told_from_a_checkpoint(tmp_path):
    (tmp_path / "checkpoint").write_text('model_checkpoint_path: "ckpt-3"\n')
    (tmp_path / "ckpt-3.index").touch()
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    manager = tf.train.CheckpointManager(checkpoint, tmp_path, max_to_keep=1)
    by_hand = functools.partial(checkpoint.restore, tf.train.latest_checkpoint(tmp_path))
    to_read = functools.partial(checkpoint.read, tmp_path / "ckpt-3")
    for restore in by_hand, manager.restore_or_initialize, to_read:
        with pytest.raises(tf.errors.NotFoundError, match="ckpt-3 is a checkpoint that TensorFlow"):
            restore()
    with pytest.raises(tf.errors.DataLossError, match="no index of a checkpoint of TensorFlow"):
        tf.train.list_variables(tmp_path)  # which reads these


def test_what_is_no_state_is_refused():
    with pytest.raises(ValueError, match="`Checkpoint` was expecting x to be a trackable object"):
        tf.train.Checkpoint(x=object())
    with pytest.raises(AttributeError, match="'Checkpoint' object has no attribute 'y'"):
        _ = tf.train.Checkpoint().y


@pytest.mark.parametrize("aggregation", ["SUM", "MEAN", "ONLY_FIRST_REPLICA"])
def test_a_variable_of_each_replica_is_saved_as_one(tmp_path, aggregation):
    def variable(strategy):
        with strategy.scope():
            return tf.Variable(
                0.0,
                synchronization=tf.VariableSynchronization.ON_READ,
                aggregation=getattr(tf.VariableAggregation, aggregation),
            )

    two, four = cpus(2), cpus(4)
    saved, restored = variable(two), variable(four)

    def step():
        rank = tf.distribute.get_replica_context().replica_id_in_sync_group
        saved.assign(tf.cast(rank, tf.float32) * 4.0 + 1.0)

    two.run(step)
    path = tf.train.Checkpoint(v=saved).save(tmp_path / "ckpt")
    tf.train.Checkpoint(v=restored).restore(path)
    assert float(restored) == float(saved) == {"SUM": 6.0, "MEAN": 3.0}.get(aggregation, 1.0)


def test_an_asynchronous_save_is_there_after_sync(tmp_path):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    done = []
    options = tf.train.CheckpointOptions(
        experimental_enable_async_checkpoint=True, experimental_write_callbacks=[done.append]
    )
    path = checkpoint.save(tmp_path / "ckpt", options)
    checkpoint.v.assign(2.0)
    checkpoint.sync()
    assert done == [path]
    checkpoint.restore(path)
    assert checkpoint.v.numpy() == 1.0


def test_the_latest_is_the_one_that_is_being_saved(tmp_path):
    found = []
    options = tf.train.CheckpointOptions(
        enable_async=True,
        experimental_write_callbacks=[lambda: found.append(tf.train.latest_checkpoint(tmp_path))],
    )
    path = tf.train.Checkpoint(v=tf.Variable(1.0)).save(tmp_path / "ckpt", options)
    assert tf.train.latest_checkpoint(tmp_path) == path
    assert found == [path]


def test_callbacks_hear_of_a_save(tmp_path):
    heard = []
    options = tf.train.CheckpointOptions(
        experimental_write_callbacks=[heard.append, lambda: heard.append("none")]
    )
    path = tf.train.Checkpoint(v=tf.Variable(1.0)).write(tmp_path / "ckpt", options)
    assert heard == [path, "none"]


def test_the_position_in_a_dataset_is_kept(tmp_path):
    iterator = iter(tf.data.Dataset.range(20).shuffle(20, seed=1).batch(3))
    checkpoint = tf.train.Checkpoint(iterator=iterator)
    next(iterator)
    path = checkpoint.save(tmp_path / "ckpt")
    expected = [next(iterator).tolist() for _ in range(3)]
    checkpoint.restore(path)
    assert [next(iterator).tolist() for _ in range(3)] == expected


class Training:
    """A loop of one's own, as in TensorFlow's tutorials."""

    def __init__(self, strategy, seed):
        tf.random.set_seed(seed)
        keras.utils.set_random_seed(seed)
        self.strategy = strategy
        with strategy.scope():
            self.model = keras.Sequential([keras.layers.Dense(8, "relu"), keras.layers.Dense(1)])
            self.optimizer = keras.optimizers.Adam(0.01)
            self.loss = keras.metrics.Mean()
            self.checkpoint = tf.train.Checkpoint(
                model=self.model, optimizer=self.optimizer, loss=self.loss
            )

        @tf.function
        def train(batch):
            def step(batch):
                x, y = batch
                with tf.GradientTape() as tape:
                    losses = tf.reduce_sum((self.model(x, training=True) - y) ** 2, axis=1)
                    loss = tf.nn.compute_average_loss(losses, global_batch_size=8)
                gradients = tape.gradient(loss, self.model.trainable_variables)
                self.optimizer.apply_gradients(
                    zip(gradients, self.model.trainable_variables, strict=True)
                )
                self.loss.update_state(losses)
                return loss

            return strategy.reduce("SUM", strategy.run(step, args=(batch,)), axis=None)

        self.train = train

    def run(self):
        data = tf.data.Dataset.from_tensor_slices((X, Y)).batch(8)
        return [
            float(self.train(batch))
            for batch in self.strategy.experimental_distribute_dataset(data)
        ]


@pytest.mark.parametrize("count", [4, 2, 1, 0])
def test_training_goes_on_under_another_strategy_or_none(tmp_path, count):
    first = Training(cpus(4), 0)
    first.run()
    path = first.checkpoint.save(tmp_path / "ckpt")
    rest = Training(cpus(count) if count else tf.distribute.get_strategy(), 1)
    status = rest.checkpoint.restore(path)
    losses = rest.run()
    status.assert_consumed()
    np.testing.assert_allclose(losses, first.run(), rtol=0 if count == 4 else 2e-5)
    for a, b in zip(first.model.variables, rest.model.variables, strict=True):
        a, b = np.asarray(a), np.asarray(b)
        np.testing.assert_allclose(a, b, rtol=0 if count == 4 else 2e-5, atol=1e-7)
    assert int(rest.optimizer.iterations) == 6
    np.testing.assert_allclose(float(rest.loss.result()), float(first.loss.result()), rtol=1e-5)


def test_a_compiled_model_goes_on_with_fit(tmp_path):
    def compiled(seed):
        keras.utils.set_random_seed(seed)
        with cpus(4).scope():
            model = keras.Sequential([keras.layers.Dense(8, "relu"), keras.layers.Dense(1)])
            model.compile("adam", "mse", metrics=["mae"])
        return model

    def fit(model):
        return model.fit(X, Y, batch_size=8, shuffle=False, verbose=0).history

    first, rest = compiled(0), compiled(1)
    fit(first)
    path = tf.train.Checkpoint(first).save(tmp_path / "ckpt")
    tf.train.Checkpoint(rest).restore(path).expect_partial()
    assert fit(rest) == fit(first)


def test_callbacks_are_those_of_when_the_save_started(tmp_path):
    called, callbacks = [], []
    callbacks.append(lambda: callbacks.append(called.append) or called.append("first"))
    options = tf.train.CheckpointOptions(experimental_write_callbacks=callbacks)
    tf.train.Checkpoint(v=tf.Variable(1.0)).save(tmp_path / "a", options)
    assert called == ["first"]
