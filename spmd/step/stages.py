"""A step ahead of time, stage by stage, as in `jax.stages`: traced, lowered, compiled.

Each stage belongs to the step that it came from: a call of the step uses what was traced and compiled here.
"""

from collections.abc import Callable
from typing import Any

import jax
from jax.extend.core import Jaxpr

from spmd import _jax_internals
from spmd.proof import Collective, collectives
from spmd.step.dispatch import Executable
from spmd.typing import PyTree


class _Stage:
    def __init__(self, executable: Executable, run: Callable[..., PyTree]) -> None:
        """Wraps a program, and what runs it on arguments; use `Step.trace` and what follows it."""
        self._executable, self._run = executable, run

    @property
    def jaxpr(self) -> Jaxpr:
        """The program of one replica."""
        return self._executable.program.jaxpr

    @property
    def collectives(self) -> list[Collective]:
        """The collectives of the step as it was written, with the bytes that travel."""
        return collectives(self.jaxpr)

    @property
    def out_info(self) -> PyTree:
        """Shape and type of each array of the result; of a per-replica value, those that one replica has."""
        program = self._executable.program
        outputs = program.jaxpr.outvars[-len(program.results) :] if program.results else []
        avals = [_jax_internals.aval_of(output) for output in outputs]
        described = [jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in avals]
        return jax.tree.unflatten(program.structure, described)

    @property
    def state_names(self) -> tuple[str, ...]:
        """Names of the variables that the program reads or writes."""
        program = self._executable.program
        return (*program.changed.leaf_names, *program.kept.leaf_names)


class Traced(_Stage):
    """A step that was traced and checked for one set of shapes.

    Examples:
        >>> import jax.numpy as jnp, spmd
        >>> step = spmd.Step(lambda: spmd.all_reduce(jnp.ones((2, 3))), spmd.make_mesh(["cpu"]))
        >>> [(c.name, c.bytes) for c in step.trace().collectives]
        [('psum', 24)]

    Source: `jax.stages.Traced`.
    """

    def lower(self) -> "Lowered":
        """Lowers the program to StableHLO."""
        return Lowered(self._executable, self._run)


class Lowered(_Stage):
    """A step before XLA's optimisations.

    Examples:
        >>> import jax.numpy as jnp, spmd
        >>> step = spmd.Step(lambda: spmd.all_reduce(jnp.ones((2, 3))), spmd.make_mesh(["cpu"]))
        >>> program = step.lower()
        >>> program.memory.output_size_in_bytes >= 24
        True

    Source: `jax.stages.Lowered`.
    """

    def __init__(self, executable: Executable, run: Callable[..., PyTree]) -> None:
        """Lowers a program; use `Step.lower`."""
        super().__init__(executable, run)
        self._lowered = executable.lowered

    @property
    def traced(self) -> Traced:
        """The stage before this one."""
        return Traced(self._executable, self._run)

    def as_text(self) -> str:
        """Returns the program as StableHLO."""
        return self._lowered.as_text()

    @property
    def stablehlo(self) -> str:
        """The program as StableHLO."""
        return self.as_text()

    @property
    def hlo(self) -> str:
        """The program that XLA made; compiles it if need be."""
        return self.compile().as_text()

    @property
    def memory(self) -> Any:
        """Bytes of arguments, results, temporaries and code on one device; compiles if need be."""
        return self.compile().memory_analysis()

    @property
    def cost(self) -> dict[str, float]:
        """XLA's estimate of work: `"flops"`, `"bytes accessed"`; compiles if need be."""
        return self.compile().cost_analysis()

    def compile(self) -> "Compiled":
        """Compiles the program; blocks until XLA has. Steps on other threads go on meanwhile."""
        return Compiled(self._executable, self._run)


class Compiled(_Stage):
    """A step that can run on arguments of one set of shapes.

    Examples:
        >>> import jax, jax.numpy as jnp, spmd
        >>> step = spmd.Step(lambda x: x * 2, spmd.make_mesh(["cpu:0"]))
        >>> compiled = step.lower(jax.ShapeDtypeStruct((2,), jnp.float32)).compile()
        >>> compiled(jnp.ones(2)).tolist()
        [2.0, 2.0]

    Source: `jax.stages.Compiled`.
    """

    def __init__(self, executable: Executable, run: Callable[..., PyTree]) -> None:
        """Compiles a program; use `Lowered.compile`."""
        super().__init__(executable, run)
        self._compiled = executable.compiled

    def __call__(self, *args: Any, **kwargs: Any) -> PyTree:
        """Runs the program; it reads and writes the step's state, as a call of the step does.

        Raises:
            BatchError: the program does not fit the arguments, or the step would do something else by now.
        """
        return self._run(self._executable, args, kwargs)

    def as_text(self) -> str:
        """Returns the program as HLO."""
        return self._compiled.as_text() or ""

    def memory_analysis(self) -> Any:
        """Returns the bytes of arguments, results, temporaries and code on one device."""
        return self._compiled.memory_analysis()

    def cost_analysis(self) -> dict[str, float]:
        """Returns XLA's estimate of work: `"flops"`, `"bytes accessed"`."""
        return dict(self._compiled.cost_analysis() or {})
