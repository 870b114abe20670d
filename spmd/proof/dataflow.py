"""The proof that replicas stay equal: which values of a traced step differ between them?

A step is traced once, as the program of one replica. Every mirrored variable must leave it with one
value on all replicas, or replicas silently diverge. This pass follows each value forward
through the program (a jaxpr). A value *varies* if it depends on something that replicas see
differently (their rows, their index, their key) and was not combined over all replicas since.

The same walk, with other sources and no reductions, answers which results depend on the rows of a
batch, and which on its mask (`depends_on`).

Loops are followed to a fixpoint. The pass takes what it does not know to vary, so it errs on the safe side.
"""

import dataclasses
from collections.abc import Hashable, Iterator, Sequence
from typing import Any, TypeAlias

from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var

from spmd import _jax_internals
from spmd._jax_internals import opened, programs_in
from spmd.errors import ReplicaDivergenceError
from spmd.replica import ANY_ROW

# Collectives after which all replicas have the same value.
_REDUCTIONS = frozenset(
    {"psum", "psum_invariant", "pmax", "pmin", "all_gather", "all_gather_invariant"}
)
# Collectives after which each replica has a value of its own.
_EXCHANGES = frozenset(
    {"ppermute", "pshuffle", "all_to_all", "ragged_all_to_all", "reduce_scatter", "psum_scatter"}
)
# Answered by the host or the hardware, for each device by itself. (pure_callback promises one answer.)
_SOURCES = frozenset({"io_callback", "rng_uniform", "infeed"})
_HOST_CALLS = frozenset({"debug_callback", "debug_print", "io_callback", "infeed", "outfeed"})
_COLLECTIVES = _REDUCTIONS | _EXCHANGES

Atom: TypeAlias = Var | Literal


@dataclasses.dataclass(frozen=True)
class Collective:
    """A collective of a step.

    Attributes:
        name: JAX's name of the operation, such as `"psum"`.
        operands: shapes and types that travel, such as `("float32[10]",)`.
        bytes: size of the operands on one replica, for one execution.
        line: the user's line that it came from, or None.
    """

    name: str
    operands: tuple[str, ...]
    bytes: int
    line: str | None


def per_device_program(program: ClosedJaxpr) -> Jaxpr:
    """Returns what one device runs of a traced call of `jax.shard_map`."""
    return opened(program.jaxpr.eqns[-1].params["jaxpr"])


def varying_outputs(
    jaxpr: Jaxpr, varying_inputs: Sequence[bool], axes: Sequence[str]
) -> list[bool]:
    """Tells which outputs of a replica's program differ between replicas.

    Args:
        jaxpr: the program of one replica.
        varying_inputs: for every input, whether replicas see different values.
        axes: of the mesh, along which replicas are counted.

    Returns:
        For every output, whether it may differ.

    Raises:
        ReplicaDivergenceError: a collective stands where only some replicas would reach it.
    """
    # Along one axis at a time: a reduction over one axis leaves a value as it varies along the others.
    each = [Flow(axis).outputs(jaxpr, varying_inputs) for axis in axes]
    return [any(column) for column in zip(*each, strict=True)]


def depends_on(jaxpr: Jaxpr, inputs: Sequence[bool]) -> list[bool]:
    """Tells which outputs depend on some of the inputs.

    Args:
        jaxpr: a program.
        inputs: for every input, whether it is one of those asked about.

    Returns:
        For every output, whether it depends on one of them. Asking a mask only whether there is any row
        at all (`context.has_rows`) does not count.
    """
    return Flow(None).outputs(jaxpr, inputs)


def depends_on_in(equation: JaxprEqn, inputs: Sequence[bool]) -> list[bool]:
    """Tells which results of one operation depend on some of its operands; see `depends_on`."""
    return Flow(None).results(equation, list(inputs))


def names_axis(equation: JaxprEqn, axis: str, *, index: bool = True) -> bool:
    """Tells whether an operation, or one inside of it, is done by replicas together.

    Args:
        equation: the operation.
        axis: of the mesh, along which replicas are counted.
        index: whether asking for the replica's index counts.
    """
    if equation.primitive.name == "axis_index" and not index:
        return False
    return axis in _axes(equation) or any(
        names_axis(one, axis, index=index) for inner in _inner(equation) for one in inner.eqns
    )


def asks_the_host(equation: JaxprEqn) -> bool:
    """Tells whether an operation has side effects, or results that differ from one execution to the next."""
    return bool(equation.effects) or any(
        one.primitive.name in _SOURCES
        for one in [
            equation,
            *(each for inner in _inner(equation) for each in every_equation(inner)),
        ]
    )


def calls_the_host(jaxpr: Jaxpr) -> bool:
    """Tells whether a program calls the host, except for functions that were said to be pure."""
    return any(equation.primitive.name in _HOST_CALLS for equation in every_equation(jaxpr))


