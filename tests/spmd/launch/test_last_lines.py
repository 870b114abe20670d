"""What is remembered of a process that failed: its own last words."""

from spmd.launch.last_lines import LastLines


def last(*lines: str) -> tuple[str, ...]:
    remembered = LastLines()
    for line in lines:
        remembered.add(line)
    return tuple(remembered.lines)


def test_the_last_three_lines_without_empty_ones() -> None:
    assert last("a", "b", "", " c ", "d", "  ") == ("b", "c", "d")


def test_the_watchdogs_own_words_are_kept_where_it_gave_the_verdict() -> None:
    verdict = "jaxtribute: worker 1 lags: no step since step 7, for 17 s."
    end = "jaxtribute: worker 0, at step 8, exits with code 143 (retryable). Its Python stacks:"
    assert last("a", verdict, end, "Thread MainThread", "  File x") == ("a", verdict)


def test_the_step_that_may_change_at_each_start_is_left_out() -> None:
    ends = "jaxtribute: worker 0, at step {}, exits with code 1, and the other tasks end too."
    first, second = (last("KeyError: 'x'", ends.format(step)) for step in (7, 8))
    assert first == second == ("KeyError: 'x'",)


def test_the_note_that_jax_adds_to_every_traceback_is_left_out() -> None:
    rule, note = (
        "--------------------",
        "For simplicity, JAX has removed its internal frames from the traceback of the following exception. Set "
        "JAX_TRACEBACK_FILTERING=off to include these.",
    )
    assert last("a", "b", "ValueError: no data", rule, note) == ("a", "b", "ValueError: no data")
