"""What operations do with selected entries: a program of arrays is evaluated with its marks."""

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.extend.core import Jaxpr, JaxprEqn, Literal

from frontends.tf.selected.fitting import aligned, any_unfit, checked, merged, settled
from frontends.tf.selected.selection import (
    Marked,
    Selection,
    SelectionError,
    compacted,
    filled,
    unmarked,
)

_ENTRYWISE = frozenset(
    {
        *(
            "abs",
            "acos",
            "acosh",
            "add",
            "add_any",
            "and",
            "asin",
            "asinh",
            "atan",
            "atan2",
            "atanh",
        ),
        *("cbrt", "ceil", "clamp", "complex", "conj", "convert_element_type", "copy", "copy_p"),
        *("cos", "cosh", "digamma", "div", "eq", "erf", "erf_inv", "erfc", "exp", "exp2", "expm1"),
        *("floor", "ge", "gt", "imag", "integer_pow", "is_finite", "le", "lgamma", "log", "log1p"),
        *("logistic", "lt", "max", "min", "mul", "ne", "neg", "nextafter", "not", "or", "pow"),
        *("population_count", "real", "reduce_precision", "rem", "round", "rsqrt", "select_n"),
        *("shift_left", "shift_right_arithmetic", "shift_right_logical", "sign", "sin", "sinh"),
        *("sqrt", "square", "stop_gradient", "sub", "tan", "tanh", "xor", "igamma", "igammac"),
    }
)
# Of these, the derivative is finite wherever they are computed.
_PLAIN = frozenset(
    {
        *("add", "add_any", "and", "ceil", "clamp", "complex", "conj", "convert_element_type"),
        *("copy", "copy_p", "eq", "floor", "ge", "gt", "imag", "is_finite", "le", "lt", "max"),
        *("min", "ne", "neg", "not", "or", "real", "reduce_precision", "round", "select_n"),
        *("sign", "stop_gradient", "sub", "xor"),
    }
)
_INLINED = frozenset({"jit", "pjit", "closed_call", "core_call"})
_CALLS = _INLINED | {"remat", "checkpoint", "remat2"}
_CUSTOM = frozenset({"custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr"})


def evaluate(
    caller: str, program: Jaxpr, consts: Sequence[Marked], args: Sequence[Marked]
) -> list[Marked]:
    """Computes a program, and the marks of its results.

    Args:
        caller: what is called, for errors.
        program: of the arrays.
        consts: values of the program's constants.
        args: its arguments.

    Raises:
        SelectionError: an operation needs to know how many entries count.
    """
    values: dict[Any, Marked] = dict(zip(program.constvars, consts, strict=True))
    values.update(zip(program.invars, args, strict=True))

    def read(atom: Any) -> Marked:
        return unmarked(atom.val) if isinstance(atom, Literal) else values[atom]

    for equation in program.eqns:
        found = _apply(caller, equation, list(map(read, equation.invars)))
        values.update(zip(equation.outvars, found, strict=True))
    return list(map(read, program.outvars))


def _apply(caller: str, equation: JaxprEqn, inputs: list[Marked]) -> list[Marked]:
    name = equation.primitive.name
    if name not in _INLINED and not any(any(one.marks) for one in inputs):
        repeated = _repeated(equation, inputs)
        arrays = _bound(equation, [one.array for one in inputs])
        return [Marked(one, (None,) * jnp.ndim(one), repeated) for one in arrays]
    if name in _CALLS or name in _CUSTOM:
        inner = equation.params.get("jaxpr") or equation.params.get("call_jaxpr")
        if name in _CALLS or not _is_entrywise(inner):
            program: Any = getattr(inner, "jaxpr", inner)
            consts = list(map(unmarked, getattr(inner, "consts", ())))
            return evaluate(caller, program, consts, inputs)
    elif name not in _ENTRYWISE:
        rule = _RULES.get(name)
        if rule is None:
            raise SelectionError(f"{caller} ({name})")
        return rule(caller, equation, inputs)
    repeated = _repeated(equation, inputs)
    inputs, marks = merged(caller, inputs)
    if name in _PLAIN:
        arrays = [one.array for one in inputs]
    elif name in _CUSTOM:
        # Its program is of arrays of these shapes.
        arrays = [
            settled(name, [one], marks)[0] if len(one.marks) == len(marks) else one.array
            for one in inputs
        ]
    else:
        arrays = settled(name, inputs, marks)
    return [Marked(one, marks, repeated) for one in _bound(equation, arrays)]


