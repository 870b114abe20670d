"""Programs that look up rows of large tables, rewritten to take these rows in place of the tables.

A *table* is an input of a program that is large, lives elsewhere, and is used for nothing but looking up some of its
rows. The rewritten program takes the rows that each *lookup* needs, and says which ones these are in a program of its
own, that runs first. Where it computes a gradient of a table, or something else that is zero in most rows, it gives
the other rows and their numbers, `AddedRows`, so that no array of the table's size is made.

What the pass does not know is left as it is: a table that is used in any other way is no table, and a value that
cannot be kept sparse becomes dense.
"""

import dataclasses
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.core import Tracer
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var, jaxpr_as_fun
from jax.lax import GatherScatterMode

from spmd._jax_internals import aval_of, has_side_effects

# Calls of other programs, and the parameter that holds the program.
CALLS: Mapping[str, str] = {
    "jit": "jaxpr",
    "pjit": "jaxpr",
    "closed_call": "call_jaxpr",
    "core_call": "call_jaxpr",
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
    "custom_vjp_call_jaxpr": "fun_jaxpr",
}
# Here also those of one replica, whose blocks are the whole arrays.
_CALLS: Mapping[str, str] = {**CALLS, "shard_map": "jaxpr"}
# These stay calls if no table concerns them; the others JAX cannot make anew of a traced one.
_ALWAYS_OPENED = _CALLS.keys() - {"jit", "pjit", "closed_call"}
# Elementwise operations of one operand, which work on rows as on the whole, and keep zeros.
_OF_A_TABLE = frozenset({"convert_element_type", "copy", "copy_p", "reduce_precision"})
_OF_SPARSE_ROWS = _OF_A_TABLE | {"neg"}


@dataclasses.dataclass(frozen=True)
class Lookup:
    """Rows that a program needs.

    Attributes:
        table: number of the table among the program's inputs.
        table_shape: shape of the table.
        shape: of the rows, that of the indices first.
        dtype: of the table.
        fill: what stands for rows that the table does not have; None if the nearest row does.
    """

    table: int
    table_shape: tuple[int, ...]
    shape: tuple[int, ...]
    dtype: Any
    fill: float | None

    @property
    def count(self) -> int:
        """How many rows it needs."""
        return math.prod(self.shape[: len(self.shape) - len(self.table_shape) + 1])


@dataclasses.dataclass(frozen=True, eq=False)
class RowProgram:
    """A program that takes rows in place of tables.

    Attributes:
        lookups: the rows that it takes.
        sparse: which of its outputs are given as rows, and so are two: the numbers of the rows, shape (n,), and their
            values, shape (n, ...). A row may occur several times, and its values add up; numbers of rows that the
            array does not have are to be ignored.
    """

    lookups: Sequence[Lookup]
    sparse: Collection[int]
    _traced: ClosedJaxpr
    _outputs: int

    def lowered(self, lower: Callable[[ClosedJaxpr], ClosedJaxpr]) -> "RowProgram":
        """Returns the program as a pass over it leaves it."""
        return dataclasses.replace(self, _traced=lower(self._traced))

    def run(self, inputs: Sequence[Any], rows: Sequence[Any]) -> Sequence[Any]:
        """Computes the outputs.

        Args:
            inputs: of the program as it was; what it has for tables is not used.
            rows: of the lookups.
        """
        return jaxpr_as_fun(self._traced)(*inputs, *rows)[: self._outputs]

    def find(self, inputs: Sequence[Any]) -> Sequence[jax.Array]:
        """Computes which rows the lookups need, one array of numbers for each."""
        # None of these matters: see `with_rows`.
        rows = [jnp.zeros(one.shape, one.dtype) for one in self.lookups]
        jaxpr = self._traced.jaxpr
        found = jaxpr.outvars[self._outputs :]
        equations, _ = live_equations(jaxpr.eqns, found, effects=False)  # `run` has the effects
        return jaxpr_as_fun(
            self._traced.replace(
                jaxpr=jaxpr.replace(
                    eqns=[equation for equation, _ in equations],
                    outvars=found,
                    effects=frozenset(),
                    debug_info=jaxpr.debug_info.with_unknown_names(),
                )
            )
        )(*inputs, *rows)

    def used(self) -> tuple[set[int], set[int]]:
        """Tells which inputs `run` needs, and which `find` does."""
        outputs = self._traced.jaxpr.outvars
        count = len(self._traced.jaxpr.invars) - len(self.lookups)
        inputs = self._traced.jaxpr.invars[:count]
        both: list[set[int]] = []
        for some, effects in ((outputs[: self._outputs], True), (outputs[self._outputs :], False)):
            _, used = live_equations(self._traced.jaxpr.eqns, some, effects=effects)
            both.append({number for number, one in enumerate(inputs) if one in used})
        return both[0], both[1]