def origin(jaxpr: Jaxpr, *outputs: int) -> str | None:
    """Finds the user's line that computes the first of some outputs for which there is one.

    Args:
        jaxpr: the program of one replica.
        *outputs: indices of the outputs.

    Returns:
        `"file.py:12 (function)"`, or None.
    """
    made = {out: equation for equation in jaxpr.eqns for out in equation.outvars}
    for target in (jaxpr.outvars[output] for output in outputs):
        if isinstance(target, Var) and target in made:
            line = _jax_internals.user_line(made[target])
            if line is not None:
                return line
    return None


def source_of(jaxpr: Jaxpr, atom: Atom) -> Atom:
    """Follows a value back through calls and loops that only hand it on.

    Args:
        jaxpr: a program.
        atom: a value in it.

    Returns:
        The value that it is a copy of, or itself.
    """
    made = {out: (equation, i) for equation in jaxpr.eqns for i, out in enumerate(equation.outvars)}
    while not isinstance(atom, Literal) and atom in made:
        equation, index = made[atom]
        inner = _inner(equation)
        if len(inner) != 1 or not _same_arity(inner[0], equation):
            break
        body = inner[0]
        source = source_of(body, body.outvars[index])
        if isinstance(source, Literal) or source not in body.invars:
            break
        position = body.invars.index(source)
        if equation.primitive.name == "scan" and position != scan_counts(equation)[0] + index:
            break  # not the same carried value at every turn
        atom = equation.invars[position]
    return atom


def collectives(jaxpr: Jaxpr) -> list[Collective]:
    """Lists the collectives of a program, those in loops once.

    Args:
        jaxpr: the program of one replica.

    Returns:
        The collectives in program order.
    """
    found: list[Collective] = []
    for equation in _collectives(jaxpr):
        avals = list(map(_jax_internals.aval_of, equation.invars))
        operands = tuple(aval.str_short() for aval in avals)
        size = sum(aval.size * aval.dtype.itemsize for aval in avals)
        line = _jax_internals.user_line(equation)
        found.append(Collective(equation.primitive.name, operands, size, line))
    return found


def inner_constants(jaxpr: Jaxpr) -> list[Any]:
    """Lists the constants of the functions in a program that JAX traced by themselves.

    Args:
        jaxpr: the program of one replica.

    Returns:
        Their values.
    """
    return [
        constant
        for equation in every_equation(jaxpr)
        for program in programs_in(equation.params)
        if isinstance(program, ClosedJaxpr)
        for constant in program.consts
    ]


