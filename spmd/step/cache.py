"""What a step, or whoever makes steps, keeps: the programs and steps used lately, and when to warn of too many.

All caches go by the same rules. What was not used for longest is dropped first. Each doubling of the number
that was made warns, because compiling takes far longer than running.
"""

import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from typing import Any, Generic, TypeVar

from spmd.errors import RecompilationWarning
from spmd.source_lines import user_stacklevel
from spmd.step.arguments import Arguments, ArgumentsKey, Leaf, argument_names
from spmd.step.dispatch import Executable
from spmd.step.function_key import function_key
from spmd.step.op_by_op import runs_op_by_op
from spmd.step.options import StepOptions
from spmd.step.python_numbers import NUMBERS

S = TypeVar("S")

# How many programs a step keeps, of those for one set of shapes, whose models were replaced.
_MAX_REPLACED = 2
# How many characters of a value a warning shows: one may be a whole image.
_MAX_SHOWN = 80


class ProgramCache:
    """The programs of one step, by the arguments that they fit; safe to use from several threads."""

    def __init__(self, name: str, options: StepOptions) -> None:
        """Makes an empty cache.

        Args:
            name: of the step, for the warning.
            options: how many programs to keep, and when to warn.
        """
        self._name = name
        self._options = options
        self._lock = threading.Lock()
        # The one used last stands last.
        self._programs: list[tuple[ArgumentsKey, Executable]] = []
        self._last_key: ArgumentsKey | None = None
        self._counted = 0
        self.made = 0

    def __len__(self) -> int:
        return len(self._programs)

    def find(self, key: ArgumentsKey) -> tuple[Executable | None, str | None]:
        """Finds a program that still does what the step's code does.

        Args:
            key: of the arguments.

        Returns:
            The program, or None; and, if there are only stale ones, why the latest of them is.
        """
        with self._lock:
            reason: str | None = None
            for index in reversed(range(len(self._programs))):
                known, program = self._programs[index]
                if known == key:
                    reason = program.stale_because()
                    if reason is None:
                        self._programs.append(self._programs.pop(index))
                        return program, None
            return None, reason

    def add(
        self, arguments: Arguments, program: Executable, reason: str | None, *, is_new: bool = True
    ) -> None:
        """Adds a program that was just made.

        Args:
            arguments: that it was made for.
            program: the program.
            reason: why another one for these arguments is stale.
            is_new: whether it counts for the warning.
        """
        key = arguments.key
        with self._lock:
            self.made += 1
            self._counted += is_new
            last, self._last_key = self._last_key, key
            self._programs.append((key, program))
            # A program keeps the model alive that it was traced for, so one for a model that was replaced
            # (a notebook's cell run again) must go. Not at once: models may take turns under one name. A
            # change of mode, as by eval(), replaces no object, and its programs count only among all.
            same = [program for known, program in self._programs if known == key]
            replaced = [program for program in same if program.has_replaced_state()]
            for dropped in replaced[:-_MAX_REPLACED]:
                self._drop(dropped)
            del self._programs[: -self._options.max_programs]
        is_doubling = is_new and _is_doubling(self._counted, self._options.warn_after)
        if is_doubling and last is not None:
            _warn(
                f"The step {self._name!r} was compiled {self._counted} times. Last time because "
                f"{reason or _difference(last, key)}. Compiling takes far longer than a "
                "step: keep shapes the same (pad, or drop_remainder=True), pass what changes as an "
                "array, and make models once."
            )

    def forget(self, program: Executable) -> None:
        """Drops a program."""
        with self._lock:
            self._drop(program)

    def _drop(self, program: Executable) -> None:
        self._programs = [entry for entry in self._programs if entry[1] is not program]