def find_tables(
    jaxpr: Jaxpr, candidates: Collection[int], wanted: Sequence[int]
) -> dict[int, list[Lookup]]:
    """Finds inputs of which a program needs rows at most.

    Args:
        jaxpr: the program, of one replica.
        candidates: numbers of the inputs that may be tables.
        wanted: numbers of the outputs that matter.

    Returns:
        The tables, each with its lookups.

    Examples:
        >>> import jax, jax.numpy as jnp
        >>> program = jax.make_jaxpr(lambda table, i: jnp.take(table, i, axis=0) * 2)
        >>> traced = program(jnp.zeros((9, 4)), jnp.zeros(3, jnp.int32))
        >>> [lookup.shape for lookup in find_tables(traced.jaxpr, [0], [0])[0]]
        [(3, 4)]
    """
    may_be = {number for number in candidates if _may_be_table(jaxpr.invars[number])}
    search = _Search(jaxpr, may_be)
    known = {jaxpr.invars[number]: number for number in search.tables}
    for table in search.walk(jaxpr, known, wanted).values():
        search.tables.discard(table)
    return {
        table: [lookup for lookup in search.lookups if lookup.table == table]
        for table in search.tables
    }


def with_rows(
    closed: ClosedJaxpr,
    tables: Collection[int],
    wanted: Sequence[int],
    sparse: Collection[int],
    axes: Sequence[tuple[str, int]],
) -> RowProgram | None:
    """Rewrites a program to take rows in place of tables.

    Args:
        closed: the program, of one replica; a call of `jax.shard_map` in it is opened.
        tables: numbers of its inputs that `find_tables` found.
        wanted: numbers of the outputs that the new program gives, in their order.
        sparse: those of them that may be given as rows.
        axes: name and size of the axes of the mesh, which the new program may use.

    Returns:
        The program; None if the numbers of some rows depend on other rows, or on what may be called only once.
    """
    jaxpr, outputs, found = closed.jaxpr, 0, set[int]()
    search = _Search(jaxpr, set(tables))
    search.walk(jaxpr, {jaxpr.invars[number]: number for number in tables}, wanted)
    lookups = search.lookups

    def run(inputs: Sequence[Any], rows: Sequence[Any]) -> list[Any]:
        nonlocal outputs
        shapes = {aval_of(jaxpr.invars[table]).shape for table in tables}
        evaluation = _Evaluation(rows, shapes)
        operands = [
            _Table(aval_of(jaxpr.invars[number]).shape[0]) if number in tables else value
            for number, value in enumerate(inputs)
        ]
        results = evaluation.run(jaxpr, closed.consts, operands, wanted)
        flat: list[Any] = []
        for number in wanted:
            value = results[number]
            if isinstance(value, _Sparse) and number in sparse:
                found.add(number)
                flat += value.merged()
            else:
                flat.append(_dense(value))
        outputs = len(flat)
        return flat + evaluation.indices

    avals = [jax.ShapeDtypeStruct(aval_of(v).shape, aval_of(v).dtype) for v in jaxpr.invars]
    rows = [jax.ShapeDtypeStruct(one.shape, one.dtype) for one in lookups]
    traced = jax.make_jaxpr(run, axis_env=list(axes))(avals, rows)
    equations, needed = live_equations(
        traced.jaxpr.eqns, traced.jaxpr.outvars[outputs:], effects=False
    )
    if any(has_side_effects(equation) for equation, _ in equations) or any(
        variable in needed for variable in traced.jaxpr.invars[len(avals) :]
    ):
        return None
    return RowProgram(lookups, frozenset(found), traced, outputs)


