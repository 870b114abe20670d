"""The process that compiles: runs the user's script up to its training step, and compiles that for other devices.

    python -m spmd.plan.worker REQUEST.json ANSWER.json STDERR

`spmd.plan.process` starts it, in an environment of its own. STDERR is the number of the file that the script's
standard error goes to: what libraries print while they are imported does not, unless this process fails. The script sees as many simulated devices as the
topology has. When it is about to compile its training step for them, the step is compiled for the topology instead,
and the process ends: nothing of the step was run, and no device has got a copy of the state.
"""

import contextlib
import importlib
import os
import runpy
import sys
import tempfile
import traceback
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import jax

from spmd.errors import PlanError
from spmd.plan.capture import Capture
from spmd.plan.facts import StepFacts
from spmd.plan.measure import measure
from spmd.plan.request import Request, write_answer
from spmd.plan.target_devices import find_target_devices, target_mesh
from spmd.plan.topologies import Topology, parse_topology
from spmd.step import Program, observe_compilation
from spmd.topology import simulate_devices, trace_for

_STDERR = 2


def main(asked: Path, answered: Path) -> None:
    """Does what a request asks for; ends the process.

    Args:
        asked: the file with the request.
        answered: where the answer goes.
    """
    request = Request.read(asked)

    def end(answer: StepFacts | PlanError) -> None:
        write_answer(answered, answer)
        sys.stdout.flush()
        sys.stderr.flush()
        # Code of the script that would run while it ends may write what an untrained model has no use for.
        os._exit(0)

    try:
        topology = parse_topology(request.topology)
        devices: list[Any] = []
        if topology.platform != "cpu":
            with _silent():
                devices = find_target_devices(topology)
            trace_for(topology.platform)
        simulate_devices(topology.devices)
        # The user's line may be far below the libraries' lines.
        jax.config.update("jax_traceback_in_locations_limit", 100)

        def take(program: Program, options: Mapping[str, str | bool] | None) -> None:
            end(_measured(request, topology, devices, program, options, capture.passed))

        capture = Capture(request.step, take)
        observe_compilation(capture)
        _run(request, capture)
    except PlanError as error:
        end(error)
    except BaseException:
        traceback.print_exc()
        end(PlanError("The process that compiles failed; see the traceback above."))


def _measured(
    request: Request,
    topology: Topology,
    devices: list[Any],
    program: Program,
    options: Mapping[str, str | bool] | None,
    passed: list[str],
) -> StepFacts | PlanError:
    notes: list[str] = []
    if passed:
        notes.append(f"Run before it, on simulated devices: {', '.join(passed)}.")
    try:
        with _silent():
            mesh = target_mesh(program.mesh, devices) if devices else program.mesh
            return measure(program, options, topology, mesh, notes=notes, full=request.full)
    except PlanError as error:
        return error
    except Exception as error:
        traceback.print_exc()
        return PlanError(f"Cannot compile the step {program.name!r} for {topology}: {error}")


def _run(request: Request, capture: Capture) -> None:
    """Runs the script, or calls the factory and its step; returns only if there was no step to take."""
    what = request.target
    wanted = f"the step {request.step!r}" if request.step else "a training step"
    try:
        _call(request)
    except PlanError:
        raise
    except SystemExit as error:
        if error.code not in (None, 0):
            if isinstance(error.code, str):
                print(error.code, file=sys.stderr)
            code = 1 if isinstance(error.code, str) else error.code
            raise PlanError(
                f"{what} ended with sys.exit({code!r}) before {wanted}. Arguments of the script go after `--`, as "
                f"in: jaxtribute plan {what} --topology {request.topology} -- --epochs 1"
            ) from error
    except BaseException as error:
        _print_traceback(error, what)
        lines = str(error).strip().splitlines()
        raise PlanError(
            f"{what} raised {type(error).__name__}{': ' if lines else ''}{lines[0] if lines else ''} before "
            f"{wanted}; its traceback stands above. The script runs here on simulated devices, as it is, up to "
            "that step."
        ) from error
    seen = f"It called {', '.join(map(repr, capture.passed))}. " if capture.passed else ""
    if request.step:
        hint = "Name one of these." if capture.passed else "It called no step."
        raise PlanError(f"{what} ended without {wanted}. {seen}{hint}")
    raise PlanError(
        f"{what} ended without {wanted}: a step that changes variables, as "
        f"`spmd.Step`, a strategy or `fit` make it. {seen}Name a step with --step, or a script that trains. One that "
        "finds a checkpoint of its last step has none left to run: give it another folder."
    )


def _call(request: Request) -> None:
    if request.factory is None:
        sys.argv = [request.target, *request.arguments]
        sys.path.insert(0, os.path.dirname(os.path.abspath(request.target)))
        runpy.run_path(request.target, run_name="__main__")
        return
    place, name = request.factory
    sys.argv = [place, *request.arguments]
    if place.endswith(".py"):
        sys.path.insert(0, os.path.dirname(os.path.abspath(place)))
        found: Any = runpy.run_path(place).get(name)
    else:
        sys.path.insert(0, os.getcwd())
        found = getattr(importlib.import_module(place), name, None)
    if not callable(found):
        raise PlanError(f"{place} has no function {name!r} that returns a step and its arguments.")
    step, arguments = _step_of(found, request.target)
    step(*arguments)


def _step_of(factory: Callable[[], Any], target: str) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    made = factory()
    if isinstance(made, tuple) and len(made) == 2 and callable(made[0]):
        step, arguments = made
        if isinstance(arguments, (tuple, list)):
            return step, tuple(arguments)
    raise PlanError(
        f"{target} returned {type(made).__name__}, but should return a step and a tuple of its arguments: "
        "arrays, jax.ShapeDtypeStruct, or batches as spmd.input.abstract_batch describes them. For example:\n"
        "    def make():\n"
        "        batch = spmd.input.abstract_batch(jax.ShapeDtypeStruct((1024, 28, 28, 1), 'float32'))\n"
        "        return spmd.Step(train_step), (batch,)"
    )


def _print_traceback(error: BaseException, target: str) -> None:
    """Prints a traceback without this package's frames in front of the script's."""
    shown: TracebackType | None = error.__traceback__
    here = {__file__, runpy.__file__}
    while shown is not None and _is_frozen(shown.tb_frame.f_code.co_filename, here):
        shown = shown.tb_next
    traceback.print_exception(type(error), error, shown or error.__traceback__)


def _is_frozen(name: str, here: set[str]) -> bool:
    return name in here or name.startswith("<frozen")


@contextlib.contextmanager
def _silent() -> Generator[None]:
    """Keeps what compilers print from the user, unless they fail."""
    sys.stderr.flush()
    with tempfile.TemporaryFile() as log:
        before = os.dup(_STDERR)
        os.dup2(log.fileno(), _STDERR)
        try:
            yield
        except BaseException:
            os.dup2(before, _STDERR)
            log.seek(0)
            sys.stderr.write(log.read().decode(errors="replace"))
            raise
        finally:
            sys.stderr.flush()
            os.dup2(before, _STDERR)
            os.close(before)


if __name__ == "__main__":
    os.dup2(int(sys.argv[3]), _STDERR)
    os.close(int(sys.argv[3]))
    main(Path(sys.argv[1]), Path(sys.argv[2]))
