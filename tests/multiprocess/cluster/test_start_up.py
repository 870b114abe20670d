"""Processes that start together, or do not."""

import pytest

pytestmark = pytest.mark.multiprocess


@pytest.mark.parametrize("tasks", [pytest.param(2, marks=pytest.mark.slow), 3])
def test_all_start_once_train_and_leave_together(gang, tasks):
    gang.start(
        """
        names = ["chief 0", *(f"worker {i}" for i in range(len(sys.argv) - 3))]
        cluster.initialize(sys.argv[2:], me, names=names)  # again, which does nothing
        try:
            cluster.initialize(sys.argv[2:], 1 - min(me, 1), names=names)
        except RuntimeError as error:
            print("refused:", error)
        train(3)
        print("done", jax.process_index(), jax.process_count())
        # Whoever ends first waits for the others.
        if me:
            open(f"came{me}", "w").close()
        while not os.path.exists("came1"):
            time.sleep(0.05)
        if not me:
            time.sleep(1)
        cluster.shutdown()
        cluster.shutdown()
        print("left")
        """,
        tasks,
    )
    assert gang.statuses(*range(tasks)) == [0] * tasks
    for task in range(tasks):
        text = gang.text(task)
        refused = "refused: This process has joined a cluster already, as process"
        assert f"{refused} {task} of" in text
        assert f"trains {sum(range(1, tasks + 1))}.0" in text
        assert f"done {task} {tasks}" in text
        assert "left" in text
        assert "Terminating process" not in text


@pytest.mark.parametrize("tasks", [pytest.param([0], marks=pytest.mark.slow), [0, 1]])
def test_who_never_starts_is_named(gang, tasks):
    for task in tasks[:-1]:
        gang.start("", 3, only=[task])
        gang.wait_for("jaxtribute: chief 0 waits for")
    last = tasks[-1]
    gang.start("", 3, only=[last], JAXTRIBUTE_START_TIMEOUT="2")
    assert gang.statuses(last) == [143]
    error = gang.text(last).split("ClusterStartError:")[1]
    assert f"worker 1 ({gang.addresses[2]})" in error
    assert (
        f"Of 3 tasks, {len(tasks)} came: {', '.join(['chief 0', 'worker 0'][: len(tasks)])}."
        in error
    )
    assert "Fatal Python error" not in gang.text(last)
    assert "Check failure" not in gang.text(last)


def test_a_chief_that_never_starts_is_named(gang):
    gang.start("", 2, only=[1], JAXTRIBUTE_START_TIMEOUT="1")
    assert gang.statuses(1) == [143]
    assert f"worker 0 waited 1 s for chief 0 ({gang.addresses[0]})" in gang.text(1)
    assert "Connection refused" in gang.text(1)


def test_lists_that_differ(gang):
    gang.start("", 2, only=[0])
    gang.wait_for("jaxtribute: chief 0 waits for")
    gang.start("", 2, only=[1], addresses=[gang.addresses[0], "127.0.0.1:1"])
    assert gang.statuses(1) == [1]  # to start it again helps nothing
    gang.wait_for("disagree about the cluster (about the address of worker 0)")


def test_the_environment_s_proxies_are_passed_by(gang):
    nowhere = "http://127.0.0.1:9"
    gang.start("train(3)", http_proxy=nowhere, https_proxy=nowhere, grpc_proxy=nowhere)
    assert gang.statuses(0, 1) == [0, 0]