def _repeated(equation: JaxprEqn, inputs: Sequence[Marked]) -> frozenset[int]:
    """Along which axes of the result all entries are the same, since operands of one entry were repeated."""
    name = equation.primitive.name
    if name == "broadcast_in_dim":
        value, *_ = inputs
        shape, targets = equation.params["shape"], equation.params["broadcast_dimensions"]
        own = {
            target
            for axis, target in enumerate(targets)
            if axis not in value.repeated and jnp.shape(value.array)[axis] == shape[target]
        }
        return frozenset(range(len(shape))) - own
    if name in _ENTRYWISE or name in _CUSTOM:
        rank = max(len(one.marks) for one in inputs)
        full = [one.repeated for one in inputs if len(one.marks) == rank]
        return frozenset.intersection(*full)
    return frozenset()


def _bound(equation: JaxprEqn, arrays: Sequence[Any]) -> list[Any]:
    found = equation.primitive.bind(*arrays, **equation.primitive.get_bind_params(equation.params))
    return list(found) if equation.primitive.multiple_results else [found]


def _single(
    equation: JaxprEqn, arrays: Sequence[Any], marks: tuple[Selection | None, ...]
) -> list[Marked]:
    (found,) = _bound(equation, arrays)
    return [Marked(found, marks)]


def _is_entrywise(program: Any) -> bool:
    """Tells whether a program computes each entry of its arguments alone."""
    for equation in getattr(program, "jaxpr", program).eqns:
        name = equation.primitive.name
        if name in _CALLS or name in _CUSTOM:
            inner = equation.params.get("jaxpr") or equation.params.get("call_jaxpr")
            if not _is_entrywise(inner):
                return False
        elif name not in _ENTRYWISE and not (
            name == "broadcast_in_dim" and not equation.invars[0].aval.shape
        ):
            return False
    return True


def _limits(dtype: np.dtype) -> tuple[Any, Any]:
    if np.issubdtype(dtype, np.bool_):
        return False, True
    if jnp.issubdtype(dtype, jnp.integer):
        return jnp.iinfo(dtype).min, jnp.iinfo(dtype).max
    return -jnp.inf, jnp.inf


def _neutral(name: str, dtype: np.dtype) -> Any:
    """What changes no result of a reduction."""
    kind = name.removeprefix("reduce_").removeprefix("cum").removeprefix("arg")
    if kind in ("max", "logsumexp"):
        return _limits(dtype)[0]
    if kind == "min":
        return _limits(dtype)[1]
    return {"sum": 0, "prod": 1, "and": True, "or": False, "xor": False}[kind]


def _reduce(caller: str, equation: JaxprEqn, inputs: list[Marked]) -> list[Marked]:
    name, axes = equation.primitive.name, equation.params["axes"]
    (value,) = inputs
    if name in ("argmax", "argmin"):
        for axis in axes:
            value = compacted(value, axis)
    (found,) = _bound(equation, [filled(value, _neutral(name, value.array.dtype))])
    marks = tuple(mark for axis, mark in enumerate(value.marks) if axis not in axes)
    return [Marked(checked(caller, found, [value.marks[axis] for axis in axes]), marks)]


def _cumulative(caller: str, equation: JaxprEqn, inputs: list[Marked]) -> list[Marked]:
    (value,) = inputs
    neutral = _neutral(equation.primitive.name, value.array.dtype)
    return _single(equation, [filled(value, neutral)], value.marks)


def _broadcast(caller: str, equation: JaxprEqn, inputs: list[Marked]) -> list[Marked]:
    value, *_ = inputs
    shape = equation.params["shape"]
    marks: list[Selection | None] = [None] * len(shape)
    for axis, target in enumerate(equation.params["broadcast_dimensions"]):
        mark = marks[target] = value.marks[axis]
        if mark is not None and shape[target] != mark.size:
            raise SelectionError(f"{caller}, which repeats along an axis that the mask chose from,")
    (found,) = _bound(equation, [value.array])
    return [Marked(found, tuple(marks), _repeated(equation, inputs))]


