"""What compiling a step for some hardware tells: the compiler's own figures, and the program.

These are plain data: the process that compiles writes them as JSON, and reports are made of them elsewhere.
"""

import dataclasses
import json
from collections.abc import Mapping
from typing import Any


@dataclasses.dataclass(frozen=True)
class Buffer:
    """An array that a step takes, as it lies on one device.

    Attributes:
        name: of the variable, or of the argument.
        kind: `"parameters"`, `"optimizer"`, `"other state"` or `"input"`.
        bytes: of its elements on one device, without what the device pads.
        dtype: type of its elements.
        shape: its shape over all devices.
    """

    name: str
    kind: str
    bytes: int
    dtype: str = ""
    shape: tuple[int, ...] = ()


@dataclasses.dataclass(frozen=True)
class Memory:
    """Bytes on one device, as the compiler counts them.

    Attributes:
        arguments: what the step takes.
        outputs: what it returns.
        aliased: outputs that lie where an argument lay.
        temporaries: what it needs while it runs.
        code: the program itself.
    """

    arguments: int
    outputs: int
    aliased: int
    temporaries: int
    code: int

    @property
    def total(self) -> int:
        """What has to fit at once: arguments, outputs that lie nowhere else, temporaries and code."""
        return self.arguments + self.outputs - self.aliased + self.temporaries + self.code


@dataclasses.dataclass(frozen=True)
class StepFacts:
    """What compiling a step for some hardware tells.

    Attributes:
        name: of the step's function.
        topology: as it was asked for, such as `"v5e:16x16"`.
        chip: its kind, such as `"v5e"`.
        devices: how many the step runs on.
        replicas: how many replicas it has.
        slices: how many groups of devices a slower network joins.
        global_batch: rows of the first batch that it takes, padding left out; None if it takes none.
        steps_per_call: how many training steps one call makes; None if that is not known.
        jax_version: that compiled it.
        seconds: how long `"trace"`, `"lower"` and `"compile"` took, here.
        memory: of one device.
        buffers: what the step takes.
        compiler_cost: XLA's estimate for one device: `"flops"`, `"bytes accessed"`.
        model_flops: of one device and one call, counted in the program as it was written: matrix products and
            convolutions.
        elementwise_flops: likewise, of all other operations.
        hlo: the program that XLA made.
        sources: lines of the user's files that the program names, by `"file:line"`.
        notes: what a reader should know of the figures.
        flops_by_type: `model_flops`, by the type of the operands, such as `"float32"`.
    """

    name: str
    topology: str
    chip: str
    devices: int
    replicas: int
    slices: int
    global_batch: int | None
    steps_per_call: int | None
    jax_version: str
    seconds: Mapping[str, float]
    memory: Memory
    buffers: tuple[Buffer, ...]
    compiler_cost: Mapping[str, float]
    model_flops: float
    elementwise_flops: float
    hlo: str
    sources: Mapping[str, str]
    notes: tuple[str, ...]
    flops_by_type: Mapping[str, float] = dataclasses.field(default_factory=dict[str, float])

    def to_json(self) -> str:
        """Writes the facts as JSON; `from_json` reads them again."""
        return json.dumps(dataclasses.asdict(self))

    @staticmethod
    def from_json(text: str) -> "StepFacts":
        """Reads what `to_json` wrote.

        Args:
            text: JSON.

        Examples:
            >>> memory = Memory(4, 4, 4, 0, 0)
            >>> facts = StepFacts(
            ...     "train",
            ...     "cpu:1",
            ...     "cpu",
            ...     1,
            ...     1,
            ...     1,
            ...     None,
            ...     1,
            ...     "0.10.2",
            ...     {},
            ...     memory,
            ...     (),
            ...     {},
            ...     0.0,
            ...     0.0,
            ...     "HloModule train",
            ...     {},
            ...     ("a note",),
            ... )
            >>> StepFacts.from_json(facts.to_json()) == facts
            True
        """
        fields: dict[str, Any] = json.loads(text)
        fields["memory"] = Memory(**fields["memory"])
        for buffer in fields["buffers"]:
            buffer["shape"] = tuple(buffer["shape"])
        fields["buffers"] = tuple(Buffer(**buffer) for buffer in fields["buffers"])
        fields["notes"] = tuple(fields["notes"])
        return StepFacts(**fields)
