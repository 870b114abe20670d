"""A user's function over elements: compiled where JAX can trace it, called as it is elsewhere.

A predicate, as `filter` takes one, is such a function that returns one boolean.
"""

import contextlib
import itertools
import logging
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, TypeAlias, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr

from spmd.input.pipeline import spec as specs
from spmd.input.pipeline.cpu import call_on_cpu
from spmd.input.pipeline.draws import (
    Draws,
    Numbers,
    Seed,
    TracedDraws,
    abstract_keys,
    needed,
)
from spmd.input.pipeline.element import (
    Batch,
    Component,
    Element,
    apply,
    dtype_of,
    fits_jax,
    result_element,
    split,
    stack_as_made,
    writable,
)
from spmd.input.pipeline.spec import Specs
from spmd.typing import PyTree, Structure

T = TypeVar("T")
# Makes the block that a call of the function runs in, such as one in which it may draw random numbers; called
# with what it draws from while it is traced, or None where it runs.
Surroundings: TypeAlias = Callable[[TracedDraws | None], AbstractContextManager[object]]
# The shape and dtype of each component of an element.
_Shapes: TypeAlias = tuple[tuple[tuple[int, ...], Any], ...]

_LOGGER = logging.getLogger(__name__)

# Inputs whose shape keeps changing (variable-length text, images of any size) would compile
# without end; after this many programs the function runs uncompiled for new shapes.
_MAX_PROGRAMS = 16
# After the first program, functions that draw run uncompiled so many times for single elements of a shape: more may not
# come, and to compile random numbers takes a second.
_CALLS_BEFORE_PROGRAM = 4
_MAX_SHAPES = 1024

_NUMBERS = itertools.count()


class Sending(NamedTuple):
    """How another process calls a function that does nothing but compute what it returns.

    Attributes:
        pickled: Returns what makes the function there, once it is unpickled and called; raises an exception if
            there is no such thing.
        is_current: Tells whether all that the function reads from outside is what it was when it was pickled.
        draws: Returns what the random numbers of the next call depend on; another value each time.
        draw_from: Takes such a value, in the other process, before a call.
    """

    pickled: Callable[[], bytes]
    is_current: Callable[[], bool]
    draws: Callable[[], Any]
    draw_from: Callable[[Any], None]


