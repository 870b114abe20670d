"""Operators for `while` and `for`."""

import contextlib
import dataclasses
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence, Sized
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf.autograph.conditionals import if_stmt
from frontends.tf.autograph.rows import Rows
from frontends.tf.autograph.symbols import (
    Symbol,
    agreed_dtype,
    as_array,
    has_value,
    is_array,
    is_plain,
    is_traced,
    take_apart,
    value_of,
)
from frontends.tf.data.feeding import FedLoop, fed_loop
from frontends.tf.data.tracing import run_as_python
from frontends.tf.ops import carried
from frontends.tf.ops.control_flow import executing_eagerly
from frontends.tf.ops.convert import known
from frontends.tf.ops.tensor_array import UNKNOWN, Form, Writes
from frontends.tf.ops.traced_range import TracedRange
from frontends.tf.ops.turns import in_loop
from spmd import _jax_internals
from spmd.errors import ControlFlowError
from spmd.step import scan, while_loop

# Turns that become parts of the program, one after another, if they leave arrays of other shapes.
_MOST_UNROLLED = 256

GetState = Callable[[], tuple[Any, ...]]
SetState = Callable[[tuple[Any, ...]], None]


def while_stmt(
    test: Callable[[], Any],
    body: Callable[[], None],
    get_state: GetState,
    set_state: SetState,
    symbol_names: Sequence[str],
    opts: Mapping[str, Any],
) -> None:
    """Runs a `while` loop; from where a traced value decides, as a loop of the program.

    Args:
        test: computes the condition.
        body: the block.
        get_state: returns the values of the symbols that the block assigns.
        set_state: assigns them.
        symbol_names: their names.
        opts: what `tf.autograph.experimental.set_loop_options` said.

    Raises:
        TypeError: a symbol changes its type from turn to turn.
        ValueError: it changes its shape or structure.
    """
    while not is_traced(goes_on := value_of(test())):
        if not goes_on:
            return
        body()

    plan = _Plan()

    def run(forms: Any) -> None:
        loop = _Loop(get_state, set_state, symbol_names, "while", forms, plan, opts)
        loop.repeat(test, body, opts.get("maximum_iterations"))

    carried.settled(run)


def for_stmt(
    iter_: Any,
    extra_test: Callable[[], Any] | None,
    body: Callable[[Any], None],
    get_state: GetState,
    set_state: SetState,
    symbol_names: Sequence[str],
    opts: Mapping[str, Any],
) -> None:
    """Runs a `for` loop; over an array that is traced, as a loop of the program.

    Args:
        iter_: what it goes over.
        extra_test: tells whether it goes on, where `break` or `return` may end it; None otherwise.
        body: the block; takes the next element.
        get_state: returns the values of the symbols that the block assigns.
        set_state: assigns them.
        symbol_names: their names.
        opts: what `tf.autograph.experimental.set_loop_options` said.

    Raises:
        TypeError: a symbol changes its type from turn to turn.
        ValueError: it changes its shape or structure.
    """
    rows = iter_ if isinstance(iter_, TracedRange) else value_of(iter_)
    plan = _Plan()
    if isinstance(rows, TracedRange):

        def count(forms: Any) -> None:
            loop = _Loop(get_state, set_state, symbol_names, "for", forms, plan, opts)
            loop.count(rows, extra_test, body, opts.get("maximum_iterations"))

        carried.settled(count)
    elif isinstance(rows, Rows) or (isinstance(rows, jax.Array) and not executing_eagerly()):
        if isinstance(rows, jax.Array) and rows.ndim == 0:
            raise TypeError("A `for` loop cannot go over a scalar tensor. Write tf.range(n).")
        arrays = rows.arrays if isinstance(rows, Rows) else rows
        reads = fed_loop(len(jax.tree.leaves(arrays)[0]), ends_early=extra_test is not None)

        def go_over(forms: Any) -> None:
            loop = _Loop(get_state, set_state, symbol_names, "for", forms, plan, opts)
            loop.go_over(arrays, extra_test, body, reads)

        try:
            carried.settled(go_over)
        except ShapeChangesError:
            if len(rows) > _MOST_UNROLLED:
                raise
            # Turns that leave arrays of other shapes are parts of the program, one after another.
            _in_python(rows, extra_test, body, get_state, set_state, symbol_names)
    else:
        _in_python(rows, extra_test, body, get_state, set_state, symbol_names)


