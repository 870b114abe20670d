"""A task that is about to be terminated: all save before the same step, and a restart goes on with the next batch."""

import json

import pytest

pytestmark = pytest.mark.multiprocess

TRAIN = """
import json, os, signal, sys
import numpy as np
from frontends import tf

folder, kill_at, how, sign = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
strategy = tf.distribute.MultiWorkerMirroredStrategy()
me = strategy.cluster_resolver.task_id or 0
x = np.random.default_rng(0).normal(size=(48, 3)).astype(np.float32)
data = strategy.experimental_distribute_dataset(
    tf.data.Dataset.from_tensor_slices((x, np.arange(48.0, dtype=np.float32)))
    .shuffle(48, seed=3).batch(4).repeat(2)
)
with strategy.scope():
    w = tf.Variable(tf.zeros([3]))
    done = tf.Variable(0)
iterator = iter(data)
checkpoint = tf.train.Checkpoint(w=w, done=done, iterator=iterator)
told = []
config = tf.distribute.experimental.TerminationConfig(
    termination_watcher_fn=(lambda: bool(told)) if sign == "watcher" else None,
)
handler = tf.distribute.experimental.PreemptionCheckpointHandler(
    strategy.cluster_resolver, checkpoint, folder, config
)

@tf.function
def step(batch):
    def of_replica(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((tf.reduce_sum(x * w, axis=1) - y) ** 2) / 4
        w.assign_sub(0.01 * tf.distribute.get_replica_context().all_reduce("SUM", tape.gradient(loss, w)))
        return tf.reduce_sum(y)
    return strategy.reduce("SUM", strategy.run(of_replica, args=batch), axis=None)

seen = []
start = int(done.numpy())
print("from", start, handler.total_run_calls)
try:
    while int(done.numpy()) < 24:
        # Some steps after the notice all processes agree, once their threads have heard of it.
        if me == 1 and int(done.numpy()) == kill_at:
            told.append(True)
            if sign == "signal":
                os.kill(os.getpid(), signal.SIGTERM)
        if start <= kill_at == int(done.numpy()) - 8:
            handler._sync._first._thread.join()
        if how == "argument":
            seen.append(float(handler.run(step, next(iterator))))
        elif how == "inside":
            seen.append(float(handler.run(lambda: step(next(iterator)))))
        else:
            seen.append(float(step(next(iterator))))
        done.assign_add(1)
        if how == "after":
            handler.save_checkpoint_if_preempted()
finally:
    print(json.dumps([int(done.numpy()), seen, np.asarray(w.numpy()).tolist()]))
"""


def result(task):
    return json.loads(task.lines[-1])


@pytest.fixture(scope="module")
def kept():
    """The result of a run that nobody ends, for all tests."""
    return {}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "sign"),
    [
        ("argument", "signal"),
        ("inside", "watcher"),
        ("after", "signal"),
    ],
)
def test_a_restart_goes_on_with_the_next_batch(run_cluster, tmp_path, kept, how, sign):
    if not kept:
        kept["whole"] = [
            result(task) for task in run_cluster(TRAIN, tmp_path / "whole", -1, "inside", sign)
        ]
    whole = kept["whole"]
    folder = tmp_path / "run"
    ended = run_cluster(TRAIN, folder, 5, how, sign, status=143)
    before = [result(task) for task in ended]
    assert before[0] == before[1]
    done, seen, _ = before[0]
    assert 5 <= done < 24
    assert len(seen) == done
    for task in ended:
        assert "jaxtribute: worker 1 is about to be terminated" in task.stderr
    for first, second, one in zip(
        before, run_cluster(TRAIN, folder, -1, how, sign), whole, strict=True
    ):
        assert second.lines[0].startswith(f"from {done} ")
        assert [24, first[1] + result(second)[1], result(second)[2]] == one


@pytest.mark.slow
def test_the_launcher_starts_all_again(run_python, tmp_path):
    """SIGTERM to one task; the numbers that the tasks print are those of a run that nobody ended."""
    script = tmp_path / "script.py"
    script.write_text(TRAIN)
    launch = ("-m", "spmd.cli", "launch", "--workers", 2, "--max-restarts", 1, script)
    results = []
    for kill_at in (-1, 5):
        done = run_python(*launch, tmp_path / f"run{kill_at}", kill_at, "argument", "signal")
        results.append([line for line in done.stdout.splitlines() if "[24," in line])
        assert ("restart 1 of 1" in done.stdout + done.stderr) == (kill_at == 5)
    whole, restarted = (
        [json.loads(line[line.index("[24,") :]) for line in lines] for lines in results
    )
    assert len(whole) == len(restarted) == 2
    for one, other in zip(whole, restarted, strict=True):
        assert other[1] == one[1][-len(other[1]) :]
        assert other[2] == one[2]