def _reshape(caller: str, equation: JaxprEqn, inputs: list[Marked]) -> list[Marked]:
    value, *_ = inputs
    old, new = value.array.shape, equation.params["new_sizes"]
    marks: list[Selection | None] = [None] * len(new)
    ends, new_ends = np.cumprod((1, *old)).tolist(), np.cumprod((1, *new)).tolist()
    for axis, mark in enumerate(value.marks):
        if mark is None:
            continue
        # The new axis that begins with this one or before it, and ends with it or behind it.
        for target, size in enumerate(new):
            begin, end = new_ends[target], new_ends[target + 1]
            if size == mark.size and begin == ends[axis]:
                marks[target] = mark
                break
            if begin <= ends[axis] and ends[axis + 1] <= end and end > begin:
                marks[target] = _of_several(caller, value, ends, begin, end)
                break
        else:
            raise SelectionError(f"{caller}, which divides an axis that the mask chose from,")
    return _single(equation, [value.array], tuple(marks))


def _of_several(caller: str, value: Marked, ends: Sequence[int], begin: int, end: int) -> Selection:
    """Describes the axis that several ones become."""
    axes = [a for a in range(len(value.marks)) if begin <= ends[a] and ends[a + 1] <= end]
    axes = [a for a in axes if value.array.shape[a] > 1 or value.marks[a] is not None]
    if np.prod([value.array.shape[a] for a in axes], dtype=int) * begin != end:
        raise SelectionError(f"{caller}, which divides an axis that the mask chose from,")
    valid = jnp.ones([1] * len(axes), bool)
    for place, axis in enumerate(axes):
        mark, shape = value.marks[axis], [1] * len(axes)
        shape[place] = value.array.shape[axis]
        own = jnp.ones(shape, bool) if mark is None else mark.valid.reshape(shape)
        valid = valid & own
    return Selection(valid.reshape(-1), unfit=any_unfit(value.marks[axis] for axis in axes))


def _squeeze(caller: str, equation: JaxprEqn, inputs: list[Marked]) -> list[Marked]:
    (value,), axes = inputs, equation.params["dimensions"]
    _check_free(caller, value, axes)
    marks = tuple(mark for axis, mark in enumerate(value.marks) if axis not in axes)
    return _single(equation, [value.array], marks)


def _transpose(caller: str, equation: JaxprEqn, inputs: list[Marked]) -> list[Marked]:
    (value,) = inputs
    marks = tuple(value.marks[axis] for axis in equation.params["permutation"])
    return _single(equation, [value.array], marks)


def _keeping(caller: str, equation: JaxprEqn, inputs: list[Marked]) -> list[Marked]:
    """Operations that leave the axes alone whose size stays: slices, padding, reversal and sorting of others."""
    value, params = inputs[0], equation.params
    reordered = (
        *params.get("dimensions", ()),
        *(params[key] for key in ("dimension", "axis") if key in params),
    )
    _check_free(caller, value, reordered)
    found = []
    for one in _bound(equation, [one.array for one in inputs]):
        for axis, mark in enumerate(value.marks):
            if mark is not None and one.shape[axis] != mark.size:
                raise SelectionError(
                    f"{caller}, which takes a part of an axis that the mask chose from,"
                )
        found.append(Marked(one, value.marks))
    return found


def _concatenate(caller: str, equation: JaxprEqn, inputs: list[Marked]) -> list[Marked]:
    along = equation.params["dimension"]
    own = [one.marks[along] for one in inputs]
    free = [Marked(one.array, _without(one.marks, along)) for one in inputs]
    arrays, marks = merged(caller, free, repeats=False)
    if any(own):
        valid = [
            jnp.ones(one.array.shape[along], bool) if mark is None else mark.valid
            for one, mark in zip(inputs, own, strict=True)
        ]
        both = Selection(jnp.concatenate(valid), unfit=any_unfit(own))
        marks = (*marks[:along], both, *marks[along + 1 :])
    return _single(equation, [one.array for one in arrays], marks)


