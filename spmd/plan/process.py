"""Starts a worker process for each plan, so that libtpu, simulated devices and the user's script stay out of this one."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from spmd.errors import PlanError
from spmd.plan.environment import check_compiler, worker_environment
from spmd.plan.facts import StepFacts
from spmd.plan.request import Request, read_answer
from spmd.plan.topologies import parse_topology

_STDERR = 2


def compile_step(request: Request) -> StepFacts:
    """Compiles a step for hardware that is not here, in a process of its own; blocks until it has.

    What the user's script prints goes to the standard error of this process.

    Args:
        request: the step, and the hardware.

    Returns:
        The compiler's figures, and the program.

    Raises:
        PlanError: there is no such script or topology, the compiler is not installed, the script makes no step,
            or XLA cannot compile it.
    """
    topology = parse_topology(request.topology)
    _check_target(request)
    check_compiler(topology)
    with tempfile.TemporaryDirectory(
        prefix="jaxtribute-plan-", ignore_cleanup_errors=True
    ) as place:
        asked, answered = Path(place, "request.json"), Path(place, "answer.json")
        temporary = Path(place, "tmp")
        temporary.mkdir()
        request.write(asked)
        # The script ends where its step is captured, and removes no temporary files of its own.
        environment = {**worker_environment(topology, os.environ), "TMPDIR": str(temporary)}
        log = Path(place, "log.txt")
        status = _run([str(asked), str(answered)], environment, log)
        if not answered.exists():
            printed = log.read_text(errors="replace").strip().splitlines()
            raise PlanError(
                f"The process that compiled {request.target} for {topology} {_ending(status)} before it had "
                "an answer. If it ran out of memory, plan for fewer devices: each is simulated here.\n"
                + "\n".join(printed[-5:])
            )
        return read_answer(answered)


def _check_target(request: Request) -> None:
    place, _ = request.factory or (request.target, "")
    is_file = request.factory is None or place.endswith(".py")
    if is_file and not Path(place).is_file():
        raise PlanError(
            f"There is no file {place!r} to plan. Name a training script, `train.py`, or a function that returns "
            "a step and its arguments, `package.module:function` or `train.py:function`."
        )


def _run(arguments: list[str], environment: dict[str, str], log: Path) -> int:
    """Runs the worker; what is printed before it listens goes to the log, and then to our standard error."""
    shown = os.dup(_STDERR)
    try:
        # A session of its own: the script's processes end with it.
        with (
            log.open("wb") as early,
            subprocess.Popen(
                [sys.executable, "-P", "-m", "spmd.plan.worker", *arguments, str(shown)],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=shown,
                stderr=early,
                pass_fds=[shown],
                start_new_session=True,
            ) as process,
        ):
            try:
                return process.wait()
            finally:
                with contextlib.suppress(ProcessLookupError, PermissionError):  # nothing is left
                    os.killpg(process.pid, signal.SIGKILL)
    finally:
        os.close(shown)


def _ending(status: int) -> str:
    if status >= 0:
        return f"ended with status {status}"
    try:
        return f"was killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"was killed by signal {-status}"
