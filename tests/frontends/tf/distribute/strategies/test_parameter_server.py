"""`tf.distribute.ParameterServerStrategy`: where variables live."""

import json

import jax
import numpy as np
import pytest

from frontends import tf
from spmd.servers import ServerVariables, Store
from spmd.state import backing_of
from tests.frontends.tf.distribute.coordinator.clusters import resolver
from tests.frontends.tf.distribute.coordinator.clusters import strategy as make_strategy

ADAM = tf.keras.optimizers.Adam
PARTITIONERS = tf.distribute.experimental.partitioners


def devices(variable) -> list[int]:
    return [shard.server for shard in backing_of(variable).shards(variable)]


def test_variables_of_the_scope_live_on_the_servers_in_turn():
    strategy = make_strategy(1, 3)
    with strategy.scope():
        variables = [tf.Variable(tf.zeros(4)) for _ in range(6)]
    outside = tf.Variable(0.0)
    assert [devices(one) for one in variables] == [[0], [1], [2], [0], [1], [2]]
    assert variables[1].device == "/job:ps/replica:0/task:1/device:CPU:0"
    assert backing_of(outside) is None
    assert outside.device.startswith("/job:localhost")


@pytest.mark.parametrize(
    ("partitioner", "parts"),
    [
        (None, 1),
        (PARTITIONERS.FixedShardsPartitioner(2), 2),
        (PARTITIONERS.MinSizePartitioner(min_shard_bytes=1 << 20, max_shards=2), 1),
        (PARTITIONERS.MaxSizePartitioner(max_shard_bytes=16), 3),
        (lambda shape, dtype: [4, 1], 4),
    ],
)
def test_a_partitioner_divides_variables(partitioner, parts):
    strategy = make_strategy(1, 2, variable_partitioner=partitioner)
    initial = np.arange(12, dtype=np.float32).reshape(6, 2)
    with strategy.scope():
        variable = tf.Variable(initial)
    assert len(devices(variable)) == parts
    variable.assign_add(tf.ones((6, 2)))
    variable.scatter_nd_update([[0], [5]], [[0.0, 0.0], [9.0, 9.0]])
    expected = initial + 1
    expected[0], expected[5] = 0, 9
    np.testing.assert_array_equal(variable.numpy(), expected)
    np.testing.assert_array_equal(tf.nn.embedding_lookup(variable, [5, 1]), expected[[5, 1]])


def test_a_partitioner_divides_the_first_axis_only():
    strategy = make_strategy(1, 2, variable_partitioner=lambda shape, dtype: [1, 2])
    with strategy.scope():
        variable = tf.Variable(tf.zeros((4, 4)))
    with pytest.raises(ValueError, match=r"returned \[1, 2\] for the shape \(4, 4\)"):
        variable.numpy()


@pytest.mark.parametrize("servers", [1, 3])
def test_checkpoints_restore_under_other_shards_and_other_strategies(tmp_path, servers):
    def make(strategy):
        with strategy.scope():
            weight = tf.Variable(tf.zeros((6, 2)))
            optimizer = ADAM(0.1)
            optimizer.build([weight])
        return weight, optimizer, tf.train.Checkpoint(weight=weight, optimizer=optimizer)

    fixed = PARTITIONERS.FixedShardsPartitioner
    first = make_strategy(1, 2, variable_partitioner=fixed(2))
    weight, optimizer, checkpoint = make(first)
    pairs = [(tf.ones((6, 2)), weight)]
    first.run(lambda: optimizer.apply_gradients(pairs))
    path = checkpoint.save(tmp_path / "ckpt")

    other = make_strategy(1, servers, variable_partitioner=fixed(servers))
    for strategy in (other, tf.distribute.OneDeviceStrategy("cpu:0")):
        restored, again, target = make(strategy)
        target.restore(path).assert_existing_objects_matched()
        np.testing.assert_array_equal(restored.numpy(), weight.numpy())
        for ours, theirs in zip(again.variables, optimizer.variables, strict=True):
            np.testing.assert_array_equal(ours.value, theirs.value)
        assert float(again.variables[2].value[0, 0]) == pytest.approx(0.1)  # the first moment


@pytest.fixture
def local(monkeypatch):
    monkeypatch.delenv("TF_CONFIG", raising=False)
    return tf.distribute.experimental.ParameterServerStrategy()


def test_without_a_cluster_variables_live_on_the_host_and_all_devices_compute(local):
    replicas = len(tf.config.list_logical_devices())
    assert replicas > 1
    assert (local.num_replicas_in_sync, local.num_workers) == (replicas, 1)
    with local.scope():
        variable = tf.Variable(1.0)
    assert [float(one) for one in local.run(lambda: variable * 2).values] == [2] * replicas
    assert variable.device == "/job:ps/replica:0/task:0/device:CPU:0"
    assert "local devices" in repr(local)


X = np.sin(np.arange(96, dtype=np.float32).reshape(32, 3))
Y = X.sum(1, keepdims=True)