class Flow:
    """Follows one property of values forward through a program."""

    def __init__(self, axis: str | None) -> None:
        # Without an axis, dependence is followed: no operation ends it.
        self.axis = axis

    def outputs(self, jaxpr: Jaxpr, flags: Sequence[bool]) -> list[bool]:
        """Tells which outputs of a program have the property, if some inputs do."""
        marked: dict[Var, bool] = dict(zip(jaxpr.invars, flags, strict=True))

        def read(atom: Atom) -> bool:
            return not isinstance(atom, Literal) and marked.get(atom, False)

        made: dict[Var, JaxprEqn] = {}
        for equation in jaxpr.eqns:
            made.update(dict.fromkeys(equation.outvars, equation))
            inputs = [read(atom) for atom in equation.invars]
            # jax.Ref values are the only ones whose type wraps that of their contents.
            references = [
                atom
                for atom in equation.invars
                if isinstance(atom, Var) and hasattr(atom.aval, "inner_aval")
            ]
            if references and (any(inputs) or self._has_source(equation)):
                # A mutable reference may have been written: it and all that is read here may vary.
                outs = [True] * len(equation.outvars)
                marked.update((reference, True) for reference in references)
            elif self.axis is not None and self._ends_two_levels(equation, made):
                outs = [False]
            else:
                outs = self.results(equation, inputs)
            marked.update(zip(equation.outvars, outs, strict=True))
        return [read(atom) for atom in jaxpr.outvars]

    def results(self, equation: JaxprEqn, inputs: list[bool]) -> list[bool]:
        """Tells which results of an operation have the property, if some operands do."""
        name = equation.primitive.name
        count = len(equation.outvars)
        if self.axis is not None:
            over_replicas = self.axis in _axes(equation)
            ungrouped = equation.params.get("axis_index_groups") is None
            if name in _REDUCTIONS and over_replicas and ungrouped:
                return [False] * count
            if (
                name in _SOURCES or over_replicas
            ):  # axis_index, or a collective that is not known here
                return [True] * count
            if name == "axis_index":
                return [False] * count
        elif equation.params.get("name") == ANY_ROW:
            return [False] * count
        if name == "scan":
            return self._scan(equation, inputs)
        if name == "while":
            return self._while(equation, inputs)
        if name == "cond":
            return self._cond(equation, inputs)
        inner = _inner(equation)
        if len(inner) == 1 and _same_arity(inner[0], equation):
            return self.outputs(inner[0], inputs)
        # An operation on values, or a call whose inside does not line up with its outside.
        return [any(inputs) or self._has_source(equation)] * count

    def _has_source(self, equation: JaxprEqn) -> bool:
        sources = {"axis_index"} | _EXCHANGES | _SOURCES
        return self.axis is not None and any(
            operation.primitive.name in sources
            for inner in _inner(equation)
            for operation in every_equation(inner)
        )

    def _ends_two_levels(self, equation: JaxprEqn, made: dict[Var, JaxprEqn]) -> bool:
        """Tells whether a gather in groups is the end of a sum in two levels (`spmd.replica.gradient_buckets`)."""
        groups: list[set[frozenset[int]]] = []
        step: JaxprEqn | None = equation
        for name in ("all_gather", "psum", "reduce_scatter"):
            if step is None or step.primitive.name != name:
                return False
            if self.axis not in _axes(step) or not step.params["axis_index_groups"]:
                return False
            groups.append({frozenset(group) for group in step.params["axis_index_groups"]})
            operand = step.invars[0]
            step = made.get(operand) if isinstance(operand, Var) else None
        inside, across, scattered = groups
        # Each group between the groups has one replica of every group.
        crossing = all(len(one & other) == 1 for one in inside for other in across)
        return inside == scattered and crossing

    def _scan(self, equation: JaxprEqn, inputs: list[bool]) -> list[bool]:
        body = opened(equation.params["jaxpr"])
        consts, carries = scan_counts(equation)
        state = list(inputs)
        while True:
            outs = self.outputs(body, state)
            carry = [a or b for a, b in zip(state[consts : consts + carries], outs, strict=False)]
            if carry == state[consts : consts + carries]:
                return outs
            state[consts : consts + carries] = carry

    def _while(self, equation: JaxprEqn, inputs: list[bool]) -> list[bool]:
        cond = opened(equation.params["cond_jaxpr"])
        body = opened(equation.params["body_jaxpr"])
        cond_consts = equation.params["cond_nconsts"]
        body_consts = equation.params["body_nconsts"]
        carry = inputs[cond_consts + body_consts :]
        while True:
            # Replicas that leave the loop at different turns leave with different values.
            if any(self.outputs(cond, inputs[:cond_consts] + carry)):
                self._refuse_collectives(
                    equation, [cond, body], "loop", "a different number of times"
                )
                return [True] * len(carry)
            outs = self.outputs(body, inputs[cond_consts : cond_consts + body_consts] + carry)
            new = [a or b for a, b in zip(carry, outs, strict=True)]
            if new == carry:
                return carry
            carry = new

    def _cond(self, equation: JaxprEqn, inputs: list[bool]) -> list[bool]:
        branches = [opened(branch) for branch in equation.params["branches"]]
        outs = [self.outputs(branch, inputs[1:]) for branch in branches]
        if inputs[0]:
            self._refuse_collectives(equation, branches, "branch", "on some replicas only")
            return [True] * len(equation.outvars)
        return [any(column) for column in zip(*outs, strict=True)]

    def _refuse_collectives(
        self, equation: JaxprEqn, bodies: Sequence[Jaxpr], what: str, how: str
    ) -> None:
        if self.axis is not None and any(
            self.axis in _axes(collective) for body in bodies for collective in _collectives(body)
        ):
            line = _jax_internals.user_line(equation) or "an unknown line"
            raise ReplicaDivergenceError(
                f"The {what} at {line} holds a collective (all_reduce, all_gather, ...), but its "
                f"condition differs between replicas: it would run {how}, and the others "
                "would wait forever. Reduce the condition first, for example "
                "spmd.all_reduce(condition, 'max'), or move the collective out."
            )


def scan_counts(equation: JaxprEqn) -> tuple[int, int]:
    """Counts the inputs of a scan that are constants, and those that are carried.

    Each version of JAX keeps the counts elsewhere, but shapes tell them: what is scanned over, or
    stacked up, has one axis more outside of the body than inside.
    """
    body = opened(equation.params["jaxpr"])

    def same(outside: Sequence[Atom], inside: Sequence[Atom]) -> int:
        pairs = zip(outside, inside, strict=True)
        return sum(
            _jax_internals.aval_of(outer).shape == _jax_internals.aval_of(inner).shape
            for outer, inner in pairs
        )

    carried = same(equation.outvars, body.outvars)
    return same(equation.invars, body.invars) - carried, carried


def _same_arity(jaxpr: Jaxpr, equation: JaxprEqn) -> bool:
    return len(jaxpr.invars) == len(equation.invars) and len(jaxpr.outvars) == len(equation.outvars)


def _axes(equation: JaxprEqn) -> set[Hashable]:
    axes = equation.params.get("axes", equation.params.get("axis_name", ()))
    return set(axes) if isinstance(axes, (tuple, list)) else {axes}


def _inner(equation: JaxprEqn) -> list[Jaxpr]:
    return list(map(opened, programs_in(equation.params)))


def every_equation(jaxpr: Jaxpr) -> Iterator[JaxprEqn]:
    """Lists the operations of a program and of those within it."""
    for equation in jaxpr.eqns:
        yield equation
        for inner in _inner(equation):
            yield from every_equation(inner)


def _collectives(jaxpr: Jaxpr) -> Iterator[JaxprEqn]:
    return (one for one in every_equation(jaxpr) if one.primitive.name in _COLLECTIVES)
