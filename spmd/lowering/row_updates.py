"""Updates of large arrays that change few rows, computed for these rows alone.

The gradient of a lookup in a table is an array of zeros to which rows are added. What plain descent and Adagrad compute
of it leaves a row without a gradient as it was, but goes through the whole table and what the optimizer keeps beside it.
The pass follows such a gradient through operations that work on each element by itself. Beside each result it computes
the rows that have a gradient, and knows what the other rows hold: zeros, another array as it is, or something else. A
result whose other rows are another array's becomes that array with some rows replaced, which is done in place where
the array is not needed any more. What needed the whole gradient is dropped where nothing else asks for it; where
something does, as the moments of Adam do, the program stays as it was.
"""

import dataclasses
import enum
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var

from spmd._jax_internals import aval_of, has_side_effects
from spmd.lowering.elementwise import ELEMENTWISE
from spmd.lowering.row_access import (
    CALLS,
    called_program,
    is_row_scatter,
    live_equations,
    scattered_rows,
)
from spmd.lowering.substitution import Atom

# Elements of a table: with fewer, going through all of it takes no longer than finding the rows.
_MIN_ELEMENTS = 2**20

# Rows of a table for each row that is added to it, at least.
_MIN_RATIO = 4

_KEEP_ZEROS = frozenset(
    [
        "abs",
        "cbrt",
        "convert_element_type",
        "copy",
        "copy_p",
        "expm1",
        "log1p",
        "neg",
        "reduce_precision",
        "sign",
        "sqrt",
        "square",
        "tanh",
    ]
)
# Operations of a function that is called; optimizers call small ones.
_MAX_CALLED = 100
_SHARDINGS = ("sharding", "out_sharding")
_SUMS = frozenset({"psum", "psum_invariant"})


class _Rest(enum.Enum):
    """What rows without a gradient hold, unless that is another array."""

    ZEROS = enum.auto()
    OTHER = enum.auto()


@dataclasses.dataclass(frozen=True, eq=False)
class _Added:
    """Stands for zeros to which rows are added; a row may occur several times.

    Attributes:
        parts: numbers of rows, and rows.
    """

    parts: tuple[tuple[Atom, Atom], ...]

    @property
    def count(self) -> int:
        """Says how many rows are added."""
        return sum(aval_of(numbers).shape[0] for numbers, _ in self.parts)


@dataclasses.dataclass(frozen=True, eq=False)
class _Changed:
    """Stands for an array of which some rows are known.

    Attributes:
        numbers: of these rows, in order, each once; those that the array does not have stand behind the last one.
        rows: at these numbers; zeros behind the last one, if the rest is zeros.
        rest: what the other rows hold; a variable is an array of the same shape that holds the same there.
    """

    numbers: Var
    rows: Var
    rest: _Rest | Var


_Known: TypeAlias = _Added | _Changed


def with_row_updates(program: ClosedJaxpr) -> ClosedJaxpr:
    """Makes a program change only the rows of large arrays that a gradient changes.

    Results are the same but for the order of sums, as long as all numbers are finite: a factor that is not leaves rows without a
    gradient alone, as it does with TensorFlow's `IndexedSlices`.

    Args:
        program: a traced program.

    Returns:
        A program with the same inputs and outputs.

    Examples:
        >>> def descend(table, numbers):
        ...     loss, gradient = jax.value_and_grad(lambda table: table[numbers].sum())(table)
        ...     return table - 0.1 * gradient
        >>> table, numbers = jnp.ones((40_000, 32)), jnp.array([1, 3])
        >>> program = jax.make_jaxpr(descend)(table, numbers)
        >>> program.eqns[-1].primitive.name
        'sub'
        >>> with_row_updates(program).eqns[-1].params["name"]
        'replace_rows'
    """
    jaxpr = _rewritten(program.jaxpr, {})
    return program if jaxpr is program.jaxpr else program.replace(jaxpr=jaxpr)