class StepCache(Generic[S]):
    """Steps by what their functions do; safe to use from several threads.

    A lambda or a nested function is a new object each time its line runs. A cache compiles it once, for as long
    as its code, closure and defaults are the same.

    Examples:
        >>> import spmd
        >>> mesh = spmd.make_mesh(["cpu:0"])
        >>> steps = spmd.step.StepCache(lambda function: spmd.Step(function, mesh))
        >>> [float(steps.get(lambda x: x * 2)(number)) for number in (1.0, 2.0, 3.0)]
        [2.0, 4.0, 6.0]
        >>> len(steps)
        1

    Source: `tf.function`, which traces a function that is made anew again.
    """

    def __init__(
        self,
        make: Callable[..., S],
        *,
        max_steps: int = 32,
        warn_after: int = 4,
        key: Callable[[Any], Hashable] = function_key,
    ) -> None:
        """Makes an empty cache.

        Args:
            make: makes a step of a function, and of whatever else `get` is given.
            max_steps: how many to keep.
            warn_after: number of steps of the same code after which each doubling warns.
            key: what makes two functions the same.
        """
        self._make = make
        self._max_steps = max_steps
        self._warn_after = warn_after
        self._key = key
        self._lock = threading.Lock()
        self._steps: OrderedDict[Hashable, tuple[Callable[..., Any], tuple[Hashable, ...], S]] = (
            OrderedDict()
        )

    def __len__(self) -> int:
        return len(self._steps)

    def __iter__(self) -> Iterator[S]:
        return iter([step for *_, step in self._steps.values()])

    def get(self, function: Callable[..., Any], *context: Hashable) -> S:
        """Returns the step of a function, making it if there is none.

        Args:
            function: the function.
            *context: on what else the step depends.

        Returns:
            The step.
        """
        key = (self._key(function), *context)
        with self._lock:
            known = self._steps.get(key)
            if known is not None:
                self._steps.move_to_end(key)
                return known[-1]
            if runs_op_by_op():  # nothing is compiled
                return self._make(function, *context)
            self._warn_of_copies(function, context)
            # The function is kept: the key goes by the identities of what it closes over.
            self._steps[key] = function, context, (step := self._make(function, *context))
            if len(self._steps) > self._max_steps:
                self._steps.popitem(last=False)
            return step

    def _warn_of_copies(self, function: Callable[..., Any], context: tuple[Hashable, ...]) -> None:
        """Warns if functions made by the same lines, but bound to other objects, are compiled anew."""
        code = getattr(function, "__code__", None)
        names = getattr(code, "co_freevars", ())
        same = [
            known
            for known, others, _ in self._steps.values()
            if others == context and getattr(known, "__code__", None) is code
        ]
        if names and _is_doubling(1 + len(same), self._warn_after):
            _warn(
                f"A step was compiled for the function {getattr(function, '__name__', function)!r} "
                f"{1 + len(same)} times, because objects that it closes over are others each time (it closes "
                f"over {', '.join(names)}). Compiling takes far longer than a step: make other objects once, "
                "and let what changes be a variable, or an argument of the function."
            )


def _is_doubling(count: int, first: int) -> bool:
    times, rest = divmod(count, first)
    return rest == 0 and times.bit_count() == 1


def _warn(message: str) -> None:
    warnings.warn(message, RecompilationWarning, stacklevel=user_stacklevel())


def _difference(last: ArgumentsKey, key: ArgumentsKey) -> str:
    """Says in words how arguments differ from those of another program."""
    if last.structure != key.structure:
        return f"the structure of the arguments changed from {last.structure} to {key.structure}"
    names = argument_names(key.structure)
    for name, old, new in zip(names, last.leaves, key.leaves, strict=True):
        if old != new:
            changed = f"{name} changed from {_shown(old)} to {_shown(new)}"
            is_number = _kind(old) is _kind(new) is not None
            return (
                f"{changed}, a Python number that the step needs as one" if is_number else changed
            )
    if last.counts != key.counts:
        return "replicas got other numbers of rows, and padding would count"
    return "a program was dropped to make room for others"


def _shown(leaf: Leaf) -> str:
    if leaf.role == "stateful":
        return "one object to another"
    if not isinstance(leaf.key, tuple):
        return "an object"
    first, second, *_ = leaf.key
    if leaf.role == "fixed":
        text = second if _kind(leaf) in (float, complex) else repr(second)
        return text if len(text) <= _MAX_SHOWN else f"{text[: _MAX_SHOWN - 3]}..."
    return f"{'weak ' if leaf.weak else ''}{second}{list(first)}"


def _kind(leaf: Leaf) -> type | None:
    """The type of a Python number that is static."""
    kind = leaf.key[0] if leaf.role == "fixed" and isinstance(leaf.key, tuple) else None
    return next((one for one in NUMBERS if one is kind), None)