def _stack(caller: str, equation: JaxprEqn, inputs: list[Marked]) -> list[Marked]:
    values, marks = merged(caller, inputs, repeats=False)
    axis = equation.params["axis"]
    arrays = [one.array for one in values]
    return _single(equation, arrays, (*marks[:axis], None, *marks[axis:]))


def _unstack(caller: str, equation: JaxprEqn, inputs: list[Marked]) -> list[Marked]:
    (value,), axis = inputs, equation.params["axis"]
    _check_free(caller, value, [axis])
    marks = (*value.marks[:axis], *value.marks[axis + 1 :])
    return [Marked(one, marks) for one in _bound(equation, [value.array])]


def _without(marks: tuple[Selection | None, ...], axis: int) -> tuple[Selection | None, ...]:
    return (*marks[:axis], None, *marks[axis + 1 :])


def _dot(caller: str, equation: JaxprEqn, inputs: list[Marked]) -> list[Marked]:
    (summed, batch), (x, y) = equation.params["dimension_numbers"], inputs
    for first, second in zip(*batch, strict=True):
        x, y = aligned(caller, [x, y], [first, second])
    for first, second in zip(*summed, strict=True):
        x, y = aligned(caller, [x, y], [first, second], repeats=False)
    marks = [x.marks[axis] for axis in batch[0]]
    for side, own, common in ((x, summed[0], batch[0]), (y, summed[1], batch[1])):
        marks += [mark for axis, mark in enumerate(side.marks) if axis not in (*own, *common)]
    (found,) = _bound(equation, [filled(x, 0), filled(y, 0)])
    return [Marked(checked(caller, found, [x.marks[axis] for axis in summed[0]]), tuple(marks))]


def _gather(caller: str, equation: JaxprEqn, inputs: list[Marked]) -> list[Marked]:
    numbers, sizes = equation.params["dimension_numbers"], equation.params["slice_sizes"]
    table, rows = inputs
    pairs = list(
        zip(numbers.operand_batching_dims, numbers.start_indices_batching_dims, strict=True)
    )
    for first, second in pairs:
        table, rows = aligned(caller, [table, rows], [first, second], repeats=False)
    row_marks = rows.marks[:-1]
    whole = [
        axis
        for axis in range(len(table.marks))
        if axis not in (*numbers.collapsed_slice_dims, *numbers.operand_batching_dims)
    ]
    for axis, mark in enumerate(table.marks):
        kept = axis in whole and sizes[axis] == table.array.shape[axis]
        if mark is not None and not kept and axis not in numbers.operand_batching_dims:
            raise SelectionError(
                f"{caller}, which takes entries of an axis that the mask chose from,"
            )
    offsets = iter([table.marks[axis] for axis in whole])
    others = iter(row_marks)
    (found,) = _bound(equation, [table.array, rows.array])
    marks = tuple(
        next(offsets) if axis in numbers.offset_dims else next(others) for axis in range(found.ndim)
    )
    return [Marked(found, marks)]


def _check_free(caller: str, value: Marked, axes: Sequence[int]) -> None:
    if any(value.marks[axis] is not None for axis in axes):
        raise SelectionError(
            f"{caller}, which reorders or removes an axis that the mask chose from,"
        )


_Rule = Callable[[str, JaxprEqn, list[Marked]], list[Marked]]
_RULES: dict[str, _Rule] = {
    **dict.fromkeys(
        (
            *("reduce_sum", "reduce_max", "reduce_min", "reduce_prod", "reduce_and", "reduce_or"),
            *("argmax", "argmin"),
        ),
        _reduce,
    ),
    **dict.fromkeys(("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"), _cumulative),
    **dict.fromkeys(("slice", "dynamic_slice", "pad", "rev", "sort", "split", "tile"), _keeping),
    "broadcast_in_dim": _broadcast,
    "concatenate": _concatenate,
    "dot_general": _dot,
    "gather": _gather,
    "reshape": _reshape,
    "squeeze": _squeeze,
    "stack": _stack,
    "transpose": _transpose,
    "unstack": _unstack,
}
