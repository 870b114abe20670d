"""Checks of a traced step before it runs; each raises an error that says how to fix the step."""

import functools
import gc
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
from jax.core import Tracer
from jax.extend.core import ClosedJaxpr, Jaxpr

from spmd import _jax_internals
from spmd.errors import (
    ControlFlowError,
    PaddedBatchError,
    Remedy,
    ReplicaDivergenceError,
    StateError,
    some_of,
)
from spmd.proof.dataflow import depends_on, inner_constants, origin, per_device_program
from spmd.replica import RowMask
from spmd.state import Kind, StateTable, adapters
from spmd.typing import LibraryVariable


def check_state_is_there(table: StateTable, step: str, error: Exception) -> None:
    """Finds out whether a step failed because of lost state, or lost it when it failed.

    Args:
        table: variables of the step.
        step: its name.
        error: what JAX raised instead of running the step, or while it ran.

    Raises:
        StateError: the array of a variable is deleted.
    """
    lost = [
        name
        for name, leaf in zip(table.leaf_names, table.read(), strict=True)
        if isinstance(leaf, jax.Array) and leaf.is_deleted()
    ]
    if not lost:
        return
    if isinstance(error, jax.errors.JaxRuntimeError):
        why = (
            f"The step {step!r} failed while it ran, and the value of {some_of(lost, 3)} is lost, because a "
            "step writes the new state into the memory of the old. Why it failed stands above."
        )
    else:
        why = (
            f"The step {step!r} cannot run, because the value of {some_of(lost, 3)} is lost: the array is "
            "deleted. Either a step failed before, after it was given the array's memory, or code "
            "outside of steps donated or deleted the array."
        )
    raise StateError(
        f"{why} Give the state a value before the next step: restore a checkpoint, as in "
        f"{Remedy.RESTORE.spelled()}, or make the model and its optimizer anew."
    ) from error


def check_no_leaked_values(outer: ClosedJaxpr, step: str) -> None:
    """Checks that a program uses no value of another one, which ended before.

    Args:
        outer: the traced step.
        step: its name.

    Raises:
        ControlFlowError: a constant of the program is such a value.
    """
    for constant in [*outer.consts, *inner_constants(per_device_program(outer))]:
        if isinstance(constant, Tracer):
            raise leaked_value_error(step, _jax_internals.line_of(constant))


def leaked_value_error(step: str, line: str | None) -> ControlFlowError:
    """Makes the error for a value that left the branch, loop or function that it belongs to.

    Args:
        step: the name of the step.
        line: where the value was made, if that is known.
    """
    where = f" at {line}" if line else ""
    return ControlFlowError(
        f"The step {step!r} uses a value that was computed{where} inside a branch, a loop or another traced function, "
        "outside of which it does not exist. It left by way of nonlocal, global, an attribute, or a list or "
        "dictionary of another function. Assign it to a local variable of the function that has the loop, or return "
        "it; keep what lasts in a variable."
    )


def check_no_captured_variables(
    outer: ClosedJaxpr, variables: Sequence[LibraryVariable], step: str
) -> None:
    """Checks that no variable's value was frozen into the program.

    Args:
        outer: the traced step.
        variables: those that are no constants, lifted or made by the step itself.
        step: its name.

    Raises:
        StateError: a constant of the program is the value of a variable.
    """
    constants = [*outer.consts, *inner_constants(per_device_program(outer))]
    if not constants:
        return
    positions = {id(constant): position for position, constant in enumerate(constants)}
    # What a person read from a variable before the step, and closed over, is a constant.
    known = set(map(id, variables))
    # Asked once for all constants: each time the garbage collector looks at all objects of the process.
    owners = [
        (positions[id(value)], owner)
        for owner in gc.get_referrers(*constants)
        if id(owner) not in known and any(adapter.is_variable(owner) for adapter in adapters())
        for value in gc.get_referents(owner)
        if id(value) in positions
    ]
    if owners:
        position, owner = min(owners, key=operator.itemgetter(0))
        line = _line_that_reads(outer, position)
        raise StateError(
            f"The step {step!r} reads {_describe(owner, constants[position])}"
            + (f" at {line}" if line else "")
            + ", but did not find it among the objects that it can reach. Its value would be frozen "
            "into the program, and later changes of it ignored. "
            f"{Remedy.NAME_STATE.spelled(name='model')}."
        )