@pytest.mark.slow  # tests/frontends/tf/distribute shows it in one process
def test_a_grace_period_saves_at_once_and_at_its_end(run_cluster, tmp_path):
    tasks = run_cluster(
        """
        import os, signal, sys
        from frontends import tf

        strategy = tf.distribute.MultiWorkerMirroredStrategy()
        step = tf.Variable(0)
        saved = []
        config = tf.distribute.experimental.TerminationConfig(
            grace_period=1e-3, exit_fn=lambda: sys.exit(7), save_fn=lambda: saved.append(int(step.numpy()))
        )
        handler = tf.distribute.experimental.PreemptionCheckpointHandler(
            strategy.cluster_resolver, tf.train.Checkpoint(step=step), sys.argv[1], config
        )
        if strategy.cluster_resolver.task_id == 1:
            os.kill(os.getpid(), signal.SIGTERM)
        try:
            while True:
                handler.run(lambda: step.assign_add(1))
        finally:
            print(len(saved), saved[0] < saved[1], saved)
        """,
        tmp_path,
        status=7,
    )
    assert tasks[0].lines == tasks[1].lines
    assert tasks[0].lines[0].startswith("2 True")


@pytest.mark.slow
def test_a_notice_that_comes_in_no_step(run_cluster, tmp_path):
    """At the first start before the first step; at the second between two steps; at the third none."""
    script = """
    import os, signal, sys
    from frontends import tf

    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    step = tf.Variable(0)
    handler = tf.distribute.experimental.PreemptionCheckpointHandler(
        strategy.cluster_resolver, tf.train.Checkpoint(step=step), sys.argv[1]
    )
    print(int(step.numpy()))
    def end(moment):
        if moment == sys.argv[2]:
            if strategy.cluster_resolver.task_id == 1:
                os.kill(os.getpid(), signal.SIGTERM)
            handler._sync._first._thread.join()  # until all have heard of it

    def evaluate():
        return float(strategy.reduce("SUM", strategy.run(lambda: tf.constant(1.0)), axis=None))

    end("start-up")
    while step.numpy() < 5:
        handler.run(step.assign_add, 1)
        if step.numpy() == 3:
            evaluate()
            end("evaluation")
            evaluate()
    print(int(step.numpy()))
    """
    for moment in ("start-up", "evaluation"):
        for task in run_cluster(script, tmp_path / "run", moment, status=143):
            assert task.lines == ["0"]
    for task in run_cluster(script, tmp_path / "run", "none"):
        assert task.lines == ["3", "5"]


def test_a_notice_that_comes_in_a_step(run_cluster, tmp_path):
    """The second worker waits in it, in C++, for the first one, which comes once it has heard of the notice."""
    script = """
    import os, signal, sys, threading
    from frontends import tf
    from spmd.cluster.watchdog import progress

    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    step = tf.Variable(0)
    handler = tf.distribute.experimental.PreemptionCheckpointHandler(
        strategy.cluster_resolver, tf.train.Checkpoint(step=step), sys.argv[1]
    )

    @tf.function
    def total():
        return strategy.reduce("SUM", strategy.run(lambda: tf.constant(1.0)), axis=None)

    def train():
        result = float(total())
        step.assign_add(1)
        return result

    def end():
        while progress.steps == first or not progress.waits:
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    handler.run(train)
    first = progress.steps
    if strategy.cluster_resolver.task_id == 1:
        threading.Thread(target=end, daemon=True).start()
    else:
        handler._sync._first._thread.join()
    handler.run(train)
    print("saves next", flush=True)
    handler.run(train)
    """
    for task in run_cluster(script, tmp_path / "run", status=143, JAXTRIBUTE_WATCHDOG_SECONDS=30):
        assert task.lines == ["saves next"]
        assert "jaxtribute: worker 1 is about to be terminated: saves after 2 calls" in task.stderr


def test_a_task_that_saves_nothing_asks_for_a_restart(run_cluster):
    """And so do the others, who can only wait for it."""
    for task in run_cluster(
        """
        import os, signal
        from frontends import tf

        strategy = tf.distribute.MultiWorkerMirroredStrategy()
        if strategy.cluster_resolver.task_id == 1:
            os.kill(os.getpid(), signal.SIGTERM)
        while True:
            strategy.reduce("SUM", strategy.run(lambda: tf.constant(1.0)), axis=None).numpy()
        """,
        status=143,
    ):
        assert "worker 1" in task.stderr
        assert "was told to end, by SIGTERM" in task.stderr


def test_a_task_that_waits_for_the_others_asks_for_a_restart(run_cluster):
    """The second worker ends without ever joining; the first gets SIGTERM while it waits."""
    first, _ = run_cluster(
        """
        import json, os, signal, threading
        from frontends import tf

        if json.loads(os.environ["TF_CONFIG"])["task"]["index"] == 0:
            def when_it_waits():
                while signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
                    pass
                os.kill(os.getpid(), signal.SIGTERM)
            threading.Thread(target=when_it_waits, daemon=True).start()
            tf.distribute.MultiWorkerMirroredStrategy()
        """,
        status=None,
    )
    assert first.status == 143
