"""Threads that take turns: one for each replica, of which one runs at a time.

Replica 0 runs in the thread of the caller, so that a debugger has the terminal. They run in the order of their indices,
each until it exchanges values or ends, and then again from the first one: so the same code runs in the same order each time.
"""

import contextlib
import contextvars
import dataclasses
import functools
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeVar

import jax
from jax.core import Tracer

from spmd.errors import ReplicaContextError
from spmd.replica import Turns
from spmd.source_lines import is_user_file
from spmd.typing import LibraryVariable

T = TypeVar("T")
_Make = Callable[[], contextlib.AbstractContextManager[Any]]
# Gives every replica a copy of a variable, which is in the hands of the one with this index.
_Adopt = Callable[[LibraryVariable, int, Callable[[], None]], None]


class _Stopped(BaseException):
    """Ends a replica, because another one has failed."""


@dataclasses.dataclass
class _Handed:
    """What a replica has handed in at an exchange."""

    name: str
    line: str
    values: Sequence[jax.Array]

    def __str__(self) -> str:
        return f"{self.name} at {self.line}" if self.line else self.name


class _Resumed:
    """A context that is left while other replicas run."""

    def __init__(self, make: _Make) -> None:
        self._make = make
        self._stack = contextlib.ExitStack()

    def resume(self) -> None:
        self._stack.enter_context(self._make())

    def suspend(self) -> None:
        self._stack.close()


class ReplicaThreads(Turns):
    """Runs the code of replicas in turns."""

    def __init__(
        self,
        replicas: int,
        switch: Callable[[int, int], None],
        adopt: _Adopt,
        prepare: Callable[[], contextlib.AbstractContextManager[Any]],
    ) -> None:
        """Makes them; nothing runs yet.

        Args:
            replicas: how many there are.
            switch: takes the state from one replica, and gives another one its own.
            adopt: gives every replica a copy of a variable that is in the hands of one of them.
            prepare: returns the context in which a thread runs.
        """
        self._switch, self._adopt, self._prepare = switch, adopt, prepare
        self._turn = [threading.Semaphore(0) for _ in range(replicas)]
        self._over = threading.Semaphore(0)
        self._running = 0
        self._handed: list[_Handed | None] = [None] * replicas
        self._ended = [False] * replicas
        self._every: list[Sequence[jax.Array]] = []
        self._failed: tuple[int, BaseException] | None = None
        # For each replica, the contexts that it is in alone.
        self._entered: list[list[_Resumed]] = [[] for _ in range(replicas)]

    @property
    def index(self) -> int:
        """See `Turns`."""
        return self._running

    def run(self, codes: Sequence[Callable[[], T]]) -> list[T]:
        """Runs the code of each replica, and returns what they return.

        Raises:
            BaseException: what the code of a replica raised first; the others have ended by then.
        """
        results: list[Any] = [None] * len(codes)

        def run(replica: int) -> None:
            try:
                with self._prepare():
                    if replica:
                        self._wait(replica)
                    results[replica] = codes[replica]()
                self._ended[replica] = True
                self._pass_on()
            except _Stopped:
                pass
            except BaseException as error:
                self._fail(replica, error)

        threads = [
            threading.Thread(
                target=functools.partial(contextvars.copy_context().run, run, replica),
                name=f"replica {replica}",
                daemon=True,
            )
            for replica in range(1, len(codes))
        ]
        for thread in threads:
            thread.start()
        run(0)
        if self._failed is None:
            try:
                self._over.acquire()
            except BaseException as error:
                self._fail(0, error)
        if self._failed is None or isinstance(self._failed[1], Exception):
            for thread in threads:
                thread.join()
        # Else somebody has interrupted them: one that never ends must not keep the caller waiting.
        if self._failed is not None:
            replica, error = self._failed
            if len(codes) > 1 and not isinstance(error, ReplicaContextError):
                error.add_note(f"Replica {replica} of {len(codes)} raised this, op by op.")
            raise error
        return results

    def exchange(self, name: str, values: Sequence[jax.Array]) -> list[Sequence[jax.Array]]:
        """See `Turns`.

        Raises:
            ReplicaContextError: JAX traces this code, or replicas have come to other places.
        """
        if any(isinstance(value, Tracer) for value in values):
            raise ReplicaContextError(
                f"The step runs op by op, and calls {name}{_at(_user_line())} inside a function that JAX traces "
                "(jax.jit, jax.vmap, a loop of jax.lax): there the code has no values that it could hand to the "
                "other replicas. Call it outside of that function; or, unless it is jax.vmap, run this one op by op, "
                "too: with jax.disable_jit(): ..."
            )
        replica = self._running
        if len(self._handed) == 1:
            return [values]
        self._handed[replica] = _Handed(name, _user_line(), values)
        self._pass_on()
        self._wait(replica)
        return self._every

    def adopt(self, variable: LibraryVariable, leave: Callable[[], None]) -> None:
        """See `Turns`."""
        self._adopt(variable, self._running, leave)

    @contextlib.contextmanager
    def while_running(self, make: _Make) -> Generator[None]:
        """See `Turns`."""
        entered = self._entered[self._running]
        own = _Resumed(make)
        own.resume()
        entered.append(own)
        try:
            yield
        finally:
            entered.pop()
            own.suspend()

    def _wait(self, replica: int) -> None:
        """Waits for the turn of a replica.

        Raises:
            _Stopped: another one has failed.
        """
        self._turn[replica].acquire()
        if self._failed is not None:
            raise _Stopped

    def _pass_on(self) -> None:
        """Gives the turn to the next replica; after the last one, all have what they wait for.

        Raises:
            ReplicaContextError: they have not come to the same place.
        """
        if self._failed is not None:
            raise _Stopped
        last = self._running
        following = last + 1
        if following == len(self._turn):
            if all(self._ended):
                self._over.release()
                return
            self._every = self._meet()
            following = 0
        for own in reversed(self._entered[last]):
            own.suspend()
        self._switch(last, following)
        self._running = following
        for own in self._entered[following]:
            own.resume()
        self._turn[following].release()

    def _meet(self) -> list[Sequence[jax.Array]]:
        """Takes what all have handed in."""
        found = [handed for handed in self._handed if handed is not None]
        names = {(one.name, len(one.values)) for one in found}
        if len(found) < len(self._handed) or len(names) > 1:
            places = [
                f"replica {index} {f'is in {one}' if one else 'has returned'}"
                for index, one in enumerate(self._handed)
            ]
            raise ReplicaContextError(
                f"Replicas wait for each other at different places: {', '.join(places)}. All replicas must come to "
                "the same collectives in the same order; look for an `if` or a loop that depends on a replica's own "
                "rows or index."
            )
        self._handed = [None] * len(self._handed)
        return [one.values for one in found]

    def _fail(self, replica: int, error: BaseException) -> None:
        """Ends all replicas."""
        if self._failed is None:
            self._failed = replica, error
            for turn in (*self._turn, self._over):
                turn.release()


def _user_line() -> str:
    """Finds the innermost line of the user's code that is running."""
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame.f_back is not None and not is_user_file(frame.f_code.co_filename):
        frame = frame.f_back
    file = frame.f_code.co_filename
    return f"{file}:{frame.f_lineno} ({frame.f_code.co_name})" if is_user_file(file) else ""


def _at(line: str) -> str:
    return f" at {line}" if line else ""