def check_local_state_fits(table: StateTable, replicas: int, step: str) -> None:
    """Checks that variables with a value on each replica have as many as there are replicas.

    Raises:
        StateError: one does not.
    """
    for name, leaf, own in zip(table.leaf_names, table.read(), table.local, strict=True):
        if own and (leaf.ndim == 0 or leaf.shape[0] != replicas):
            found = leaf.shape[0] if leaf.ndim else "no"
            raise StateError(
                f"The variable {name} has a value for each of {found} replicas, but the step {step!r} runs "
                f"on {replicas}. Make the variable for the mesh that runs the step: "
                f"{Remedy.MAKE_LOCAL_VARIABLE.spelled()}."
            )


def check_state_keeps_shape(jaxpr: Jaxpr, constants: int, table: StateTable, step: str) -> None:
    """Checks that every variable keeps its shape and type.

    Raises:
        StateError: one does not.
    """
    for index, name in enumerate(table.leaf_names):
        old: Any = jaxpr.invars[constants + index].aval
        new: Any = jaxpr.outvars[index].aval
        if (old.shape, old.dtype) != (new.shape, new.dtype):
            line = origin(jaxpr, index)
            raise StateError(
                f"The step {step!r} changes {name} from {old.str_short()} to {new.str_short()}"
                + (f" at {line}" if line else "")
                + ". A variable keeps its shape and type for the next step: convert the new value "
                f"with .astype({str(old.dtype)!r}) or .reshape{tuple(old.shape)}."
            )


def check_state_is_equal(
    jaxpr: Jaxpr, varies: Sequence[bool], table: StateTable, step: str
) -> None:
    """Checks that every variable leaves the step with one value on all replicas.

    Raises:
        ReplicaDivergenceError: one does not; names it, the line that wrote it, and the fix.
    """
    bad = [index for index, flag in enumerate(varies) if flag]
    if bad:
        raise diverged_error(bad, table, step, jaxpr)


def diverged_error(
    bad: Sequence[int], table: StateTable, step: str, jaxpr: Jaxpr | None = None
) -> ReplicaDivergenceError:
    """Makes the error for variables that replicas would keep different values of.

    Args:
        bad: the leaves of the state.
        table: the state.
        step: its name.
        jaxpr: the program, if there is one: it tells the line that wrote them.
    """
    # An optimizer's state, of which there is more, differs because the parameters' gradients do.
    variables = [slot.variable for slot in table.slots for _ in range(slot.count)]
    bad = sorted(bad, key=lambda index: not _is_parameter(variables[index]))
    line = None if jaxpr is None else origin(jaxpr, *bad)
    shown = some_of([table.leaf_names[index] for index in bad], 5)
    if any(table.kinds[index] is Kind.KEY for index in bad):
        fix = "Do not replace a random key inside the replica function; draw from it."
    else:
        fix = (
            f"A gradient is the replica's own until it is summed: {Remedy.SUM_GRADIENTS.spelled()}. Combine other "
            f"values {Remedy.COMBINE_WRITES.spelled()}."
        )
    return ReplicaDivergenceError(
        f"The step {step!r} would leave {shown} with a different value on every replica"
        + (f" (written at {line})" if line else "")
        + ", because it depends on the replica's own rows, key or index and was not combined over "
        f"the replicas. {fix}"
    )


def check_whole_results_are_equal(differing: Sequence[str], step: str) -> None:
    """Refuses results that are returned as one value, but differ between replicas.

    Args:
        differing: paths to them in the step's result.
        step: its name.

    Raises:
        ReplicaDivergenceError: there is one.
    """
    if differing:
        where = differing[0] and f" at {differing[0]}"
        raise ReplicaDivergenceError(
            f"The step {step!r} returns a value{where} that differs between "
            "replicas, but as one value. It was taken out of a replica's function by the back "
            "door (a global, a list). Return it from that function, and reduce it."
        )


