"""What a worker process is asked, and what it answers: two JSON files."""

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from spmd.errors import PlanError
from spmd.plan.facts import StepFacts
from spmd.plan.topologies import parse_topology


@dataclasses.dataclass(frozen=True)
class Request:
    """A step to compile.

    Attributes:
        target: a script, `"train.py"`, or a factory, `"package.module:function"` or `"train.py:function"`.
        topology: what to compile for, see `parse_topology`.
        arguments: of the script, as in `sys.argv[1:]`.
        step: name of the step's function; empty takes the first one that trains.
        full: compile with all of XLA's optimizations, however long that takes; see `measure`.
    """

    target: str
    topology: str
    arguments: tuple[str, ...] = ()
    step: str = ""
    full: bool = False

    @property
    def factory(self) -> tuple[str, str] | None:
        """The module or file, and the function in it; None if the target is a script."""
        place, _, function = self.target.rpartition(":")
        return (place, function) if place and function.isidentifier() else None

    def write(self, path: Path) -> None:
        """Writes the request to a file."""
        path.write_text(json.dumps(dataclasses.asdict(self)))

    @staticmethod
    def read(path: Path) -> "Request":
        """Reads what `write` wrote."""
        fields: dict[str, Any] = json.loads(path.read_text())
        fields["arguments"] = tuple(fields["arguments"])
        return Request(**fields)


def filled_in(arguments: Sequence[str], topology: str, batch: str = "") -> tuple[str, ...]:
    """Puts numbers in the place of `{devices}`, and of `{batch}` if there is one, in a script's arguments.

    Examples:
        >>> filled_in(["--devices", "{devices}", "--batch", "{batch}"], "v5e:2x4", "512")
        ('--devices', '8', '--batch', '512')
    """
    devices = str(parse_topology(topology).devices)
    filled = [word.replace("{devices}", devices) for word in arguments]
    return tuple(word.replace("{batch}", batch) if batch else word for word in filled)


def write_answer(path: Path, answer: StepFacts | PlanError) -> None:
    """Writes what became of a request."""
    if isinstance(answer, PlanError):
        path.write_text(json.dumps({"error": str(answer)}))
    else:
        path.write_text(f'{{"facts": {answer.to_json()}}}')


def read_answer(path: Path) -> StepFacts:
    """Reads what became of a request.

    Raises:
        PlanError: the step could not be compiled, and why.
    """
    answer: dict[str, Any] = json.loads(path.read_text())
    if "error" in answer:
        raise PlanError(answer["error"])
    return StepFacts.from_json(json.dumps(answer["facts"]))
