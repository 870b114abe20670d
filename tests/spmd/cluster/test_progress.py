"""How far a process is: what its watchdog tells the others."""

import gc
import weakref

import pytest

from spmd.cluster.progress import Progress


class Output:
    """An array that a device has or has not computed."""

    def __init__(self, ready=False):
        self.ready = ready

    def is_ready(self):
        if self.ready is None:
            raise RuntimeError("Array has been deleted.")
        return self.ready


@pytest.fixture
def progress():
    return Progress()


def test_a_step_that_is_being_dispatched_is_waited_for(progress):
    assert not progress.waits
    progress.step_started()
    assert progress.waits
    progress.step_dispatched((), ())  # it failed, or gives nothing
    assert not progress.waits


@pytest.mark.parametrize("place", ["state", "results"])
def test_a_step_is_waited_for_until_its_output_is_there(progress, place):
    output = Output()
    progress.step_started()
    # A random key cannot say whether it is there.
    arrays = [object(), output]
    progress.step_dispatched(*((arrays, ()) if place == "state" else ((), arrays)))
    assert progress.waits
    output.ready = True
    assert not progress.waits


def test_a_deleted_output_is_not_waited_for(progress):
    output = Output(ready=None)
    progress.step_dispatched([output], ())
    assert not progress.waits


def test_who_is_busy_does_not_wait_for_its_devices(progress):
    progress.step_started()
    with progress.busy("compiles"):
        assert not progress.waits
        with progress.waiting("a gather"):
            assert progress.waits
    assert progress.waits


def test_threads_that_end_in_any_order_leave_no_activity_behind(progress):
    first, second = progress.busy("compiles a"), progress.busy("compiles b")
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert progress.doing == "compiles b"
    second.__exit__(None, None, None)
    assert progress.doing == ""


def test_outputs_are_not_kept_alive(progress):
    """State is donated to the next step, and a second reference would make that copy it."""
    state, result = Output(), Output()
    seen = [weakref.ref(state), weakref.ref(result)]
    progress.step_dispatched([state], [result])
    del state, result
    gc.collect()
    assert [one() for one in seen] == [None, None]
    assert not progress.waits
    result = Output()
    seen = weakref.ref(result)
    progress.step_dispatched((), [result])
    del result
    assert progress.waits
    progress.step_started()
    gc.collect()
    assert seen() is None


def ran(*programs):
    progress = Progress()
    for program in programs:
        progress.step_started(program)
    return progress


@pytest.mark.parametrize("others", [(), (1,), (1, 2, 2, 1), (1, 2, 2, 1, 3, 3), range(100)])
def test_who_ran_the_same_as_far_as_both_got_agrees(others):
    mine = (1, 2, 2, 1) if others != range(100) else range(90)
    assert ran(*mine).agrees(ran(*others).orders)


@pytest.mark.parametrize("others", [(2,), (1, 1, 2, 2), (2, 1, 2, 1), (1, 1), (1, 2, 1, 2, 3, 3)])
def test_who_ran_others_or_in_another_order_does_not(others):
    assert not ran(1, 2, 2, 1).agrees(ran(*others).orders)


def test_what_is_forgotten_agrees():
    assert ran(*[1] * 5000).agrees(ran(2).orders)
    assert not ran(*[1] * 5000).agrees(ran(2, *[1] * 4500).orders)
