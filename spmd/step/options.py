"""How a step is compiled."""

import dataclasses
from collections.abc import Mapping


@dataclasses.dataclass(frozen=True)
class StepOptions:
    """How a step is compiled.

    Attributes:
        max_programs: how many programs a step keeps; the least recently used one is dropped.
        warn_after: number of programs after which each doubling warns that shapes keep changing.
        compiler_options: options for XLA, such as `{"xla_cpu_enable_fast_math": True}`. They take precedence over those
            that the engine chooses on processors (`docs/lowering.md`).
        trace_numbers: trace Python numbers among the arguments from the first call on, where that can be done,
            and not only once another number comes in their place.

    Raises:
        ValueError: `max_programs` or `warn_after` is below 1.

    Examples:
        >>> import spmd
        >>> options = spmd.StepOptions(max_programs=2)
        >>> step = spmd.Step(lambda x: x * 2, spmd.make_mesh(["cpu:0"]), options=options)
        >>> for number in (1, 2.0, 3j):
        ...     result = step(number)
        >>> step
        Step(<lambda>, programs=2)
    """

    max_programs: int = 16
    warn_after: int = 4
    compiler_options: Mapping[str, str | bool] | None = None
    trace_numbers: bool = False

    def __post_init__(self) -> None:
        for name in ("max_programs", "warn_after"):
            if getattr(self, name) < 1:
                raise ValueError(
                    f"StepOptions.{name} must be at least 1, but is {getattr(self, name)}."
                )
