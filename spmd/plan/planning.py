"""`plan`: what a training step takes on hardware that is not here."""

from collections.abc import Sequence

from spmd.plan.process import compile_step
from spmd.plan.report import Plan, make_plan
from spmd.plan.request import Request, filled_in


def plan(
    target: str,
    topology: str,
    arguments: Sequence[str] = (),
    *,
    step: str = "",
    full: bool = False,
    sweep: Sequence[str] = (),
) -> Plan:
    """Compiles a training step for hardware that is not here, and tells what it takes there.

    Blocks until that is done, in a process of its own for each topology. A script runs in it, as it is, on simulated
    devices, up to its first training step, which is compiled and not run; what it prints goes to standard error.

    Args:
        target: a script, `"train.py"`, or a function that returns a step and a tuple of its arguments,
            `"package.module:function"` or `"train.py:function"`. An argument is an array, a `jax.ShapeDtypeStruct`, or
            a batch as `spmd.input.abstract_batch` describes it.
        topology: what to compile for: `"v5e:16x16"`, `"2xv5e:16x16"` (two slices), `"v4:2x2x2"`, `"h100:8"`, `"cpu:8"`.
        arguments: of the script. `"{devices}"` in one stands for the number of devices of the topology.
        step: name of the step's function; empty takes the first one that updates what it reads.
        full: compile a large program for TPUs with all of XLA's optimizations, which takes minutes.
        sweep: more topologies, which the step is compiled for as well, to see how it scales.

    Returns:
        The figures: print them with `spmd.plan.print_plan`, or take them from its attributes.

    Raises:
        PlanError: there is no such script or topology, the compiler is not installed, the script makes no step, or
            XLA cannot compile it.

    Examples:
        >>> import pathlib, tempfile
        >>> code = '''
        ... import numpy as np, spmd
        ... weight = spmd.Variable(np.ones((8, 4), np.float32), name="weight")
        ... def train(x):
        ...     weight.value -= spmd.all_reduce(x.T @ (x @ weight.value))
        ... for batch in spmd.distribute(np.ones((16, 8), np.float32), batch_size=16):
        ...     spmd.Step(train)(batch)
        ... '''
        >>> script = pathlib.Path(tempfile.mkdtemp(), "train.py")
        >>> _ = script.write_text(code)
        >>> found = plan(str(script), "cpu:2")
        >>> found.step, found.replicas, found.global_batch, found.parameter_bytes
        ('train', 2, 16, 128)
    """
    first, *others = (
        compile_step(Request(target, name, filled_in(arguments, name), step, full))
        for name in dict.fromkeys([topology, *sweep])
    )
    return make_plan(first, others)
