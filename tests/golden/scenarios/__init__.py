"""The scenarios, by what they are about."""

from tests.golden.scenarios import (
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
    "contexts",
    "fitting",
    "inputs",
    "losses",
    "run_reduce",
    "training",
    "variables",
]