def differentiable_by_rows(closed: ClosedJaxpr) -> RowProgram | None:
    """Rewrites a program to take rows in place of its tables, so that it can be differentiated by the rows.

    Args:
        closed: a program of a few operations, which may be traced for this.

    Returns:
        The program; None if it has no tables, or calls functions that have a derivative of their own.

    Examples:
        >>> import jax, jax.numpy as jnp
        >>> closed = jax.make_jaxpr(lambda table, i: table[i] * 2)(
        ...     jnp.ones((9, 4)), jnp.array([3, 3])
        ... )
        >>> program = differentiable_by_rows(closed)
        >>> [find.tolist() for find in program.find([None, jnp.array([3, 5])])]
        [[3, 5]]
    """
    if not _looks_up(closed.jaxpr):
        return None
    wanted = range(len(closed.jaxpr.outvars))
    found = find_tables(closed.jaxpr, range(len(closed.jaxpr.invars)), wanted)
    tables = [table for table, lookups in found.items() if lookups]
    return with_rows(closed, tables, wanted, (), ()) if tables else None


def _looks_up(jaxpr: Jaxpr) -> bool:
    """Tells whether a program has lookups, and calls none but compiled functions."""
    found = False
    for equation in jaxpr.eqns:
        found |= _is_row_lookup(equation)
        if equation.primitive.name in CALLS:
            if equation.primitive.name in _ALWAYS_OPENED:
                return False
            found |= _looks_up(called_program(equation)[0])
    return found


class _Search:
    """Looks at all uses of tables; one that is used in another way is none any more."""

    def __init__(self, jaxpr: Jaxpr, tables: set[int]) -> None:
        self.tables = tables
        self.lookups: list[Lookup] = []
        self._avals = {number: aval_of(jaxpr.invars[number]) for number in tables}

    def walk(self, jaxpr: Jaxpr, known: dict[Var, int], wanted: Sequence[int]) -> dict[int, int]:
        """Looks at a program.

        Args:
            jaxpr: the program.
            known: tables, by the variable that holds them.
            wanted: numbers of the outputs that matter.

        Returns:
            Tables among these outputs, by the number of the output.
        """

        def table_of(atom: Var | Literal) -> int | None:
            return None if isinstance(atom, Literal) else known.get(atom)

        equations, _ = live_equations(jaxpr.eqns, [jaxpr.outvars[number] for number in wanted])
        for equation, outputs in equations:
            tables = list(map(table_of, equation.invars))
            if all(table is None for table in tables):
                continue
            if equation.primitive.name in _CALLS:
                inner, _ = called_program(equation)
                own = {
                    variable: table
                    for variable, table in zip(inner.invars, tables, strict=True)
                    if table is not None
                }
                for number, table in self.walk(inner, own, outputs).items():
                    known[equation.outvars[number]] = table
            elif equation.primitive.name in _OF_A_TABLE and _may_be_table(equation.outvars[0]):
                assert tables[0] is not None
                known[equation.outvars[0]] = tables[0]
            elif tables[0] is not None and _is_row_lookup(equation):
                self.lookups.append(_lookup(equation, tables[0], self._avals[tables[0]]))
            else:
                self.tables.difference_update(table for table in tables if table is not None)
        found = {number: table_of(jaxpr.outvars[number]) for number in wanted}
        return {number: table for number, table in found.items() if table is not None}


@dataclasses.dataclass(frozen=True)
class _Table:
    """Stands for a table.

    Attributes:
        size: how many rows it has.
        operations: what was done to it, and is to be done to its rows.
    """

    size: int
    operations: tuple[JaxprEqn, ...] = ()


@dataclasses.dataclass(frozen=True)
class _Splat:
    """Stands for an array of one value everywhere.

    Attributes:
        value: array without axes.
        shape: of the array.
    """

    value: Any
    shape: tuple[int, ...]


class AddedRows(NamedTuple):
    """Rows of an array that is zero elsewhere; a row may occur several times, and its values add up.

    Attributes:
        indices: numbers of the rows, of `_numbers`, shape (n,); those that the array does not have are ignored.
        values: of these rows, shape (n, ...).
    """

    indices: Any
    values: Any


