"""Every recorded case of estimators, computed by ours: it agrees, or differs as stated here."""

import warnings

import keras  # noqa: F401 (here, because it sets environment variables, which no test may)
import pytest

from frontends import tf
from tests.golden import recording
from tests.golden.compare import short
from tests.golden.encoding import encode, outcome
from tests.golden.estimators import SCENARIOS
from tests.golden.estimators.compare import agrees
from tests.golden.scenarios.base import Setting

RECORDED = recording.load(recording.ESTIMATORS)
RUNS = [f"{one.name}@{setting}" for one in SCENARIOS.values() for setting in one.settings]
_FILES = "A checkpoint is a folder of its own format, and there is no graph to save."
_TPU_LOG = "A `TPUEstimator` logs losses without a TPU, too."
_EXPORT = "An export is a folder of its own format."
# Cases that differ, and why.
STATED = {
    "estimator.errors@none/wrong_mode": "A mode that is none is refused; TensorFlow does not look at it.",
    "estimator.errors@none/metric_of_numbers": (
        "A `TypeError` says what a metric is; TensorFlow fails by accident, with an `AttributeError`."
    ),
    "estimator.errors@none/scaffold_of_another_class": "There are no scaffolds: it is not looked at.",
    "estimator.errors@none/input_fn/nothing": (
        "A `ValueError` says what is expected; TensorFlow fails by accident, with a `TypeError`."
    ),
    "estimator.errors@none/estimator/overrides": "A subclass may override methods.",
    "estimator.steps@none/missing_variable": "What a checkpoint lacks is a `KeyError`.",
    "estimator.log@none/train_again": (
        "Values are restored before the hooks are made, and logged in this order."
    ),
    "estimator.train_and_evaluate@none/export/trained": _EXPORT,
    "estimator.programs@none/bert_classifier/losses": _TPU_LOG,
    "estimator.programs@none/host_call/losses": _TPU_LOG,
    "estimator.files@none/train": _FILES,
    "estimator.files@none/keep_two": _FILES,
    "estimator.files@none/evaluate": _FILES,
}
# Runs that take more than about three seconds.
SLOW = {
    "canned.combined@none",
    "canned.combined_v1@none",
    "canned.dnn@none",
    "canned.dnn_v1@none",
    "canned.heads@none",
    "canned.linear@none",
    "canned.linear_v1@none",
    "canned.multi_head@none",
    "estimator.network@none",
    "estimator.network@n2",
    "estimator.keras_layers@none",
    "estimator.keras_names@none",
    "estimator.keras_layers@n2",
    "estimator.layers@none",
    "estimator.metrics@none",
    "estimator.optimizers@none",
    "estimator.losses@none",
    "estimator.clipping@none",
    "estimator.rates@none",
    "estimator.several_losses@none",
    "estimator.errors@none",
    "estimator.hooks@none",
    "estimator.log@none",
    "estimator.files@none",
    "estimator.steps@none",
    "estimator.texts@none",
    "estimator.train_and_evaluate@none",
    "estimator.programs@none",
    "estimator.cells@none",
}


def _differing(run):
    """Computes the cases of a run; gives a text for each that does not agree as it should, and their names."""
    scenario, _, setting = run.partition("@")
    wrong, cases = [], set()
    for case, thunk in SCENARIOS[scenario].cases(Setting(tf, setting)):
        cases.add(case)
        name = f"{run}/{case}"
        ours, theirs = encode(outcome(thunk), tf), RECORDED[run][case]
        if agrees(case, ours, theirs) == (name in STATED):
            words = "agrees, but is stated to differ: " + STATED[name] if name in STATED else ""
            wrong.append(f"{name} {words}\n    TensorFlow {short(theirs)}\n    ours {short(ours)}")
    return wrong, cases


@pytest.mark.parametrize(
    "run",
    [pytest.param(run, marks=pytest.mark.slow if run in SLOW else ()) for run in RUNS],
)
def test_recorded_cases(run):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # programs that are compiled often
        wrong, cases = _differing(run)
    assert cases == RECORDED[run].keys(), "record anew: make golden-estimators"
    assert not wrong, "\n" + "\n".join(wrong)


def test_what_is_stated_is_recorded():
    cases = {f"{run}/{case}" for run in RUNS for case in RECORDED[run]}
    assert STATED.keys() <= cases
    assert set(RUNS) >= SLOW