class MapFunction:
    """Calls one function on elements, with the same results whichever way it runs.

    Whether it traces is decided once, with the first spec that it meets. A function that does not
    (control flow on values, NumPy calls, text) is called for each element with NumPy values. An
    exception of that call reaches the user as it is, so the fallback hides no bug.

    May be used from several threads.

    Args:
        function: Takes an element; a tuple is spread over its arguments.
        surroundings: What a call happens in.
        sending: How it is called in another process; None if it is not.
        draws: What it draws random numbers from where it is compiled; None if it must not.

    Attributes:
        number: Another one for each function of this process.
        sending: As above.

    Examples:
        >>> halve = MapFunction(lambda x: x / 2)
        >>> print(halve.many(np.arange(3)))
        [0.  0.5 1. ]
    """

    def __init__(
        self,
        function: Callable[..., PyTree],
        surroundings: Surroundings | None = None,
        sending: Sending | None = None,
        draws: Draws | None = None,
    ) -> None:
        self.number, self.sending = next(_NUMBERS), sending
        self._function = function
        self._within = surroundings or (lambda traced: contextlib.nullcontext())
        self._draws = draws
        self._lock = threading.RLock()
        self._traces: bool | None = None
        # Of its draws, by the shapes of an element; None where it cannot be traced for them.
        self._seeds: dict[_Shapes, Sequence[Seed] | None] = {}
        self._first_seeds: Sequence[Seed] = ()
        self._programs: set[Any] = set()
        self._calls: Counter[Any] = Counter()
        self._one = jax.jit(self._traceable)
        self._many = jax.jit(jax.vmap(self._traceable))

    @property
    def is_random(self) -> bool:
        """Whether the function, compiled for the first spec, draws random numbers; known once `traces` was asked."""
        return bool(self._first_seeds)

    def traces(self, spec: Specs) -> bool:
        """Tells whether the function is compiled, for elements of `spec` (no unknown sizes)."""
        if self._traces is None:  # asked without the lock: once decided, it stays so
            with self._lock:
                if self._traces is None:
                    self._traces = self._try_tracing(spec)
        return self._traces

    def traces_for(self, element: Element) -> bool:
        """Tells whether the function is compiled, for elements like this one."""
        known = self._traces
        return self.traces(specs.spec_of(element)) if known is None else known

    def one(self, element: Element) -> Element:
        """Returns the function's result for one element."""
        if self.traces_for(element) and self._may_compile("one", element):
            seeds = self._seeds_for("one", element) or ()
            keys = self._keys(self._reserved(1, 1) if seeds else None, seeds, 0)
            return self._run(self._one, element, keys)
        return call_on_cpu(self._call, element)

    def many(self, batch: Batch, numbers: Numbers | None = None) -> Batch:
        """Returns the batch of the function's results for the rows of a batch.

        The function must trace (see `traces`).

        Args:
            batch: Its rows are elements.
            numbers: A number for each row, as `numbers` returned them; needed if the function draws.
        """
        if self._may_compile("many", batch):
            seeds = self._seeds_for("many", batch) or ()
            return self._run(self._many, batch, self._keys(numbers, seeds))
        return call_on_cpu(self._called, list(split(batch)))

    def numbers(self, count: int, batch: Batch | None = None) -> Numbers | None:
        """Numbers elements, for what they draw; None if the function, which must trace, draws nothing for them.

        Args:
            count: How many elements.
            batch: They are its first rows, and others pad it; None numbers elements of the first spec.
        """
        if batch is None:
            return self._reserved(count, count) if self.is_random else None
        if not self._may_compile("many", batch) or not self._seeds_for("many", batch):
            return None
        return self._reserved(count, len(jax.tree.leaves(batch)[0]))

    def stacked(self, elements: Sequence[Element]) -> Batch:
        """Returns the batch of the function's results for elements, of which there is at least one."""
        if self.traces_for(elements[0]):
            return stack_as_made(map(self.one, elements), len(elements))
        return call_on_cpu(self._called, elements)

    def program(self, spec: Specs) -> tuple[ClosedJaxpr, Structure]:
        """Traces the function for elements of `spec`, which it must (see `traces`) without drawing.

        Args:
            spec: The specs of an element; every size is known.

        Returns:
            Its program, which computes as precisely on other devices and has its constants in NumPy, and
            the structure of its results.
        """

        def trace(element: PyTree) -> tuple[ClosedJaxpr, PyTree]:
            return jax.make_jaxpr(self._without_draws, return_shape=True)(element)

        with jax.default_matmul_precision("highest"):
            closed, results = call_on_cpu(trace, specs.shape_dtypes(spec, 0))
        consts = list(map(_on_host, closed.consts))
        return closed.replace(consts=consts), jax.tree.structure(results)

    def output_spec(self, spec: Specs, first_result: Callable[[], Element | None]) -> Specs:
        """Returns the specs of the function's results.

        Args:
            spec: The specs of the elements that it is called with.
            first_result: Returns one of the results, or None if there is none; called where
                tracing cannot tell.

        Raises:
            ValueError: Only the results can tell, and there are none.
        """
        try:
            return call_on_cpu(lambda given: specs.result_spec(self._abstract, given), spec)
        except Exception:  # the call below shows what is wrong, without tracers in the way
            result = first_result()
        if result is None:
            raise ValueError(
                "element_spec: JAX cannot trace this map function, and the dataset is empty, so "
                "there is no result to look at.\nFix: use it on a dataset with elements."
            )
        return specs.varying_like(spec, specs.spec_of(result))

    def _try_tracing(self, spec: Specs) -> bool:
        try:
            self._first_seeds = self._traced_seeds(spec)
        except Exception as error:  # not only jax.errors: NumPy values can do what tracers cannot
            first_line = str(error).partition("\n")[0]
            _LOGGER.debug(  # at INFO, absl shows it, and there is nothing to mend in texts
                "%s runs once per element, uncompiled: %s",
                getattr(self._function, "__qualname__", self._function),
                "it reads texts, which stay on the host"
                if _has_texts(spec)
                else f"JAX cannot trace it ({type(error).__name__}: {first_line})",
            )
            return False
        shapes = tuple((tuple(leaf.shape), leaf.dtype) for leaf in jax.tree.leaves(spec))
        self._seeds[shapes] = self._first_seeds
        return True

    def _traced_seeds(self, spec: Specs) -> Sequence[Seed]:
        """Traces the function, as compiling it does, for what it draws."""
        keys = None if self._draws is None else np.stack([abstract_keys()] * 2)
        seeds: list[Seed] = []

        def traceable(element: PyTree, keys: Any) -> PyTree:
            result, drawn = self._traced(element, keys)
            seeds[:] = drawn
            return result

        def call(batch: PyTree) -> PyTree:
            return jax.vmap(traceable)(batch, keys)

        rows = specs.batch_spec(spec, 2)
        call_on_cpu(lambda given: specs.result_spec(call, given), rows)
        return needed(seeds)

    def _seeds_for(self, kind: str, element: Element) -> Sequence[Seed] | None:
        """Returns the seeds of what the function draws for elements of these shapes; None if it does not trace for them.

        Which branches of Python it takes, and so what it draws, depends on shapes.
        """
        if self._draws is None:
            return ()
        shapes = _shapes(kind, element)
        with self._lock:
            if shapes not in self._seeds:
                self._seeds[shapes] = self._find_seeds(kind, element)
            return self._seeds[shapes]

    def _find_seeds(self, kind: str, element: Element) -> Sequence[Seed] | None:
        program = self._many if kind == "many" else self._one
        if not self._first_seeds:
            # Most functions never draw. Then this is the trace of the program that is called afterwards.
            with contextlib.suppress(Exception):
                call_on_cpu(lambda given: jax.eval_shape(program, given, None), element)
                return ()
        spec = specs.spec_of(element)
        try:
            return self._traced_seeds(specs.row_spec(spec) if kind == "many" else spec)
        except Exception:  # calls on the elements show what is wrong, if anything is
            return None

    def _may_compile(self, kind: str, element: Element) -> bool:
        """Tells whether to call the compiled function, which may have to be compiled first."""
        leaves = jax.tree.leaves(element)
        shapes = _shapes(kind, element)
        key = (kind, *(np.shape(leaf) for leaf in leaves[:1]), shapes)
        with self._lock:
            if key not in self._programs and len(self._programs) < _MAX_PROGRAMS:
                if not self._calls or len(self._calls) >= _MAX_SHAPES:
                    self._calls = Counter({shapes: _CALLS_BEFORE_PROGRAM})  # the first ones
                self._calls[shapes] += 1
                is_rare = kind == "one" and self._calls[shapes] <= _CALLS_BEFORE_PROGRAM
                if not (self.is_random and is_rare):
                    self._programs.add(key)
            known = key in self._programs
        return known and all(map(fits_jax, leaves)) and self._seeds_for(kind, element) is not None

    def _reserved(self, count: int, full: int) -> Numbers | None:
        """Returns numbers that no other elements get; the last one again for rows that pad."""
        if self._draws is None:
            return None
        first = self._draws.reserve(count)
        return first + np.minimum(np.arange(max(count, full)), count - 1)

    def _keys(
        self, numbers: Numbers | None, seeds: Sequence[Seed], index: Any = ...
    ) -> np.ndarray | None:
        """Returns the keys of elements' draws, or of the one element at an index."""
        if numbers is None or self._draws is None:
            return None
        return self._draws.keys(numbers, seeds)[index]

    def _run(
        self, program: Callable[..., PyTree], element: Element, keys: np.ndarray | None
    ) -> Element:
        results = call_on_cpu(lambda given: program(given, keys), element)
        return jax.tree.map(lambda leaf: np.asarray(leaf)[()], results)

    def _call(self, element: Element) -> Element:
        with self._within(None):
            return result_element(apply(self._function, writable(element)))

    def _called(self, elements: Sequence[Element]) -> Batch:
        """Calls the function for each element, in the same surroundings: they cost as much as a small function."""
        with self._within(None):
            results = (
                result_element(apply(self._function, writable(element))) for element in elements
            )
            return stack_as_made(results, len(elements))

    def _abstract(self, element: PyTree) -> PyTree:
        return self._traceable(element, None if self._draws is None else abstract_keys())

    def _without_draws(self, element: PyTree) -> PyTree:
        return self._traceable(element, None)

    def _traceable(self, element: PyTree, keys: Any) -> PyTree:
        return self._traced(element, keys)[0]

    def _traced(self, element: PyTree, keys: Any) -> tuple[PyTree, Sequence[Seed]]:
        """Returns the result, and the seeds of what was drawn."""
        draws = TracedDraws(None if keys is None else jnp.asarray(keys))
        with self._within(draws):
            result = apply(self._function, element)
        arrays = jax.tree.map(jnp.asarray, result, is_leaf=lambda leaf: isinstance(leaf, list))
        return arrays, draws.seeds