def trained(strategy):
    """Trains a weight, a table and a metric for some steps; returns what they hold."""
    with strategy.scope():
        weight = tf.Variable([[0.1], [0.2], [0.3]])
        table = tf.Variable(tf.ones((20000, 4)))  # its rows are looked up alone
        count = tf.Variable(0, aggregation=tf.VariableAggregation.SUM)
        optimizer, mean = tf.keras.optimizers.Adagrad(0.1), tf.keras.metrics.Mean()
    dataset = tf.data.Dataset.from_tensor_slices((X, Y)).batch(8)

    def replica(x, y):
        with tf.GradientTape() as tape:
            rows = tf.nn.embedding_lookup(table, tf.cast(tf.abs(x[:, 0]) * 100, tf.int32))
            each = tf.reduce_sum((x @ weight - y) ** 2, 1) + tf.reduce_sum(rows**2, 1)
            loss = tf.nn.compute_average_loss(each, global_batch_size=8)
        gradients = tape.gradient(loss, [weight, table])
        optimizer.apply_gradients(zip(gradients, [weight, table], strict=True))
        mean.update_state(each)
        count.assign_add(1)
        return loss

    @tf.function
    def step(batch):
        return strategy.reduce("SUM", strategy.run(replica, args=batch), axis=None)

    losses = [float(step(batch)) for batch in strategy.experimental_distribute_dataset(dataset)]
    return losses, weight.numpy(), table.numpy().sum(), float(mean.result()), int(count.numpy())


@pytest.mark.parametrize("eagerly", [False, True])
def test_the_local_form_trains_as_a_mirrored_strategy_does(local, eagerly):
    tf.config.run_functions_eagerly(eagerly)
    try:
        ours = trained(local)
    finally:
        tf.config.run_functions_eagerly(False)
    mirrored = trained(tf.distribute.MirroredStrategy())
    for one, other in zip(ours, mirrored, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)


@pytest.mark.parametrize("eagerly", [False, True])
def test_the_local_form_fits_as_a_mirrored_strategy_does(local, eagerly):
    def fitted(strategy, **options):
        tf.keras.utils.set_random_seed(0)
        with strategy.scope():
            model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
            model.compile("adam", "mse", metrics=["mae"], **options)
        history = model.fit(X, Y, batch_size=8, epochs=2, validation_data=(X, Y), verbose=0)
        return [history.history[name] for name in ("loss", "mae", "val_loss")]

    ours, mirrored = fitted(local, run_eagerly=eagerly), fitted(tf.distribute.MirroredStrategy())
    np.testing.assert_allclose(ours, mirrored, rtol=1e-5)


@pytest.mark.parametrize(
    ("cluster", "error", "message"),
    [
        ({"worker": ["a:1"]}, ValueError, "at least one task of the job 'ps'"),
        ({"ps": ["a:1"]}, ValueError, "at least one task of the job 'worker'"),
        ({"chief": ["a:1", "b:1"], "worker": ["c:1"]}, ValueError, "at most one chief"),
    ],
)
def test_what_is_no_cluster_of_servers(cluster, error, message, monkeypatch):
    task = {"type": next(iter(cluster)), "index": 0}
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": task}))
    with pytest.raises(error, match=message):
        tf.distribute.ParameterServerStrategy()


def test_random_numbers_are_each_workers_own():
    strategy = make_strategy(1)
    with strategy.scope():
        dropout = tf.keras.layers.Dropout(0.5)
        values = strategy.run(lambda: dropout(tf.ones((100,)), training=True))
    assert 0 < int(np.count_nonzero(values.values[0])) < 100


def test_a_strategy_shows_what_it_is():
    strategy = tf.distribute.ParameterServerStrategy(resolver(3, 2))
    assert repr(strategy) == "ParameterServerStrategy(3 workers, 2 parameter servers)"
    assert strategy.cluster_resolver.cluster_spec().num_tasks("worker") == 3


