"""The rules by which parameter servers update values, compiled."""

import threading
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from spmd.state import SparseRows
from spmd.typing import PyTree

Array: TypeAlias = np.ndarray[Any, Any]


class Rule(Protocol):
    """How an optimizer makes a new value of a gradient; runs compiled, where the value lives.

    Attributes:
        key: tells rules apart, on all machines.
    """

    key: str

    def slots(self, value: Array) -> list[Array]:
        """Returns what the rule keeps beside a value, at its start."""
        ...

    def update(
        self, value: jax.Array, slots: list[jax.Array], operand: PyTree
    ) -> tuple[jax.Array, list[jax.Array]]:
        """Returns the new value and slots; traced by `jax.jit`.

        Args:
            value: the value.
            slots: those of the value.
            operand: tuple of the gradient, of the shape of the value, and of arrays that are the same for all rows.
        """
        ...

    def is_by_row(self, value: Array) -> bool:
        """Tells whether a row and its slots change only by its own gradient, and not at all if that is zero."""
        ...


class Job(NamedTuple):
    """One value that a rule is to update.

    Attributes:
        rule: its key.
        value: the value.
        slots: those of the value.
        operand: see `Rule.update`; the gradient may be `SparseRows`, which is added to zeros.
    """

    rule: str
    value: Array
    slots: Sequence[Array]
    operand: PyTree


class Rules:
    """Rules by key; safe to use from several threads.

    Examples:
        >>> import numpy as np
        >>> from spmd.servers.rules import Job, Rules
        >>> class Sgd:
        ...     key = "sgd"
        ...
        ...     def update(self, value, slots, operand):
        ...         return value - operand[0], slots
        >>> rules = Rules()
        >>> rules.add([Sgd()])
        >>> rules.run([Job("sgd", np.ones(2, np.float32), [], (np.ones(2, np.float32),))])
        [(array([0., 0.], dtype=float32), [])]
    """

    def __init__(self) -> None:
        self._rules: dict[str, Rule] = {}
        # By the rules of the jobs that a program does.
        self._programs: dict[tuple[str, ...], Any] = {}
        self._lock = threading.Lock()

    def add(self, rules: Sequence[Rule]) -> None:
        """Takes rules in; those that are known already stay."""
        with self._lock:
            for rule in rules:
                self._rules.setdefault(rule.key, rule)

    def forget_programs(self, key: str) -> None:
        """Drops what was compiled for a rule; the rule stays, as those who know it do not send it again."""
        with self._lock:
            self._programs = {keys: one for keys, one in self._programs.items() if key not in keys}

    def get(self, key: str) -> Rule | None:
        """Returns a rule, if there is one of this key."""
        return self._rules.get(key)

    def __getitem__(self, key: str) -> Rule:
        return self._rules[key]

    def run(self, jobs: Sequence[Job]) -> list[tuple[Array, list[Array]]]:
        """Updates values by one program on the processor, which is compiled for their rules, shapes and types.

        Returns:
            The new value and slots of each job, which cannot be written: they are XLA's memory.
        """
        program = self._program(tuple(job.rule for job in jobs))
        with jax.default_device(jax.local_devices(backend="cpu")[0]):
            results = program([(job.value, list(job.slots), job.operand) for job in jobs])
        return [(np.asarray(value), list(map(np.asarray, slots))) for value, slots in results]

    def _program(self, keys: tuple[str, ...]) -> Any:
        program = self._programs.get(keys)
        if program is None:
            with self._lock:
                rules = [self._rules[key] for key in keys]
                program = self._programs.setdefault(keys, jax.jit(_of_all(rules)))
        return program


def _of_all(rules: Sequence[Rule]) -> Any:
    def update(jobs: Sequence[tuple[jax.Array, list[jax.Array], PyTree]]) -> Any:
        return [
            rule.update(value, slots, _dense(value, operand))
            for rule, (value, slots, operand) in zip(rules, jobs, strict=True)
        ]

    return update


def _dense(value: jax.Array, operand: PyTree) -> PyTree:
    """Gives a gradient the shape of the value."""
    gradient, *others = operand
    if isinstance(gradient, SparseRows):
        rows: Any = jnp.zeros_like(value).at[gradient.indices]
        gradient = rows.add(gradient.values, mode="drop", unique_indices=True)
    return gradient, *others
