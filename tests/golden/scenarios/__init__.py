"""The scenarios, by what they are about."""

from tests.golden.scenarios import (
    checkpoints,
    clusters,
    contexts,
    fitting,
    inputs,
    losses,
    run_reduce,
    training,
    variables,
)
from tests.golden.scenarios.base import SCENARIOS, Scenario, Setting

__all__ = [
    "SCENARIOS",
    "Scenario",
    "Setting",
    "checkpoints",
    "clusters",
    "contexts",
    "fitting",
    "inputs",
    "losses",
    "run_reduce",
    "training",
    "variables",
]