@dataclasses.dataclass(frozen=True)
class _Sparse:
    """Stands for an array that is a sum of rows.

    Attributes:
        parts: the rows.
        shape: of the array.
        dtype: of its elements.
    """

    parts: tuple[AddedRows, ...]
    shape: tuple[int, ...]
    dtype: Any

    def merged(self) -> AddedRows:
        """Puts all parts into one."""
        indices = [part.indices for part in self.parts] or [jnp.zeros(0, jnp.int32)]
        empty = jnp.zeros((0, *self.shape[1:]), self.dtype)
        return AddedRows(
            jnp.concatenate(indices),
            jnp.concatenate([part.values for part in self.parts] or [empty]),
        )


class _Evaluation:
    """One run through a program, traced by JAX, with tables and sparse arrays as objects of their own.

    Attributes:
        indices: numbers of the rows of each lookup so far.
    """

    def __init__(self, rows: Sequence[Any], shapes: set[tuple[int, ...]]) -> None:
        self._rows, self._shapes = rows, shapes
        self.indices: list[Any] = []

    def run(
        self, jaxpr: Jaxpr, consts: Sequence[Any], inputs: Sequence[Any], wanted: Sequence[int]
    ) -> dict[int, Any]:
        """Evaluates a program; returns the outputs that are wanted, by their number."""
        values: dict[Var, Any] = dict(zip(jaxpr.constvars, consts, strict=True))
        values.update(zip(jaxpr.invars, inputs, strict=True))

        def read(atom: Var | Literal) -> Any:
            return atom.val if isinstance(atom, Literal) else values[atom]

        equations, _ = live_equations(jaxpr.eqns, [jaxpr.outvars[number] for number in wanted])
        for equation, outputs in equations:
            operands = list(map(read, equation.invars))
            if equation.primitive.name in _CALLS and self._concerns(equation, operands):
                inner, constants = called_program(equation)
                for number, value in self.run(inner, constants, operands, outputs).items():
                    values[equation.outvars[number]] = value
            else:
                values.update(zip(equation.outvars, self._operate(equation, operands), strict=True))
        return {number: read(jaxpr.outvars[number]) for number in wanted}

    def _concerns(self, equation: JaxprEqn, operands: Sequence[Any]) -> bool:
        """Tells whether a program that is called may meet a table, or what is like one."""
        return (
            equation.primitive.name in _ALWAYS_OPENED
            or any(isinstance(one, (_Table, _Splat, _Sparse)) for one in operands)
            or any(self._is_like_table(variable) for variable in equation.outvars)
        )

    def _is_like_table(self, variable: Var) -> bool:
        return aval_of(variable).shape in self._shapes

    def _operate(self, equation: JaxprEqn, operands: Sequence[Any]) -> Sequence[Any]:
        name = equation.primitive.name
        first: Any = operands[0] if operands else None
        if isinstance(first, _Table):
            if name in _OF_A_TABLE:
                return [_Table(first.size, (*first.operations, equation))]
            return [self._look_up(first, operands[1])]
        is_splat = name == "broadcast_in_dim" and jnp.ndim(first) == 0
        if is_splat and self._is_like_table(equation.outvars[0]):
            return [_Splat(first, aval_of(equation.outvars[0]).shape)]
        if any(isinstance(one, (_Sparse, _Splat)) for one in operands):
            result = self._of_sparse(equation, operands)
            if result is not None:
                return [result]
        out = equation.primitive.bind(*map(_dense, operands), **equation.params)
        return out if equation.primitive.multiple_results else [out]

    def _look_up(self, table: _Table, indices: Any) -> Any:
        rows = self._rows[len(self.indices)]
        self.indices.append(_numbers(indices, table.size))
        for equation in table.operations:
            rows = equation.primitive.bind(rows, **equation.params)
        return rows

    def _of_sparse(self, equation: JaxprEqn, operands: Sequence[Any]) -> _Sparse | _Splat | None:
        """Does an operation on sparse arrays; None if the result is dense."""
        name, first = equation.primitive.name, operands[0]
        aval = aval_of(equation.outvars[0])

        def sparse(parts: Sequence[AddedRows]) -> _Sparse:
            return _Sparse(tuple(parts), aval.shape, aval.dtype)

        def each(operate: Any, parts: Sequence[AddedRows]) -> _Sparse:
            return sparse([AddedRows(one.indices, operate(one.values)) for one in parts])

        def bind(*values: Any) -> Any:
            return equation.primitive.bind(*values, **equation.params)

        if name in _OF_SPARSE_ROWS:
            if isinstance(first, _Splat):
                return _Splat(bind(first.value), first.shape)
            if isinstance(first, _Sparse):
                return each(bind, first.parts)
        if name == "scatter-add" and is_row_scatter(equation):
            parts = _parts(first)
            return (
                None if parts is None else sparse([*parts, scattered_rows(equation, *operands[1:])])
            )
        if name in ("add", "add_any", "sub"):
            left, right = map(_parts, operands)
            if left is not None and right is not None:
                if name == "sub":
                    right = each(jnp.negative, right).parts
                return sparse([*left, *right])
        if name == "slice" and isinstance(first, _Sparse) and _is_of_rows(equation):
            start, stop = equation.params["start_indices"][0], equation.params["limit_indices"][0]
            return sparse([_moved(one, (start, stop), 0, stop - start) for one in first.parts])
        if name == "concatenate" and equation.params["dimension"] == 0:
            found, end = list[AddedRows](), 0
            for operand, variable in zip(operands, equation.invars, strict=True):
                parts, start, count = _parts(operand), end, aval_of(variable).shape[0]
                if parts is None:
                    return None
                found += [_moved(one, (0, count), start, aval.shape[0]) for one in parts]
                end += count
            return sparse(found)
        if name in ("mul", "div"):
            left, right = operands
            if name == "mul" and isinstance(right, _Sparse):
                left, right = right, left
            scale = right.value if isinstance(right, _Splat) else right
            if (
                isinstance(left, _Sparse)
                and not isinstance(scale, _Sparse)
                and jnp.ndim(scale) == 0
            ):
                # What is NaN or infinite leaves rows without a gradient alone, as with TensorFlow's IndexedSlices.
                return each(lambda values: bind(values, jnp.full_like(values, scale)), left.parts)
        return None


