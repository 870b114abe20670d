"""The scenarios, by what they are about."""

from tests.golden.scenarios import (
    arguments,
    autograph,
    checkpoints,
    clusters,
    contexts,
    fitting,
    functional,
    inputs,
    losses,
    modules,
    replica_values,
    run_reduce,
    tensors,
    training,
    uneven,
    variables,
)
from tests.golden.scenarios.base import SCENARIOS, Scenario, Setting

__all__ = [
    "SCENARIOS",
    "Scenario",
    "Setting",
    "arguments",
    "autograph",
    "checkpoints",
    "clusters",
    "contexts",
    "fitting",
    "functional",
    "inputs",
    "losses",
    "modules",
    "replica_values",
    "run_reduce",
    "tensors",
    "training",
    "uneven",
    "variables",
]
