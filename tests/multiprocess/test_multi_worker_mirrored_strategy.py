"""What a TensorFlow script sees of its workers, beside training."""

import pytest

pytestmark = pytest.mark.multiprocess


def test_workers_know_their_place(run_cluster):
    first, second = run_cluster(
        """
        from frontends import tf

        print(len(tf.config.list_physical_devices("CPU")))  # looking first is fine
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
        print(strategy, strategy.num_replicas_in_sync)
        print(*strategy.extended.worker_devices)
        print(strategy.cluster_resolver.task_type, strategy.cluster_resolver.task_id)
        print(tf.distribute.MirroredStrategy().num_replicas_in_sync)

        def make(context):
            print(context, context.num_replicas_in_sync)
            return tf.data.Dataset.range(10 * context.input_pipeline_id, 100).batch(2)

        batch = next(iter(strategy.distribute_datasets_from_function(make)))
        print([value.tolist() for value in strategy.experimental_local_results(batch)])
        values = strategy.experimental_distribute_values_from_function(
            lambda context: context.replica_id_in_sync_group
        )
        print([int(value) for value in values.values], int(strategy.reduce("SUM", values, axis=None)))
        with strategy.scope():
            seen = tf.Variable(
                0.0,
                synchronization=tf.VariableSynchronization.ON_READ,
                aggregation=tf.VariableAggregation.SUM,
            )
        strategy.run(lambda x: seen.assign_add(tf.cast(x, tf.float32)), args=(values,))
        print(float(seen.read_value()))
        """,
        devices=2,
    )
    assert first.lines == [
        "1",
        "MultiWorkerMirroredStrategy(4 x cpu) 4",
        "/job:worker/replica:0/task:0/device:CPU:0 /job:worker/replica:0/task:0/device:CPU:1",
        "worker 0",
        "2",
        "tf.distribute.InputContext(input pipeline id 0, total: 2) 4",
        "[[0, 1], [2, 3]]",
        "[0, 1] 6",
        "6.0",
    ]
    assert second.lines[3] == "worker 1"
    assert second.lines[-3:] == ["[[10, 11], [12, 13]]", "[2, 3] 6", "6.0"]


def test_auto_shard_policies(run_cluster):
    first, second = run_cluster(
        """
        from pathlib import Path
        from frontends import tf

        strategy = tf.distribute.MultiWorkerMirroredStrategy()
        me = strategy.cluster_resolver.task_id
        folder = Path(f"files{me}")
        folder.mkdir()
        for number in range(4):
            (folder / f"{number}.txt").write_text(f"{number}1\\n{number}2\\n")

        lines = tf.data.TextLineDataset(sorted(map(str, folder.iterdir())))
        dataset = tf.data.Dataset.from_generator(
            lambda: (float(line) for line in lines), output_signature=tf.TensorSpec((), tf.float32)
        ).batch(4)

        def rows(name):
            options = tf.data.Options()
            policy = getattr(tf.data.experimental.AutoShardPolicy, name)
            options.experimental_distribute.auto_shard_policy = policy
            batches = strategy.experimental_distribute_dataset(dataset.with_options(options))
            return [
                [int(row) for value in strategy.experimental_local_results(batch) for row in value]
                for batch in batches
            ]

        for name in ("AUTO", "DATA", "FILE", "OFF"):
            print(name, rows(name))
        """
    )
    assert first.lines == [
        "AUTO [[1, 2], [21, 22]]",
        "DATA [[1, 2], [21, 22]]",
        "FILE [[1, 2], [21, 22]]",
        "OFF [[1, 2], [11, 12], [21, 22], [31, 32]]",
    ]
    assert second.lines == [
        "AUTO [[11, 12], [31, 32]]",
        "DATA [[11, 12], [31, 32]]",
        "FILE [[11, 12], [31, 32]]",
        "OFF [[1, 2], [11, 12], [21, 22], [31, 32]]",
    ]
    assert first.stderr.count("each reads files of its own") == 1
    assert "AutoShardPolicy" not in second.stderr


@pytest.mark.slow
def test_uneven_shards_end_together(run_cluster):
    """The first worker has two files of three, and trains alone at the end; no row is lost."""
    first, second = run_cluster(
        """
        from pathlib import Path
        from frontends import tf

        strategy = tf.distribute.MultiWorkerMirroredStrategy()
        me = strategy.cluster_resolver.task_id
        Path(f"files{me}").mkdir()
        names = [f"files{me}/{number}.txt" for number in range(3)]
        for number, name in enumerate(names):
            Path(name).write_text("1\\n" * (5 + number))
        options = tf.data.Options()
        options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.FILE
        lines = tf.data.TextLineDataset(names)
        dataset = tf.data.Dataset.from_generator(
            lambda: (([1.0], float(line)) for line in lines),
            output_signature=(tf.TensorSpec((1,), tf.float32), tf.TensorSpec((), tf.float32)),
        )
        with strategy.scope():
            model = tf.keras.Sequential([tf.keras.Input((1,)), tf.keras.layers.Dense(1)])
            model.compile("sgd", "mse")
            seen = tf.keras.metrics.Sum()

        @tf.function
        def train(batch):
            def step(x, y):
                seen.update_state(y)
                return tf.nn.compute_average_loss((model(x)[:, 0] - y) ** 2, global_batch_size=4)
            return strategy.reduce("SUM", strategy.run(step, args=batch), axis=None)

        def of_worker(context):
            return dataset.shard(context.num_input_pipelines, context.input_pipeline_id).batch(2)

        files = dataset.batch(4).with_options(options)
        for batches in (
            strategy.experimental_distribute_dataset(files),
            strategy.distribute_datasets_from_function(of_worker),
        ):
            seen.reset_state()
            print(sum(1 for batch in batches if train(batch) >= 0), float(seen.result()))
        print(model.evaluate(files, verbose=0) > 0)
        print(model.fit(files, verbose=0).history.keys())
        """
    )
    # Files of 5 + 7 and 6 rows, by twos; then 9 rows for each.
    assert first.lines == second.lines == ["6 18.0", "5 18.0", "True", "dict_keys(['loss'])"]