def find_counted_padding(
    jaxpr: Jaxpr,
    *,
    rows: Sequence[bool],
    masks: Sequence[bool],
    outputs: Mapping[int, str],
    step: str,
) -> Callable[[RowMask], PaddedBatchError] | None:
    """Finds results that depend on the rows of a batch, but not on which of them are valid.

    Args:
        jaxpr: the program of one replica.
        rows: for every input, whether it holds rows.
        masks: for every input, whether it is a mask.
        outputs: the outputs to look at: index and name.
        step: name of the step.

    Returns:
        What makes the error for a padded batch, or None if padding is harmless.
    """
    if not any(masks):
        return None
    by_rows, by_masks = depends_on(jaxpr, rows), depends_on(jaxpr, masks)
    bad = [index for index in outputs if by_rows[index] and not by_masks[index]]
    if not bad:
        return None
    shown = some_of([outputs[index] for index in bad], 3)
    what = f"never asks which rows are valid, so padding would count in {shown}"
    line = origin(jaxpr, *bad)
    return functools.partial(_padding_error, step, what + (f" (written at {line})" if line else ""))


def counted_padding_error(names: Sequence[str], step: str, mask: RowMask) -> PaddedBatchError:
    """Makes the error for a padded batch whose padding changes what a step computes.

    Args:
        names: of what changes.
        step: name of the step.
        mask: of the batch.
    """
    what = f"leaves padding out in some places only: it counts in {some_of(names, 3)}"
    return _padding_error(step, what, mask)


def counted_rows_error(names: Sequence[str], step: str, mask: RowMask) -> PaddedBatchError:
    """Makes the error for a padded batch of a step that takes the rows of a block for valid ones.

    Args:
        names: of what is computed of their number.
        step: name of the step.
        mask: of the batch.
    """
    what = f"counts the rows of a block (x.shape[0]), so padding would count in {some_of(names, 3)}"
    return _padding_error(step, what, mask, suspected=True)


def gathered_padding_error(step: str, mask: RowMask) -> PaddedBatchError:
    """Makes the error for a padded batch of a step that gathers rows between the replicas.

    Args:
        step: its name.
        mask: of the batch.
    """
    return _padding_error(step, "gathers rows of all replicas, and padding with them", mask)


def _padding_error(
    step: str, what: str, mask: RowMask, *, suspected: bool = False
) -> PaddedBatchError:
    valid, size = sum(mask.counts), len(mask.counts) * mask.rows_per_replica
    return PaddedBatchError(
        f"The batch holds {valid} rows, padded to {size}, but the step {step!r} {what}. A plain mean() "
        "of the loss is wrong on several replicas anyway. Ways out:\n"
        f"  average with {Remedy.AVERAGE_WITHOUT_PADDING.spelled()};\n"
        "  or drop the last batch: dataset.batch(size, drop_remainder=True);\n"
        "  or take the mask: metric.update(..., mask=spmd.valid_rows()), "
        "batch_norm(x, mask=spmd.valid_rows()[:, None]).",
        f"it {what}",
        suspected,
    )


def _line_that_reads(outer: ClosedJaxpr, position: int) -> str | None:
    if position >= len(outer.consts):
        return None  # inside of a function that JAX traced by itself
    inner, passed = per_device_program(outer), outer.jaxpr.eqns[-1].invars
    for variable, atom in zip(inner.invars, passed, strict=True):
        if atom is outer.jaxpr.constvars[position]:
            for equation in inner.eqns:
                if any(atom is variable for atom in equation.invars):
                    return _jax_internals.user_line(equation)
    return None


def _is_parameter(variable: LibraryVariable) -> bool:
    """Tells whether a library marks a variable as trained: Flax by its class, Keras by an attribute."""
    by_class = any(cls.__name__ == "Param" for cls in type(variable).__mro__)
    return by_class or getattr(variable, "trainable", False) is True


def _describe(variable: LibraryVariable, value: jax.Array) -> str:
    text = f"a {type(variable).__name__} of shape {tuple(value.shape)}"
    for holder in gc.get_referrers(variable):
        if isinstance(holder, dict):
            key = next((key for key, item in holder.items() if item is variable), None)
            if isinstance(key, str):
                return f"{text} ({key!r})"
    return text