def _rewritten(jaxpr: Jaxpr, axes: dict[str, int]) -> Jaxpr:
    """Rewrites a program and the bodies of its loops."""
    equations = [_opened(equation, axes) for equation in jaxpr.eqns]
    if any(ours is not theirs for ours, theirs in zip(equations, jaxpr.eqns, strict=True)):
        jaxpr = jaxpr.replace(eqns=equations)
    refused: set[tuple[Var, ...]] = set()
    while _has_source(jaxpr):
        rewrite = _Rewrite(jaxpr, axes, refused)
        rewrite.run()
        if not rewrite.changed:
            return jaxpr
        found, needed = live_equations(rewrite.equations, rewrite.outputs)
        still_needed = {path for path in rewrite.sources if path[0] in needed}
        if not still_needed:
            return jaxpr.replace(
                eqns=[equation for equation, _ in found],
                outvars=rewrite.outputs,
                debug_info=jaxpr.debug_info.with_unknown_names(),
            )
        refused |= still_needed
    return jaxpr


def _opened(equation: JaxprEqn, axes: dict[str, int]) -> JaxprEqn:
    name, params = equation.primitive.name, equation.params
    if name == "scan":
        body = params["jaxpr"]
        inner = _rewritten(body.jaxpr, axes)
        return equation if inner is body.jaxpr else _with(equation, body.replace(jaxpr=inner))
    if name == "shard_map" and not params["check_vma"]:
        inner = _rewritten(params["jaxpr"], axes | dict(params["mesh"].shape))
        return equation if inner is params["jaxpr"] else _with(equation, inner)
    return equation


def _with(equation: JaxprEqn, body: ClosedJaxpr | Jaxpr) -> JaxprEqn:
    return equation.replace(params={**equation.params, "jaxpr": body})


class _Scope:
    """What is known while one program is read, that of a call or the outermost one.

    Attributes:
        path: variables of the calls that it stands in.
        atoms: what stands for its variables now.
        known: of arrays made of gradients.
        fills: the one number that an array holds everywhere.
    """

    def __init__(self, path: tuple[Var, ...]) -> None:
        self.path = path
        self.atoms: dict[Var, Atom] = {}
        self.known: dict[Var, _Known] = {}
        self.fills: dict[Var, Atom] = {}

    def now(self, atom: Atom) -> Atom:
        """Returns what stands for a variable now."""
        return atom if isinstance(atom, Literal) else self.atoms.get(atom, atom)

    def known_of(self, atom: Atom) -> _Known | None:
        """Returns what is known of an array."""
        return None if isinstance(atom, Literal) else self.known.get(atom)

    def fill_of(self, atom: Atom) -> Atom | None:
        """Returns the number that an array holds everywhere."""
        return None if isinstance(atom, Literal) else self.fills.get(atom)


