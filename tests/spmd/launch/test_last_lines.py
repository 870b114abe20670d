"""What is remembered of a process that failed: its own last words."""

from spmd.launch.last_lines import LastLines


def last(*lines: str) -> tuple[str, ...]:
    remembered = LastLines()
    for line in lines:
        remembered.add(line)
    return remembered.lines


def test_the_last_three_lines_without_empty_ones() -> None:
    assert last("a", "b", "", " c ", "d", "  ") == ("b", "c", "d")


def test_the_watchdogs_own_words_are_kept_where_it_gave_the_verdict() -> None:
    verdict = "jaxtribute: worker 1 (b:1) lags: no step since step 7, for 17 s."
    report = "jaxtribute: this is worker 0 (a:1) at step 8; tasks: worker 0 (a:1) at step 8."
    end = "jaxtribute: worker 0 (a:1) exits with code 143 (retryable). Its Python stacks:"
    assert last("a", verdict, report, end, "Thread 0x1", "  File x") == ("a", verdict)


def test_the_address_that_changes_at_each_start_is_left_out() -> None:
    failed = "jaxtribute: worker 0 (127.0.0.1:{}) failed at step 0: KeyError: 'x'"
    first, second = (last("KeyError: 'x'", failed.format(port)) for port in (40001, 40002))
    assert first == second == ("KeyError: 'x'",)