def train_embedding(make_optimizer, monkeypatch, *, by_rows: bool, shards: int):
    """Trains an embedding and a weight; returns the losses, the final values, and the bytes of rows that travelled."""
    monkeypatch.setattr(ServerVariables, "table_bytes", 0 if by_rows else 1 << 40)
    strategy = make_strategy(1, 2, variable_partitioner=PARTITIONERS.FixedShardsPartitioner(shards))
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    random, moved = np.random.default_rng(0), []
    rows, push = Store.rows, Store.push
    monkeypatch.setattr(
        Store,
        "rows",
        lambda self, wanted: (
            moved.append(sum(one.size for one in wanted.values())) or rows(self, wanted)
        ),
    )
    monkeypatch.setattr(
        Store, "push", lambda self, changes: sent.extend(changes) or push(self, changes)
    )
    sent = []
    with strategy.scope():
        table = tf.Variable(random.normal(size=(50, 4)).astype(np.float32))
        weight = tf.Variable(random.normal(size=(4, 1)).astype(np.float32))
        optimizer = make_optimizer()

    @tf.function
    def step(numbers):
        def replica(numbers):
            with tf.GradientTape() as tape:
                found = tf.nn.embedding_lookup(table, numbers) + tf.gather(table, numbers[:, :1])
                loss = tf.reduce_mean(tf.square(found @ weight - 1.0))
            gradients = tape.gradient(loss, [table, weight])
            if optimizer is None:
                table.assign_sub(0.1 * gradients[0])
                weight.assign_sub(0.1 * gradients[1])
            else:
                optimizer.apply_gradients(zip(gradients, [table, weight], strict=True))
            return loss

        return strategy.run(replica, args=(numbers,))

    losses = []
    for _ in range(4):
        numbers = random.integers(0, 50, (6, 2)).astype(np.int32)
        losses.append(coordinator.schedule(step, args=(numbers,)).fetch())
    gradients = [one for one in sent if one.verb in ("apply", "subtract")]
    return np.array(losses), table.numpy(), weight.numpy(), moved, gradients


@pytest.mark.parametrize("shards", [1, 3])
@pytest.mark.parametrize(
    "make_optimizer",
    [
        lambda: tf.keras.optimizers.SGD(0.1),
        lambda: tf.keras.optimizers.SGD(0.1, momentum=0.9),
        lambda: tf.keras.optimizers.Adagrad(0.1),
        lambda: tf.keras.optimizers.Adam(0.1, global_clipnorm=0.5),
        lambda: None,
    ],
    ids=["sgd", "momentum", "adagrad", "clipped adam", "by hand"],
)
def test_embeddings_move_only_their_rows(make_optimizer, shards, monkeypatch):
    losses, table, weight, moved, gradients = train_embedding(
        make_optimizer, monkeypatch, by_rows=True, shards=shards
    )
    assert 0 < sum(moved) <= 4 * 12
    largest = max(np.size(leaf) for one in gradients for leaf in jax.tree.leaves(one.operand))
    assert largest <= 12 * 4  # in place of the 200 numbers of the table
    with monkeypatch.context() as patch:
        whole = train_embedding(make_optimizer, patch, by_rows=False, shards=shards)
    assert not any(whole[3])
    for ours, expected in zip((losses, table, weight), whole, strict=False):
        np.testing.assert_allclose(ours, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("shards", [1, 3])
def test_a_table_that_is_only_updated_does_not_travel(shards, monkeypatch):
    strategy = make_strategy(1, 2, variable_partitioner=PARTITIONERS.FixedShardsPartitioner(shards))
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    initial = np.random.default_rng(0).normal(size=(30_000, 2)).astype(np.float32)
    with strategy.scope():
        table = tf.Variable(initial)
        optimizer = tf.keras.optimizers.Adagrad(0.5)
    numbers = [29_999, 3]

    @tf.function
    def scatter():
        table.scatter_nd_add([[number] for number in numbers], tf.ones((2, 2)))

    @tf.function
    def apply():
        def replica():
            gradient = tf.IndexedSlices(tf.ones((2, 2)), tf.constant(numbers), (30_000, 2))
            optimizer.apply_gradients([(gradient, table)])

        strategy.run(replica)

    table.assign(initial + 1)  # another version than the copy here
    pull, asked = Store.pull, []
    with monkeypatch.context() as patch:
        patch.setattr(
            Store, "pull", lambda self, versions: asked.extend(versions) or pull(self, versions)
        )
        for step in (scatter, scatter, apply, apply):
            coordinator.schedule(step)
        coordinator.join()
    (place, *_) = backing_of(table).place_of(table)[2]
    assert place[0] not in {key[0] for key in asked}
    changed = np.flatnonzero((table.numpy() != initial + 1).any(1))
    np.testing.assert_array_equal(changed, sorted(numbers))


def test_without_staleness_several_workers_compute_what_one_does():
    def trained(workers: int) -> np.ndarray:
        strategy = make_strategy(workers, max_staleness=0)
        coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
        with strategy.scope():
            weight = tf.Variable([1.0, 2.0])

        @tf.function
        def step(x):
            weight.assign_sub(0.1 * weight * x)

        for number in range(30):
            coordinator.schedule(step, args=(tf.constant(float(number % 3)),))
        coordinator.join()
        return weight.numpy()

    np.testing.assert_array_equal(trained(4), trained(1))


@pytest.mark.parametrize("bound", [-1, 1.5, True])
def test_staleness_that_is_no_number_is_an_error(bound):
    with pytest.raises(ValueError, match="max_staleness must be a whole number"):
        tf.distribute.ParameterServerStrategy(max_staleness=bound)


def test_a_partitioner_that_is_no_function_is_an_error():
    with pytest.raises(TypeError, match=r"variable_partitioner must be a function .* but is 3"):
        tf.distribute.ParameterServerStrategy(variable_partitioner=3)