class _Rewrite:
    """One pass over a program: adds operations on rows to it, and puts their results in the place of others.

    Attributes:
        equations: those of the program, and those added.
        outputs: of the program now.
        sources: where gradients that are followed come from, as paths of variables through calls.
        changed: whether something was replaced.
    """

    def __init__(self, jaxpr: Jaxpr, axes: dict[str, int], refused: set[tuple[Var, ...]]) -> None:
        self._jaxpr, self._axes, self._refused = jaxpr, axes, refused
        self.equations: list[JaxprEqn] = []
        self.outputs: list[Atom] = []
        self.sources: set[tuple[Var, ...]] = set()
        self.changed = False
        self._merges: dict[_Added, _Changed] = {}

    def run(self) -> None:
        """Does the pass."""
        scope = _Scope(())
        for equation in self._jaxpr.eqns:
            operands = [scope.now(atom) for atom in equation.invars]
            self.equations.append(equation.replace(invars=operands))
            self._follow(scope, equation)
        self.outputs = [scope.now(atom) for atom in self._jaxpr.outvars]

    def _follow(self, scope: _Scope, equation: JaxprEqn) -> None:
        """Finds out what an operation of a program makes of arrays that are known."""
        name, out = equation.primitive.name, equation.outvars
        known = [scope.known_of(atom) for atom in equation.invars]
        if name in CALLS:
            if any(known) or _has_source(called_program(equation)[0]):
                self._open(scope, equation)
        elif name == "broadcast_in_dim" and not aval_of(equation.invars[0]).shape:
            scope.fills[out[0]] = scope.now(equation.invars[0])
        elif name == "scatter-add":
            self._scatter(scope, equation)
        elif not any(known):
            return
        elif name in _SUMS and equation.params["axis_index_groups"] is None:
            self._sum_over_replicas(scope, equation)
        elif name in ("add", "add_any") and all(isinstance(one, _Added) for one in known):
            scope.known[out[0]] = _Added(
                tuple(part for one in known if isinstance(one, _Added) for part in one.parts)
            )
        elif name == "reduce_sum" and 0 in equation.params["axes"]:
            self._sum(scope, equation)
        elif name in ELEMENTWISE and _can_be_bound(equation):
            self._each(scope, equation)

    def _open(self, scope: _Scope, equation: JaxprEqn) -> None:
        """Follows arrays through a function that is called; what it computes besides is computed once more."""
        jaxpr, constants = called_program(equation)
        if constants or len(jaxpr.eqns) > _MAX_CALLED or not all(map(_can_be_bound, jaxpr.eqns)):
            return
        inner = _Scope((*scope.path, equation.outvars[0]))
        for variable, atom in zip(jaxpr.invars, equation.invars, strict=True):
            inner.atoms[variable] = scope.now(atom)
            if (known := scope.known_of(atom)) is not None:
                inner.known[variable] = known
            if (fill := scope.fill_of(atom)) is not None:
                inner.fills[variable] = fill
        for called in jaxpr.eqns:
            operands = [inner.now(atom) for atom in called.invars]
            inner.atoms.update(
                zip(called.outvars, self._emit(_bound(called), *operands), strict=True)
            )
            self._follow(inner, called)
        for variable, atom in zip(equation.outvars, jaxpr.outvars, strict=True):
            if (known := inner.known_of(atom)) is not None:
                scope.known[variable] = known
                if isinstance(known, _Changed) and isinstance(known.rest, Var):
                    scope.atoms[variable] = inner.now(atom)
            if (fill := inner.fill_of(atom)) is not None:
                scope.fills[variable] = fill

    def _scatter(self, scope: _Scope, equation: JaxprEqn) -> None:
        """Begins with a gradient: rows added to zeros, or to another gradient."""
        base, numbers, rows = equation.invars
        known, out = scope.known_of(base), equation.outvars[0]
        path = (*scope.path, out)
        fill = scope.fill_of(base)
        is_zero = isinstance(fill, Literal) and not fill.val
        if not (is_zero or isinstance(known, _Added)) or not _may_be_source(equation):
            return
        if path in self._refused:
            return

        def added(numbers: jax.Array, rows: jax.Array) -> tuple[jax.Array, jax.Array]:
            found = scattered_rows(equation, numbers, rows)
            return found.indices, found.values

        part = self._emit(added, scope.now(numbers), scope.now(rows))
        parts = known.parts if isinstance(known, _Added) else ()
        self.sources.add(path)
        scope.known[out] = _Added((*parts, (part[0], part[1])))

    def _sum_over_replicas(self, scope: _Scope, equation: JaxprEqn) -> None:
        """Sends rows in place of gradients; all replicas get all of them, in the same order."""
        axes = tuple(equation.params["axes"])
        replicas = math.prod(self._axes.get(axis, 1) for axis in axes)
        if not all(axis in self._axes for axis in axes):
            return
        others: list[int] = []
        for number, (atom, out) in enumerate(zip(equation.invars, equation.outvars, strict=True)):
            known = scope.known_of(atom)
            if isinstance(known, _Changed) and known.rest is _Rest.ZEROS:
                known = _Added(((known.numbers, known.rows),))
            shape = aval_of(atom).shape
            if not isinstance(known, _Added) or not _pays(shape, known.count * replicas):
                others.append(number)
                continue

            def gathered(*parts: jax.Array) -> list[jax.Array]:
                return [jax.lax.all_gather(part, axes, tiled=True) for part in parts]

            flat = self._emit(gathered, *(one for part in known.parts for one in part))
            scope.known[out] = _Added(tuple(zip(flat[::2], flat[1::2], strict=True)))
        if others and len(others) < len(equation.invars):
            sums = self._emit(
                _bound(equation), *(scope.now(equation.invars[number]) for number in others)
            )
            scope.atoms.update(
                {equation.outvars[number]: one for number, one in zip(others, sums, strict=True)}
            )

    def _sum(self, scope: _Scope, equation: JaxprEqn) -> None:
        """Adds up the elements of an array whose other rows are zeros."""
        known = self._merged(scope, equation.invars[0])
        if known is not None and known.rest is _Rest.ZEROS:
            axes = equation.params["axes"]

            def total(rows: jax.Array) -> jax.Array:
                return jnp.sum(rows, axis=axes, dtype=rows.dtype)

            self._substitute(scope, equation, self._emit(total, known.rows)[0])

    def _each(self, scope: _Scope, equation: JaxprEqn) -> None:
        """Does an operation on each element to the rows alone."""
        shape, out = aval_of(equation.outvars[0]).shape, equation.outvars[0]
        merged = [self._merged(scope, atom) for atom in equation.invars]
        numbers = next(one for one in merged if one is not None).numbers
        operands: list[Atom] = [numbers]
        reads: list[Callable[[jax.Array, jax.Array], jax.Array]] = []
        rests: list[_Rest | Var] = []
        count = aval_of(numbers).shape[0]
        for atom, known in zip(equation.invars, merged, strict=True):
            if known is not None:
                if known.numbers is not numbers:
                    return
                operands.append(known.rows)
                reads.append(_as_it_is)
                rests.append(known.rest)
            elif not aval_of(atom).shape:
                operands.append(scope.now(atom))
                reads.append(_as_it_is)
                rests.append(_Rest.OTHER)
            elif (fill := scope.fill_of(atom)) is not None:
                operands.append(fill)
                reads.append(_filled((count, *shape[1:])))
                is_zero = isinstance(fill, Literal) and not fill.val
                rests.append(_Rest.ZEROS if is_zero else _Rest.OTHER)
            elif aval_of(atom).shape == shape:
                now = scope.now(atom)
                assert isinstance(now, Var)
                operands.append(now)
                reads.append(_rows_at)
                rests.append(now)
            else:
                return

        def on_rows(numbers: jax.Array, *values: jax.Array) -> jax.Array:
            read = [one(value, numbers) for one, value in zip(reads, values, strict=True)]
            return _bound(equation)(*read)

        rows = self._emit(on_rows, *operands)[0]
        rest = _rest(equation, rests)
        scope.known[out] = _Changed(numbers, rows, rest)
        if isinstance(rest, Var):
            whole = self._emit(replace_rows, rest, numbers, rows)[0]
            self._substitute(scope, equation, whole)

    def _merged(self, scope: _Scope, atom: Atom) -> _Changed | None:
        """Returns what is known of an array, with each row once."""
        known = scope.known_of(atom)
        if not isinstance(known, _Added):
            return known
        if known not in self._merges:
            size = aval_of(atom).shape[0]

            def merged(*parts: jax.Array) -> tuple[jax.Array, jax.Array]:
                return _merge(size, parts)

            numbers, rows = self._emit(merged, *(one for part in known.parts for one in part))
            self._merges[known] = _Changed(numbers, rows, _Rest.ZEROS)
        return self._merges[known]

    def _substitute(self, scope: _Scope, equation: JaxprEqn, by: Var) -> None:
        scope.atoms[equation.outvars[0]] = by
        self.changed = True

    def _emit(self, function: Callable[..., Any], *operands: Atom) -> list[Var]:
        """Adds an operation; returns its results."""
        avals = [aval_of(operand) for operand in operands]
        kinds = [jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in avals]
        traced = jax.make_jaxpr(jax.jit(function), axis_env=list(self._axes.items()))(*kinds)
        (equation,) = traced.eqns
        self.equations.append(equation.replace(invars=list(operands)))
        return list(equation.outvars)