def _in_python(
    rows: Iterable[Any],
    extra_test: Callable[[], Any] | None,
    body: Callable[[Any], None],
    get_state: GetState,
    set_state: SetState,
    symbol_names: Sequence[str],
) -> None:
    """Goes over elements that Python has; where a traced value decides whether to go on, each is a branch."""
    goes_on: Any = True if extra_test is None else value_of(extra_test())
    if not is_traced(goes_on) and not goes_on:
        return
    for element in rows:
        if not is_traced(goes_on):
            body(element)
        elif not isinstance(rows, Sized):
            raise ControlFlowError(
                "A `break` or `return` that depends on a tensor ends a loop over an iterator of Python whose length "
                "is not known. Loop over a list, or over a tensor: for x in tf.range(n)."
            )
        else:
            if_stmt(
                goes_on,
                lambda element=element: body(element),
                lambda: None,
                get_state,
                set_state,
                symbol_names,
                len(symbol_names),
                fills=True,
            )
        if extra_test is not None:
            goes_on = value_of(extra_test())
            if not is_traced(goes_on) and not goes_on:
                return


class ShapeChangesError(ValueError):
    """A turn of a loop leaves an array of another shape than it began with."""


@dataclasses.dataclass
class _Plan:
    """What former traces of a loop found out about its symbols, which are given by their indices.

    Attributes:
        read: those that hold a variable before the loop, and something else later: they begin with its value.
        counting: those that count the turns from 0.
    """

    read: set[int] = dataclasses.field(default_factory=set)
    counting: set[int] = dataclasses.field(default_factory=set)