def _parts(value: Any) -> tuple[AddedRows, ...] | None:
    """Returns the rows whose sum a value is; None if it is not made of some."""
    if isinstance(value, _Sparse):
        return value.parts
    return () if isinstance(value, _Splat) and _is_zero(value.value) else None


def _is_zero(value: Any) -> bool:
    return not isinstance(value, Tracer) and not value


def _dense(value: Any) -> Any:
    if isinstance(value, _Splat):
        return jnp.full(value.shape, value.value)
    if isinstance(value, _Sparse):
        rows = value.merged()
        zeros = jnp.zeros(value.shape, value.dtype)
        return zeros.at[_outside_if_negative(rows.indices, value.shape[0])].add(
            rows.values, mode="drop"
        )
    return value


def _outside_if_negative(indices: Any, size: int) -> Any:
    """Keeps negative numbers from counting from the end, as they do in JAX."""
    return jnp.where(indices < 0, size, indices)


def _number_type(size: int) -> Any:
    """Returns the type of the numbers of rows of an array of a size."""
    return jnp.dtype(jnp.int32 if size <= jnp.iinfo(jnp.int32).max else jnp.int64)


def _numbers(indices: Any, size: int) -> Any:
    """Returns numbers of rows in the type that they have for a size; those that do not exist stay outside."""
    dtype, own = _number_type(size), jnp.iinfo(indices.dtype)
    numbers = indices[..., 0]
    # A cast alone would make numbers of rows of some that are too large.
    if own.max > jnp.iinfo(dtype).max:
        numbers = jnp.minimum(numbers, size)
    if own.min < jnp.iinfo(dtype).min:
        numbers = jnp.maximum(numbers, -1)
    return numbers.astype(dtype)


def _moved(rows: AddedRows, of: tuple[int, int], to: int, size: int) -> AddedRows:
    """Moves rows into an array of another size: those of a range, which are to begin at some row there."""
    start, stop = of
    exists = (rows.indices >= start) & (rows.indices < stop)
    dtype = _number_type(size)
    numbers = (rows.indices - start).astype(dtype) + to
    return AddedRows(jnp.where(exists, numbers, size).astype(dtype), rows.values)


