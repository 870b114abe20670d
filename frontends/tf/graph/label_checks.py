"""Checks of labels that only a running step can make: what a step finds is an output of it."""

import dataclasses
from collections.abc import Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from frontends.tf._valid_rows import valid
from frontends.tf.graph.graph import current_graph
from spmd import _jax_internals


@dataclasses.dataclass(frozen=True, eq=False)
class LabelCheck:
    """The range that the labels of a step must be in, and that they are in.

    Attributes:
        found: the smallest and the largest label of one replica, `[2]`; infinite without any.
        last: the largest that is allowed; the smallest is 0.
        too_small: what to say of labels below 0.
        too_large: what to say of labels above `last`.
        remedy: a sentence.
    """

    found: jax.Array
    last: float
    too_small: str
    too_large: str
    remedy: str

    def problem(self, ranges: Iterable[Any]) -> str | None:
        """Says what is wrong, if anything is.

        Args:
            ranges: values of `found`, of replicas or of steps.
        """
        some = np.stack([np.asarray(one) for one in ranges])
        smallest, largest = some[:, 0].min(), some[:, 1].max()
        if smallest >= 0 and largest <= self.last:
            return None
        rule = self.too_small if smallest < 0 else self.too_large
        return f"{rule}, but are from {smallest:g} to {largest:g}. {self.remedy}"


def range_of(labels: jax.Array) -> jax.Array:
    """Returns the smallest and the largest label, as `LabelCheck.found`; padding does not count.

    Args:
        labels: numbers, of any shape.
    """
    numbers, kept = labels.astype(jnp.float32), valid(labels)
    return jnp.stack(
        [
            jnp.min(jnp.where(kept, numbers, jnp.inf), initial=jnp.inf),
            jnp.max(jnp.where(kept, numbers, -jnp.inf), initial=-jnp.inf),
        ]
    )


def label_checks() -> list[LabelCheck]:
    """Returns the checks of the model function that is traced, a list to change; elsewhere nobody would look at it."""
    graph = current_graph()
    return [] if graph is None else graph.label_checks


def note_check(check: LabelCheck) -> None:
    """Takes note of a check, if the step has an output of it: in a loop or a branch it has none."""
    graph = current_graph()
    if graph is None or not isinstance(check.found, Tracer):
        return
    if graph.trace == _jax_internals.trace_state():
        graph.label_checks.append(check)