def _shapes(kind: str, element: Element) -> _Shapes:
    """Returns the shapes and dtypes of an element's components; of a row's, where `kind` is "many"."""
    row = slice(1 if kind == "many" else 0, None)
    return tuple((np.shape(leaf)[row], dtype_of(leaf)) for leaf in jax.tree.leaves(element))


def call_once(function: Callable[..., T], element: Element) -> T:
    """Calls a function that is never compiled, on the host, with an element that it may overwrite."""
    return call_on_cpu(lambda given: apply(function, writable(given)), element)


def holds(predicate: MapFunction, element: Element) -> bool:
    """Tells whether the predicate holds for one element.

    Raises:
        TypeError: It did not return one boolean.
    """
    return bool(_checked(predicate.one(element), axes=0))


def mask(predicate: MapFunction, batch: Batch, rows: int) -> np.ndarray:
    """Tells for which rows of a batch the predicate, which must trace, holds.

    Args:
        predicate: The predicate.
        batch: At least `rows` rows.
        rows: How many of them to look at.

    Returns:
        Booleans, shape ``[rows]``.

    Raises:
        TypeError: It did not return one boolean a row.
    """
    return _checked(predicate.many(batch, predicate.numbers(rows, batch)), axes=1)[:rows]


def _on_host(constant: jax.Array) -> Component:
    # An array on the devices of one mesh cannot enter a program of another. NumPy has no random keys.
    is_key = jnp.issubdtype(constant.dtype, jax.dtypes.extended)
    return constant if is_key else np.asarray(constant)


def _checked(result: Component, axes: int) -> np.ndarray:
    array = np.asarray(result)
    if array.dtype == np.bool_ and array.ndim == axes:
        return array
    raise TypeError(
        "filter: the predicate must return one boolean for each element, got "
        f"{array.dtype} of shape {array.shape[axes:]}.\n"
        "Fix: compare, as in filter(lambda x: x > 0), and reduce arrays with .all() or .any()."
    )


def _has_texts(spec: Specs) -> bool:
    """Tells whether elements hold texts."""
    return any(
        getattr(leaf, "dtype", None) is not None and np.dtype(leaf.dtype).kind in "OSU"
        for leaf in jax.tree.leaves(spec)
    )