def _is_of_rows(equation: JaxprEqn) -> bool:
    """Tells whether a slice takes whole rows that follow each other."""
    shape, result = aval_of(equation.invars[0]).shape, aval_of(equation.outvars[0]).shape
    return not equation.params["strides"] and shape[1:] == result[1:]


def scattered_rows(equation: JaxprEqn, indices: Any, values: Any) -> AddedRows:
    """Returns the rows that an operation of `is_row_scatter` adds, of its operands."""
    shape = aval_of(equation.outvars[0]).shape
    indices = _numbers(indices, shape[0]).reshape(-1)
    if equation.params["mode"] == GatherScatterMode.CLIP:
        indices = jnp.clip(indices, 0, shape[0] - 1)
    return AddedRows(indices, values.reshape(-1, *shape[1:]))


def _may_be_table(variable: Var) -> bool:
    aval = aval_of(variable)
    largest = jnp.iinfo(jax.dtypes.canonicalize_dtype(jnp.int64)).max
    return (
        len(aval.shape) > 1
        and jnp.issubdtype(aval.dtype, jnp.floating)
        and aval.shape[0] <= largest
    )


def _is_row_lookup(equation: JaxprEqn) -> bool:
    """Tells whether an operation takes whole rows of its first operand."""
    if equation.primitive.name != "gather":
        return False
    numbers, shape = equation.params["dimension_numbers"], aval_of(equation.invars[0]).shape
    count = len(aval_of(equation.invars[1]).shape) - 1
    return (
        numbers.collapsed_slice_dims == numbers.start_index_map == (0,)
        and not numbers.operand_batching_dims
        and numbers.offset_dims == tuple(range(count, count + len(shape) - 1))
        and equation.params["slice_sizes"] == (1, *shape[1:])
    )


def is_row_scatter(equation: JaxprEqn) -> bool:
    """Tells whether an operation adds whole rows to its first operand."""
    numbers = equation.params["dimension_numbers"]
    shape, count = aval_of(equation.invars[0]).shape, len(aval_of(equation.invars[1]).shape) - 1
    return (
        numbers.inserted_window_dims == numbers.scatter_dims_to_operand_dims == (0,)
        and not numbers.operand_batching_dims
        and numbers.update_window_dims == tuple(range(count, count + len(shape) - 1))
        and aval_of(equation.invars[2]).shape[count:] == shape[1:]
    )


def _lookup(equation: JaxprEqn, table: int, whole: Any) -> Lookup:
    fill = equation.params["fill_value"]
    fills = equation.params["mode"] == GatherScatterMode.FILL_OR_DROP
    fill = (math.nan if fill is None else float(fill)) if fills else None
    return Lookup(table, whole.shape, aval_of(equation.outvars[0]).shape, whole.dtype, fill)


def called_program(equation: JaxprEqn) -> tuple[Jaxpr, Sequence[Any]]:
    """Returns the program that an operation calls, and its constants."""
    program = equation.params[_CALLS[equation.primitive.name]]
    return (program, ()) if isinstance(program, Jaxpr) else (program.jaxpr, program.consts)


def live_equations(
    program: Sequence[JaxprEqn], outputs: Sequence[Var | Literal], *, effects: bool = True
) -> tuple[list[tuple[JaxprEqn, list[int]]], set[Var]]:
    """Finds the operations that some outputs need.

    Args:
        program: its operations.
        outputs: some of its outputs.
        effects: whether operations with side effects count as needed in any case.

    Returns:
        The operations, in their order, each with the numbers of its results that are needed; and all variables that
        are needed.
    """
    needed = {atom for atom in outputs if not isinstance(atom, Literal)}
    found: list[tuple[JaxprEqn, list[int]]] = []
    for equation in reversed(program):
        used = [number for number, one in enumerate(equation.outvars) if one in needed]
        if used or (effects and has_side_effects(equation)):
            found.append((equation, used))
            needed |= {atom for atom in equation.invars if not isinstance(atom, Literal)}
    return found[::-1], needed