class _Loop:
    """The symbols of a loop of the program, and how they go from turn to turn.

    What has a value before the loop is carried; what gets its first value in it is kept from the last turn.
    A `tf.TensorArray` may be held in another form while the loop goes on (`forms`, see `carried`).
    """

    def __init__(
        self,
        get_state: GetState,
        set_state: SetState,
        names: Sequence[str],
        kind: str,
        forms: list[Form] | None,
        plan: _Plan,
        options: Mapping[str, Any],
    ) -> None:
        self._may_change_shapes = options.get("shape_invariants") is not None
        # Whether a loop with arrays of other shapes at every turn becomes as many parts of the program.
        self._unrolls = False
        self._get, self._set, self._names, self._kind = get_state, set_state, names, kind
        self._forms, self._plan = forms, plan
        self._before = get_state()
        self._held = carried.held_as(self._before, forms)
        pairs = zip(names, self._held, strict=True)
        self._start = [take_apart(*pair) for pair in pairs]
        for index in plan.read:
            self._start[index] = self._start[index].read()
        self._writes: list[Writes] = []
        self._undefined = [symbol.undefined for symbol in self._start]
        self._carry = [array for symbol in self._start for array in symbol.arrays]
        # What the block leaves behind of symbols that had no value, and of lists that it appended to.
        self._new: dict[int, Symbol] = {}
        self._rows: dict[int, Symbol] = {}

    def repeat(self, test: Callable[[], Any], body: Callable[[], None], bound: Any) -> None:
        """Runs a `while` loop."""

        def turn(carry: list[jax.Array]) -> Any:
            self._assign(carry)
            with in_loop(_static(bound)):
                body()
            return self._after(stacks=False)[:2]

        with self._restored():
            found = while_loop(self._asking(test), turn, self._carry, bound=_static(bound))
        self._finish(*found, None)

    def count(
        self,
        range_: TracedRange,
        extra_test: Callable[[], Any] | None,
        body: Callable[[Any], None],
        bound: Any,
    ) -> None:
        """Runs a `for` loop over numbers of which it is not known how many there are."""
        asks = None if extra_test is None else self._asking(extra_test)

        def goes_on(carry: Any) -> Any:
            number, arrays = carry
            within = number < range_.length
            return within if asks is None else within & asks(arrays)

        def turn(carry: Any) -> Any:
            number, arrays = carry
            self._assign(arrays)
            with in_loop(_static(bound)):
                body(range_[number])
            new, other, _ = self._after(stacks=False)
            return (number + 1, new), other

        with self._restored():
            start = (jnp.int32(0), self._carry)
            (_, carry), other = while_loop(goes_on, turn, start, bound=_static(bound))
        self._finish(carry, other, None)

    def go_over(
        self,
        rows: Any,
        extra_test: Callable[[], Any] | None,
        body: Callable[[Any], None],
        reads: FedLoop | None,
    ) -> None:
        """Runs a `for` loop over the rows of arrays; `reads` are the batches that it reads from iterators."""
        counts = carried.counts_up(rows)
        length = len(jax.tree.leaves(rows)[0])
        self._unrolls = length <= _MOST_UNROLLED
        span = _span(rows)

        def turn(carry: list[jax.Array], now: Any) -> Any:
            row, number, batches = now
            number = row if counts else number
            self._assign(carry, number)
            began = self._get()
            fed_turn = contextlib.nullcontext() if reads is None else reads.turn(batches)
            with in_loop(length, number, None if span is None else (row, *span)), fed_turn:
                body(row)
            after = self._after(stacks=extra_test is None)
            if extra_test is None:
                self._find_counters(began)
            return after

        with self._restored():
            found = scan(
                turn,
                self._carry,
                (
                    rows,
                    jnp.arange(length, dtype=jnp.int32) if self._plan.counting else None,
                    [] if reads is None else reads.rows,
                ),
                test=None if extra_test is None else self._asking(extra_test),
            )
        self._finish(*found)
        if extra_test is None:
            after = carried.tensor_arrays(self._carried_of(self._get()))
            for before, array, writes in zip(
                carried.tensor_arrays(self._carried_of(self._before)),
                after,
                self._writes,
                strict=True,
            ):
                array.settle_length(before, writes, length)

    def _asking(self, test: Callable[[], Any]) -> Callable[[list[jax.Array]], Any]:
        """Makes a test that takes the carry. The engine calls it before the first turn, and in each after the block."""
        before_first = True

        def goes_on(carry: list[jax.Array]) -> Any:
            nonlocal before_first
            if before_first:  # after the block its symbols have their values already
                self._assign(carry)
            before_first = False
            return as_array(value_of(test()))

        return goes_on

    def _assign(self, carry: list[jax.Array], number: Any = None) -> None:
        arrays = iter(carry)
        values = [symbol.with_arrays(arrays) for symbol in self._start]
        for index in self._plan.counting:
            values[index] = number if values[index].dtype == number.dtype else values[index]
        self._set(tuple(values))

    def _find_counters(self, began: tuple[Any, ...]) -> None:
        """Traces again where a `tf.TensorArray` is written at an index that turns out to count the turns.

        Args:
            began: the values of the symbols before the block.
        """
        if not any(UNKNOWN in writes for writes in self._writes):
            return
        counting = set(self._plan.counting)
        for index, (symbol, old, new) in enumerate(
            zip(self._start, began, self._get(), strict=True)
        ):
            if _is_next(old, new):
                start = known(symbol.leaves[0])
                counting |= {index} if not is_traced(start) and start == 0 else set()
        if counting != self._plan.counting:
            self._plan.counting = counting
            raise carried.TraceAgain(self._forms)

    def _after(self, *, stacks: bool) -> tuple[list[Any], list[Any], list[Any]]:
        """Takes apart what the block left: the carry, what is new, and what it appended to lists."""
        carry: list[Any] = []
        others: list[Any] = []
        stacked: list[Any] = []
        values = self._get()
        kept = self._carried_of(values)
        self._writes = [array.writes for array in carried.tensor_arrays(kept)]
        kept = iter(carried.handed_on(self._carried_of(self._held), kept))
        for index, value in enumerate(values):
            value = value if self._undefined[index] else next(kept)
            before, after = self._start[index], take_apart(self._names[index], value)
            if before.undefined:
                self._new[index] = after
                others += after.arrays
                continue
            old = before.structure.unflatten(before.leaves)
            if isinstance(old, list) and isinstance(value, list) and len(value) > len(old):
                if not stacks:
                    raise self._grows(before.name)
                appended = take_apart(before.name, value[len(old) :])
                self._rows[index] = appended
                stacked += appended.arrays
                after = take_apart(before.name, value[: len(old)])
            carry += self._carried(index, before, after)
        return carry, others, stacked

    def _carried(self, index: int, before: Symbol, after: Symbol) -> list[jax.Array]:
        name = before.name
        if after.undefined or before.structure != after.structure:
            raise ValueError(
                f"'{name}' has another structure after one turn of a `{self._kind}` loop than before the loop, or no "
                "value. The loop is a part of the program: start with the structure that the turns leave."
            )
        found: list[jax.Array] = []
        for old, new in zip(before.leaves, after.leaves, strict=True):
            if not is_array(old) and old is not new and has_value(old) and has_value(new):
                self._plan.read.add(index)
                raise carried.TraceAgain(self._forms)
            if not is_array(old) or not has_value(new):
                if old is not new and not (is_plain(old) and old == new):
                    raise TypeError(
                        f"'{name}' is {old!r:.80} before a `{self._kind}` loop and {new!r:.80} after one turn. Only "
                        "tensors can change in a loop of the program."
                    )
                continue
            start, end = as_array(old), as_array(value_of(new))
            if start.shape != end.shape:
                if self._may_change_shapes and not self._unrolls:
                    run_as_python(
                        f"'{name}' changes its shape in a loop, as the shape_invariants say. Start with an array of the "
                        "final size and fill it, or use a tf.TensorArray."
                    )
                raise ShapeChangesError(
                    f"'{name}' has shape {start.shape} before the loop, but shape {end.shape} after one iteration. "
                    "Programs have fixed shapes: make an array of the final size before the loop and fill it, for "
                    "example with tf.TensorArray(dtype, size)."
                )
            if start.dtype != end.dtype and not isinstance(new, (int, float)):
                raise TypeError(
                    f"'{name}' has dtype {start.dtype} before the loop, but dtype {end.dtype} after one iteration. "
                    f"Start with the dtype that it ends with: {name} = tf.cast({name}, tf.{end.dtype})."
                )
            if start.dtype != end.dtype and agreed_dtype(new, start) is None:
                raise TypeError(
                    f"'{name}' has dtype {start.dtype} before the loop, but is {new!r} after one iteration."
                )
            found.append(end.astype(start.dtype))
        return found

    def _carried_of(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """Picks the values of the symbols that are carried."""
        return tuple(value for value, new in zip(values, self._undefined, strict=True) if not new)

    def _grows(self, name: str) -> Exception:
        return ControlFlowError(
            f"'{name}' is a list that grows in a `{self._kind}` loop whose number of turns a tensor decides. Use "
            f"{name} = tf.TensorArray(dtype, size=...) and {name} = {name}.write(i, value)."
        )

    @contextlib.contextmanager
    def _restored(self) -> Generator[None]:
        """Gives symbols the values back that they had before a trace: those of the trace are not theirs."""
        try:
            yield
        finally:
            self._set(self._before)

    def _finish(self, carry: list[Any], others: list[Any], stacked: list[Any] | None) -> None:
        kept, new, rows = iter(carry), iter(others), iter(stacked or ())
        values: list[Any] = []
        for index, symbol in enumerate(self._start):
            if symbol.undefined:
                end = self._new[index]
                values.append(end.with_arrays(new))
                continue
            value = symbol.with_arrays(kept)
            if index in self._rows:
                appended = self._rows[index]
                columns = [next(rows) if is_array(leaf) else leaf for leaf in appended.leaves]
                length = next((len(c) for c in columns if isinstance(c, jax.Array)), 0)
                for turn in range(length):
                    leaves = [c[turn] if isinstance(c, jax.Array) else c for c in columns]
                    value += appended.structure.unflatten(leaves)
            values.append(value)
        carried.ends_region(values)
        self._set(tuple(values))


def _is_next(old: Any, new: Any) -> bool:
    """Tells whether a whole number of the program is another one plus 1."""
    if not is_traced(old) or not is_traced(new):
        return False
    before, after = map(_jax_internals.linear_form, (old, new))
    if before is None or after is None or before[0] is not after[0]:
        return False
    return after[1:] == (before[1], before[2] + 1)


def _span(rows: Any) -> tuple[int, int] | None:
    """Returns the least and the largest of whole numbers that are known."""
    rows = known(rows)
    if is_traced(rows) or not isinstance(rows, jax.Array | np.ndarray):
        return None
    numbers = np.asarray(rows)  # not JAX's, whose operations become parts of the program
    if numbers.ndim != 1 or not numbers.size or numbers.dtype.kind not in "iu":
        return None
    return int(numbers.min()), int(numbers.max())


def _static(bound: Any) -> int | None:
    if bound is None:
        return None
    if is_traced(bound):
        raise ControlFlowError(
            "maximum_iterations of set_loop_options is known only when the program runs. Give a number of Python."
        )
    return int(bound)
