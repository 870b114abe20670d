"""Processes that stop while others wait for them: who is named, by whom, and how the others end."""

import re
import signal

import pytest

pytestmark = pytest.mark.multiprocess

NAMES = ["chief 0", "worker 0", "worker 1"]


def report(gang, task, victim):
    """Returns how a task says that another one stopped, after checking that it says all there is to say."""
    text = gang.text(task)
    said = re.search(
        rf"^jaxtribute: {NAMES[victim]} \({re.escape(gang.addresses[victim])}\) (.*)$", text, re.M
    )
    assert said, text
    code = "1\\." if task == victim else r"143 \(retryable\)\."
    assert re.search(rf"{NAMES[task]} .* exits with code {code} Its Python stacks:", text), text
    # Where it was: in the stacks, or above them in the error that the lost connection has caused.
    assert 'script.py", line ' in text
    return said[1]


@pytest.mark.parametrize("victim", [0, 1, 2])
def test_a_process_that_is_killed(gang, victim):
    gang.start("train(10**9)", 3)
    gang.wait_for("trains 6.0")
    gang.send(victim, signal.SIGKILL)
    others = [task for task in range(3) if task != victim]
    assert gang.statuses(*others) == [143, 143]
    for task in others:
        assert report(gang, task, victim).startswith("is gone: its connection closed")


@pytest.mark.slow
@pytest.mark.parametrize("victim", [0, 1])
def test_a_process_that_is_frozen(gang, victim):
    gang.start("train(10**9)", 3, JAXTRIBUTE_WATCHDOG_SECONDS="8")
    gang.wait_for("trains 6.0")
    gang.send(victim, signal.SIGSTOP)
    others = [task for task in range(3) if task != victim]
    assert gang.statuses(*others) == [143, 143]
    for task in others:
        assert report(gang, task, victim).startswith("is stopped: not heard of for")


@pytest.mark.slow
def test_a_process_that_lags(gang):
    gang.start(
        """
        train(5)
        if me == 1:
            time.sleep(1000)
        train(5)
        """,
        JAXTRIBUTE_WATCHDOG_SECONDS="6",
    )
    assert gang.statuses(0, 1) == [143, 143]
    text = gang.text(1)
    assert f"jaxtribute: worker 0 ({gang.addresses[1]}) lags: no step since step 5" in text
    assert "in <module>" in text  # its stack shows where
    assert "worker 0" in gang.text(0)
    assert "lags: no step since step 5" in gang.text(0)


@pytest.mark.slow
def test_a_process_that_ends_early(gang):
    gang.start("train(5 if me else 6)", JAXTRIBUTE_WATCHDOG_SECONDS="6")
    assert gang.statuses(0, 1) == [143, 143]
    for task in range(2):
        assert "has ended its script after step 5, while chief 0" in gang.text(task)


@pytest.mark.parametrize("victim", [0, 1])
def test_a_process_that_fails(gang, victim):
    gang.start(f"train(5)\nif me == {victim}:\n    raise KeyError('mine')\ntrain(10**9)")
    assert gang.statuses(victim, 1 - victim) == [1, 143]
    for task in range(2):
        assert report(gang, task, victim) == "failed at step 5: KeyError: 'mine'"


def test_a_wait_in_vain_asks_for_a_restart(gang):
    gang.start(
        """
        from spmd.cluster import store

        train(3)
        if me == 0:
            store.all_gather_small("only here", "", 0.5)
        train(10**9)
        """
    )
    assert gang.statuses(0, 1) == [143, 143]
    for task in range(2):
        assert f"jaxtribute: chief 0 ({gang.addresses[0]}) failed at step 3" in gang.text(task)
        assert "waited 0.5 s for worker 0 to say its 'only here'" in gang.text(task)


def test_an_error_of_a_collective_names_who_died(gang):
    gang.start(
        """
        try:
            train(10**9)
        except Exception as error:
            print("caught", type(error).__name__, flush=True)
            cluster.runtime.report_failure(error)
        """
    )
    gang.wait_for("trains 3.0")
    gang.send(1, signal.SIGKILL)
    assert gang.statuses(0) == [143]
    assert report(gang, 0, 1).startswith("is gone")


def test_a_step_that_is_stuck_in_all(gang):
    gang.start(
        """
        import threading
        import spmd

        def stuck(x):
            if me == 1 and x[0] >= 3:
                threading.Event().wait(1000)
            return x

        count = spmd.Variable(np.float32(0), name="count")

        def step():
            count.value = count.value + 1
            x = jax.numpy.ones(1) * count.value
            x = jax.pure_callback(stuck, jax.ShapeDtypeStruct((1,), x.dtype), x)
            return spmd.all_reduce(x)

        train = spmd.Step(step, spmd.make_mesh())
        for _ in range(5):
            print("total", train()[0], flush=True)
        """,
        JAXTRIBUTE_WATCHDOG_SECONDS="4",
    )
    assert gang.statuses(0, 1) == [143, 143]
    for task in range(2):
        assert "jaxtribute: All tasks are at step 3, and wait for what it computes" in gang.text(
            task
        )
        assert (
            len(re.findall("at step 3, no step for .*? s, waits for its devices", gang.text(task)))
            >= 2
        )