def replace_rows(whole: jax.Array, numbers: jax.Array, rows: jax.Array) -> jax.Array:
    """Replaces some rows of an array; numbers of rows that it does not have are ignored."""
    return whole.at[numbers].set(rows, mode="drop", indices_are_sorted=True, unique_indices=True)


def _has_source(jaxpr: Jaxpr) -> bool:
    return any(
        _may_be_source(equation)
        or (equation.primitive.name in CALLS and _has_source(called_program(equation)[0]))
        for equation in jaxpr.eqns
    )


def _can_be_bound(equation: JaxprEqn) -> bool:
    """Tells whether JAX can make an operation anew of one that it traced."""
    shardings = [equation.params.get(name) for name in _SHARDINGS]
    return (
        not has_side_effects(equation)
        and not equation.primitive.name.startswith("custom_")
        # Within `shard_map` they name its mesh, and split nothing.
        and all(one is None or all(part is None for part in one.spec) for one in shardings)
    )


def _may_be_source(equation: JaxprEqn) -> bool:
    if equation.primitive.name != "scatter-add" or not is_row_scatter(equation):
        return False
    numbers, shape = aval_of(equation.invars[1]).shape, aval_of(equation.outvars[0]).shape
    return jnp.issubdtype(aval_of(equation.outvars[0]).dtype, jnp.floating) and _pays(
        shape, math.prod(numbers[:-1])
    )


