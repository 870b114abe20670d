"""How functions run."""

import os
import pty
import select
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

import frontends
from frontends import tf


@pytest.fixture(autouse=True)
def settings():
    yield
    tf.config.run_functions_eagerly(False)
    tf.config.set_soft_device_placement(True)


def test_functions_run_as_python_on_request():
    @tf.function
    def total(x):
        found = 0
        while found < 10:
            found += int(x.numpy())
        return found

    with pytest.raises(AttributeError, match="is traced"):
        total(tf.constant(3))
    tf.config.run_functions_eagerly(True)
    assert tf.config.functions_run_eagerly()
    assert int(total(tf.constant(3))) == 12
    assert total.experimental_get_tracing_count() == 0


def test_the_older_names_are_the_same():
    tf.config.experimental_run_functions_eagerly(True)
    assert tf.config.experimental_functions_run_eagerly()


def test_soft_placement_is_noted():
    assert tf.config.get_soft_device_placement()
    tf.config.set_soft_device_placement(False)
    assert not tf.config.get_soft_device_placement()


def mirrored(replicas):
    return tf.distribute.MirroredStrategy([f"cpu:{index}" for index in range(replicas)])


def batches(strategy, rows, size):
    data = tf.data.Dataset.from_tensor_slices(np.arange(rows, dtype=np.float32)).batch(size)
    return strategy.experimental_distribute_dataset(data)


@pytest.mark.parametrize("replicas", [1, 2, 4])
def test_each_replica_prints_numbers_in_turn(capsys, replicas):
    strategy = mirrored(replicas)

    def step(x):
        context = tf.distribute.get_replica_context()
        print(int(context.replica_id_in_sync_group), x.numpy().tolist(), end="; ")
        total = context.all_reduce("SUM", tf.reduce_sum(x))
        if total > 5:
            print(total.numpy(), end="; ")
        return total

    @tf.function
    def train(x):
        return strategy.reduce("MEAN", strategy.run(step, (x,)), axis=None)

    tf.config.run_functions_eagerly(True)
    assert [float(train(x)) for x in batches(strategy, 5, 4)] == [6, 4]
    rows = np.array_split([0.0, 1.0, 2.0, 3.0], replicas)
    first = [f"{index} {list(map(float, one))}" for index, one in enumerate(rows)]
    last = [f"{index} {[4.0] if not index else []}" for index in range(replicas)]
    printed = [*first, *["6.0"] * replicas, *last]
    assert capsys.readouterr().out == "; ".join([*printed, ""])


def test_a_function_that_was_compiled_before_is_compiled_after():
    strategy, calls = mirrored(2), []

    def step(x):
        calls.append(1)
        return x

    @tf.function
    def train(x):
        return strategy.run(step, (x,))

    (batch,) = batches(strategy, 4, 4)
    counts = []
    for eagerly in (False, False, True, True, False):
        tf.config.run_functions_eagerly(eagerly)
        train(batch)
        counts.append(len(calls))
    first = counts[0]
    assert counts == [first, first, first + 2, first + 4, first + 4]


def test_an_error_comes_with_the_line_of_the_replica():
    strategy = mirrored(2)

    def step():
        if tf.distribute.get_replica_context().replica_id_in_sync_group == 1:
            return {}["missing"]
        return tf.distribute.get_replica_context().all_reduce("SUM", 1.0)

    tf.config.run_functions_eagerly(True)
    with pytest.raises(KeyError) as raised:
        strategy.run(step)
    assert raised.traceback[-1].name == "step"
    assert raised.value.__notes__ == ["Replica 1 of 2 raised this, op by op."]


def test_what_is_written_once_is_written_by_the_first_replica(capsys, tmp_path):
    pytest.importorskip("tensorboard")
    strategy = mirrored(2)

    def step():
        tf.print("replica", output_stream=sys.stdout)
        tf.summary.scalar("loss", 1.0, step=0)

        def merge(strategy, value):
            tf.print("merged", output_stream=sys.stdout)
            return strategy.extended.reduce_to("SUM", value, value)

        return tf.distribute.get_replica_context().merge_call(merge, (tf.constant(2.0),))

    tf.config.run_functions_eagerly(True)
    writer = tf.summary.create_file_writer(str(tmp_path))
    with writer.as_default():
        assert [float(value) for value in strategy.run(step).values] == [4, 4]
    writer.close()
    assert capsys.readouterr().out.split() == ["replica", "merged", "replica"]
    (file,) = tmp_path.iterdir()
    assert file.read_bytes().count(b"loss") == 1


SCRIPT = """
    import spmd
    spmd.simulate_devices(2)
    from frontends import tf

    tf.config.run_functions_eagerly(True)
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])

    def step():
        x = tf.distribute.get_replica_context().replica_id_in_sync_group + 40
        breakpoint()
        return tf.distribute.get_replica_context().all_reduce("SUM", x)

    @tf.function
    def train():
        return strategy.reduce("MEAN", strategy.run(step), axis=None)

    print("result", int(train()))
"""


@pytest.mark.slow
def test_a_breakpoint_stops_in_each_replica(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(textwrap.dedent(SCRIPT))
    terminal, other_end = pty.openpty()
    path = str(Path(frontends.__file__).parents[1])
    process = subprocess.Popen(
        [sys.executable, str(script)],
        env={**os.environ, "PYTHONPATH": path, "PYTHONBREAKPOINT": ""},
        **dict.fromkeys(("stdin", "stdout", "stderr"), other_end),
    )
    os.close(other_end)
    shown = ""

    def until(text):
        nonlocal shown
        start, end = len(shown), time.monotonic() + 120
        while text not in shown[start:]:
            assert time.monotonic() < end, shown
            if select.select([terminal], [], [], 1)[0]:
                try:
                    shown += os.read(terminal, 4096).decode()
                except OSError:  # it has ended
                    break
        return shown[start:]

    try:
        for value in (40, 41):
            assert "(Pdb)" in until("(Pdb)")
            os.write(terminal, b"p x\n")
            assert f"Array({value}, dtype=int32)" in until("(Pdb)")
            os.write(terminal, b"p step.__name__, x.numpy() + 1000\n")
            assert str(value + 1000) in until("(Pdb)")
            os.write(terminal, b"c\n")
        assert "result 81" in until("the end of the output")
    finally:
        os.close(terminal)
        assert process.wait(60) == 0, shown
