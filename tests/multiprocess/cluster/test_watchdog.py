"""Processes that stop while others wait for them: who is named, by whom, and how the others end."""

import re
import signal
import time

import pytest

pytestmark = pytest.mark.multiprocess

NAMES = ["chief 0", "worker 0", "worker 1"]


def report(gang, task, victim, *, stacks=False):
    """Returns how a task says that another one stopped, after checking that it says all there is to say."""
    text = gang.text(task)
    said = re.search(rf"^jaxtribute: {NAMES[victim]}(.*)$", text, re.M)
    assert said, text
    ends = rf"{NAMES[task]}, at step \d+, exits with code 143 \(retryable\)\."
    assert re.search(ends + (" Its Python stacks:" if stacks else "$"), text, re.M), text
    assert ("(most recent call last):\n  File" in text.partition(" Its Python")[2]) == stacks
    return said[1]


@pytest.mark.parametrize("victim", [0, 1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_process_that_is_killed(gang, victim):
    gang.start("train(10**9)", 3)
    gang.wait_for("trains 6.0")
    gang.send(victim, signal.SIGKILL)
    others = [task for task in range(3) if task != victim]
    assert gang.statuses(*others) == [143, 143]
    for task in others:
        assert report(gang, task, victim).startswith(" is gone: its connection closed")


@pytest.mark.slow
@pytest.mark.parametrize("victim", [0, 1])
def test_a_process_that_is_frozen(gang, victim):
    gang.start("train(10**9)", 3, JAXTRIBUTE_WATCHDOG_SECONDS="8")
    gang.wait_for("trains 6.0")
    gang.send(victim, signal.SIGSTOP)
    others = [task for task in range(3) if task != victim]
    assert gang.statuses(*others) == [143, 143]
    for task in others:
        said = report(gang, task, victim, stacks=True)
        assert said.startswith(" is stopped: not heard from for ")


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
    assert "in <module>\n    time.sleep(1000)\n" in gang.text(1)
    for task in range(2):
        assert report(gang, task, 1, stacks=True).startswith(" lags: no step since step 5, for")
        assert re.search(
            r"^jaxtribute:   worker 0: script.py:\d+, at step 5$", gang.text(task), re.M
        )


def test_a_process_that_ends_early(gang):
    gang.start("train(5 if me else 6)")
    assert gang.statuses(0, 1) == [143, 143]
    for task in range(2):
        assert "has ended its script after step 5, while chief 0" in gang.text(task)


@pytest.mark.parametrize("victim", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_a_process_that_fails(gang, victim):
    gang.start(f"train(5)\nif me == {victim}:\n    raise KeyError('mine')\ntrain(10**9)")
    assert gang.statuses(victim, 1 - victim) == [1, 143]
    assert report(gang, 1 - victim, victim) == ", at step 5, failed: KeyError: 'mine'"
    mine = gang.text(victim)
    assert mine.count("KeyError: 'mine'") == 1
    assert mine.endswith(
        f"{NAMES[victim]}, at step 5, exits with code 1, and the other tasks end too.\n"
    )


@pytest.mark.parametrize("victim", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_a_process_that_exits_with_a_code_of_its_own(gang, victim):
    gang.start(f"train(5)\nif me == {victim}:\n    import sys; sys.exit(3)\ntrain(10**9)")
    assert gang.statuses(victim, 1 - victim) == [3, 143]
    assert report(gang, 1 - victim, victim) == ", at step 5, ended by sys.exit(3)."


def test_the_same_error_in_all_processes(gang):
    gang.start("train(5)\nif me:\n    time.sleep(0.5)\nraise KeyError('of all')", waits={})
    assert gang.statuses(0, 1) == [1, 1]


@pytest.mark.parametrize("caller", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_a_call_that_only_one_makes(gang, caller):
    gang.start(
        f"""
        import spmd.checkpoint

        train(3)
        checkpoint = spmd.checkpoint.Checkpoint(w=spmd.Variable(np.zeros(2, np.float32)))
        if me == {caller}:
            checkpoint.save("checkpoint")
        """
    )
    assert gang.statuses(0, 1) == [1, 1]
    for task in range(2):
        text = gang.text(task)
        assert "jaxtribute: Some tasks wait in a call that the others do not make." in text
        line = r":   {}: waits in Checkpoint.save \(script.py:\d+\), at step 3$"
        assert re.search(line.format(NAMES[caller]), text, re.M), text
        assert f":   {NAMES[1 - caller]}: its script has ended\n" in text


def test_a_call_that_only_one_makes_amid_steps(gang):
    gang.start(
        """
        import spmd.checkpoint

        checkpoint = spmd.checkpoint.Checkpoint(w=spmd.Variable(np.zeros(2, np.float32)))
        train(3)
        if me == 0:
            checkpoint.save("checkpoint")
        train(10**9)
        """
    )
    assert gang.statuses(0, 1) == [1, 1]
    for task in range(2):
        text = gang.text(task)
        saves = r":   chief 0: waits in Checkpoint.save \(script.py:\d+\), at step 3$"
        assert re.search(saves, text, re.M), text
        assert re.search(r":   worker 0: .*script.py:\d+.*, at step 4$", text, re.M), text


def test_a_step_that_only_one_runs(gang):
    gang.start(
        """
        import spmd.checkpoint

        train = spmd.Step(lambda: spmd.all_reduce(jax.numpy.ones(1)), spmd.make_mesh())
        if me == 0:
            train()
        spmd.checkpoint.Checkpoint(w=spmd.Variable(np.zeros(2, np.float32))).save("checkpoint")
        """
    )
    assert gang.statuses(0, 1) == [1, 1]
    for task in range(2):
        text = gang.text(task)
        step = r":   chief 0: waits in .* \(script.py:\d+\), a call of the step '.*', before its first step$"
        assert re.search(step, text, re.M), text
        assert "worker 0: waits in Checkpoint.save (script.py:" in text


def test_sigterm_ends_a_wait(gang):
    gang.start(
        """
        from spmd.cluster import store

        train(3)
        if me == 0:
            store.all_gather_small("only here", "")
        time.sleep(1000)
        """
    )
    gang.wait_for("trains 3.0")
    gang.send(0, signal.SIGTERM)
    assert gang.statuses(0, 1) == [143, 143]
    for task in range(2):
        assert report(gang, task, 0) == ", at step 3, was told to end, by SIGTERM."


@pytest.mark.parametrize("pause", [0.0, 0.2, pytest.param(1.0, marks=pytest.mark.slow)])
def test_sigterm_after_process_0_has_died(gang, pause):
    gang.start("train(10**9)", 2)
    gang.wait_for("trains 3.0")
    gang.send(0, signal.SIGKILL)
    time.sleep(pause)
    began = time.monotonic()
    gang.send(1, signal.SIGTERM)
    assert gang.statuses(1) == [143]
    assert time.monotonic() - began < 4.0  # two seconds, on a machine that is not this busy
    assert "exits with code 143 (retryable)" in gang.text(1)


def test_sigterm_ends_a_step(gang):
    """Its main thread is in the step, in C++, since the other one does not come to it."""
    gang.start(
        """
        import threading

        def tell():
            while progress.steps < 6 or not progress.waits:
                pass
            print("blocked", flush=True)

        train(5)
        if me == 0:
            threading.Thread(target=tell).start()
            train(1)
        print("blocked", flush=True)
        threading.Event().wait()
        """
    )
    gang.wait_for("blocked")
    gang.send(0, signal.SIGTERM)
    assert gang.statuses(0, 1) == [143, 143]
    for task in range(2):
        assert report(gang, task, 0) == ", at step 6, was told to end, by SIGTERM."


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
        assert "waited 0.5 s for worker 0 to say its 'only here'" in gang.text(task)
    assert "jaxtribute: chief 0, at step 3, failed: spmd.errors.ClusterWaitError" in gang.text(1)


def test_an_error_of_a_collective_names_who_died(gang):
    gang.start(
        """
        try:
            train(10**9)
        except Exception as error:
            print("caught", type(error).__name__, flush=True)
            cluster.failures.report_failure(error)
        """
    )
    gang.wait_for("trains 3.0")
    gang.send(1, signal.SIGKILL)
    assert gang.statuses(0) == [143]
    assert report(gang, 0, 1).startswith(" is gone")


@pytest.mark.slow
def test_a_step_that_is_stuck_in_all(gang):
    gang.start(
        """
        import threading
        import spmd.checkpoint

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
        text = gang.text(task)
        assert "jaxtribute: All tasks wait for what step 3 computes, for more than 4 s" in text
        assert re.search(r": .*script.py:\d+\), waits for its devices, at step 3$", text, re.M)
