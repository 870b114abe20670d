"""Processes that start together, or do not."""

import pytest

pytestmark = pytest.mark.multiprocess


@pytest.mark.parametrize("tasks", [2, 3])
def test_all_start_train_and_end(gang, tasks):
    gang.start('train(3)\nprint("done", jax.process_index(), jax.process_count())', tasks)
    assert gang.statuses(*range(tasks)) == [0] * tasks
    for task in range(tasks):
        assert f"trains {sum(range(1, tasks + 1))}.0" in gang.text(task)
        assert f"done {task} {tasks}" in gang.text(task)
        assert "Terminating process" not in gang.text(task)


def test_whoever_ends_first_waits_for_the_others(gang):
    gang.start(
        """
        train(3)
        if me:
            open("came", "w").close()
        while not os.path.exists("came"):
            time.sleep(0.05)
        if not me:
            time.sleep(1)
        cluster.shutdown()
        cluster.shutdown()
        print("left")
        """
    )
    assert gang.statuses(0, 1) == [0, 0]
    assert all("left" in gang.text(task) for task in range(2))


@pytest.mark.parametrize("tasks", [[0], [0, 1]])
def test_who_never_starts_is_named(gang, tasks):
    for task in tasks[:-1]:
        gang.start("", 3, only=[task])
        gang.wait_for("jaxtribute: chief 0 waits for")
    last = tasks[-1]
    gang.start("", 3, only=[last], JAXTRIBUTE_START_TIMEOUT="3")
    assert gang.statuses(last) == [143]
    error = gang.text(last).split("ClusterStartError:")[1]
    assert f"worker 1 ({gang.addresses[2]})" in error
    assert f"Of 3 tasks came: {', '.join(['chief 0', 'worker 0'][: len(tasks)])}." in error
    assert "Fatal Python error" not in gang.text(last)
    assert "Check failure" not in gang.text(last)


def test_a_chief_that_never_starts_is_named(gang):
    gang.start("", 2, only=[1], JAXTRIBUTE_START_TIMEOUT="2")
    assert gang.statuses(1) == [143]
    assert f"worker 0 waited 2 s for chief 0 ({gang.addresses[0]})" in gang.text(1)
    assert "Connection refused" in gang.text(1)


def test_lists_that_differ(gang):
    gang.start("", 2, only=[0])
    gang.wait_for("jaxtribute: chief 0 waits for")
    gang.start("", 2, only=[1], addresses=[gang.addresses[0], "127.0.0.1:1"])
    assert gang.statuses(1) == [1]  # to start it again helps nothing
    gang.wait_for(f"worker 0 is at {gang.addresses[1]} here, at 127.0.0.1:1 there")


def test_a_second_call(gang):
    gang.start(
        """
        cluster.initialize(sys.argv[2:], me, names=["chief 0", "worker 0"])
        try:
            cluster.initialize(sys.argv[2:], 1 - me)
        except RuntimeError as error:
            print("refused:", error)
        """
    )
    assert gang.statuses(0, 1) == [0, 0]
    assert "refused: This process has joined a cluster already, as process 1 of" in gang.text(1)


def test_the_environment_s_proxies_are_passed_by(gang):
    nowhere = "http://127.0.0.1:9"
    gang.start("train(3)", http_proxy=nowhere, https_proxy=nowhere, grpc_proxy=nowhere)
    assert gang.statuses(0, 1) == [0, 0]