def _pays(shape: Sequence[int], count: int) -> bool:
    return math.prod(shape) >= _MIN_ELEMENTS and count * _MIN_RATIO <= shape[0]


def _rest(equation: JaxprEqn, operands: Sequence[_Rest | Var]) -> _Rest | Var:
    """Tells what an operation makes of rows that have no gradient."""
    name, first, last = equation.primitive.name, operands[0], operands[-1]
    zeros = [one is _Rest.ZEROS for one in operands]
    if all(zeros) and name in ("add", "add_any", "sub", "mul", "max", "min"):
        return _Rest.ZEROS
    if name in _KEEP_ZEROS and zeros[0]:
        return _Rest.ZEROS
    if name in ("copy", "copy_p"):
        return first
    if name == "convert_element_type" and (
        aval_of(equation.invars[0]).dtype == aval_of(equation.outvars[0]).dtype
    ):
        return first
    if name == "integer_pow" and zeros[0] and equation.params["y"] > 0:
        return _Rest.ZEROS
    if (name == "mul" and any(zeros)) or (name == "div" and zeros[0]):
        return _Rest.ZEROS
    if name in ("add", "add_any", "sub") and zeros[1]:
        return first
    if name in ("add", "add_any") and zeros[0]:
        return last
    if name == "select_n" and all(one is operands[1] for one in operands[2:]):
        return operands[1]
    return _Rest.OTHER


def _merge(size: int, parts: Sequence[jax.Array]) -> tuple[jax.Array, jax.Array]:
    """Adds up rows with the same number."""
    numbers, rows = jnp.concatenate(parts[::2]), jnp.concatenate(parts[1::2])
    numbers = jnp.where((numbers < 0) | (numbers > size), size, numbers)
    count = min(len(numbers), size + 1)
    # Not jnp.unique: JAX 0.12 makes operations of it that a program made by hand cannot hold.
    order = jnp.argsort(numbers)
    numbers = numbers[order]
    is_first = jnp.concatenate([jnp.ones(1, bool), numbers[1:] != numbers[:-1]])
    places = jnp.cumsum(is_first) - 1
    sums = jax.ops.segment_sum(rows[order], places, count, indices_are_sorted=True)
    numbers = jnp.full(count, size, numbers.dtype).at[places].set(numbers)
    exists = (numbers < size).reshape(-1, *[1] * (rows.ndim - 1))
    return numbers, jnp.where(exists, sums, 0)


def _as_it_is(value: jax.Array, numbers: jax.Array) -> jax.Array:
    del numbers
    return value


def _rows_at(value: jax.Array, numbers: jax.Array) -> jax.Array:
    return value.at[numbers].get(mode="clip")


def _filled(shape: tuple[int, ...]) -> Callable[[jax.Array, jax.Array], jax.Array]:
    def fill(value: jax.Array, numbers: jax.Array) -> jax.Array:
        del numbers
        return jnp.full(shape, value)

    return fill


def _bound(equation: JaxprEqn) -> Callable[..., Any]:
    params = {**equation.params, **{name: None for name in _SHARDINGS if name in equation.params}}

    def bind(*operands: jax.Array) -> Any:
        return equation.primitive.bind(*operands, **params)

    return bind
