"""Who runs `tf.function`s for this program, if it does not run them itself."""

import weakref
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from frontends.tf._typing import Nested


class Runner(Protocol):
    """Runs functions that the program calls, in other processes."""

    def takes_functions(self) -> bool:
        """Tells whether a function that is called now is to run there."""
        ...

    def run_function(self, function: Any, args: Sequence[Nested], kwargs: Mapping[str, Any]) -> Any:
        """Runs a `tf.function`, and returns its result."""
        ...


_RUNNERS: list[weakref.ref[Any]] = []


def run_functions_by(runner: Runner) -> None:
    """Has the `tf.function`s that the program calls from now on run elsewhere, while the runner lives."""
    _RUNNERS[:] = [weakref.ref(runner)]


def runner_now() -> Runner | None:
    """Returns what runs a `tf.function` that the program calls here and now; None if it runs here."""
    if not _RUNNERS:
        return None
    runner: Runner | None = _RUNNERS[0]()
    return runner if runner is not None and runner.takes_functions() else None
