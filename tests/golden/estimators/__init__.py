"""Estimators as TensorFlow 2.15, the last release that has them, runs them: `make golden-estimators`.

The scenarios are written as those of `tests.golden.scenarios` are, once for both front ends. They have a register and
data (`data/estimators`) of their own, since another TensorFlow computes them.
"""

from tests.golden.estimators import (
    canned,
    canned_heads,
    cells,
    custom,
    errors,
    exporting,
    hooks,
    keras_layers,
    logs,
    metrics,
    options,
    programs,
    steps,
    texts,
)
from tests.golden.estimators.base import SCENARIOS

__all__ = [
    "SCENARIOS",
    "canned",
    "canned_heads",
    "cells",
    "custom",
    "errors",
    "exporting",
    "hooks",
    "keras_layers",
    "logs",
    "metrics",
    "options",
    "programs",
    "steps",
    "texts",
]
