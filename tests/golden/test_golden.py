"""Every recorded case, computed by ours: it matches, or differs as stated in `differences.toml`."""

import warnings
from collections import Counter
from fnmatch import fnmatch

import keras  # noqa: F401 (here, because it sets environment variables, which no test may)
import pytest

from frontends import tf
from tests.golden import differences, recording
from tests.golden.compare import is_numeric, matches, same, short
from tests.golden.encoding import encode, outcome
from tests.golden.scenarios import SCENARIOS, Setting

RECORDED = recording.load()
STATED = differences.load()
RUNS = [f"{one.name}@{setting}" for one in SCENARIOS.values() for setting in one.settings]
# Two replicas, and no strategy, show every day what the other settings show again.
QUICK = ("none", "n2", "default")
# Their cases take seconds each: two replicas are enough every day.
LONG = ("fit.", "train.", "loss.keras")
# Cases that show again, with another setting, what other cases of the quick part show.
REPEATED = {
    # train.optimizers has optimizers; weights, classes and datasets have a case each.
    "fit.even": (
        *("momentum", "adam", "rmsprop", "clipnorm", "learning_rate", "dataset_*", "steps_per_*"),
        *("class_weight", "validation_split", "validation_freq", "validation_weights"),
        *("model_made_outside", "stopped_early"),
    ),
    "fit.uneven": ("13_in_5", "9_in_8"),
    "fit.evaluate": ("16_in_5", "13_in_5", "1_in_8"),
    "fit.predict": ("16_in_3", "13_in_3", "1_in_8"),
    "train.optimizers": (
        *(
            "*_defaults",
            "*_amsgrad",
            "*_centered",
            "legacy_*",
            "nesterov",
            "adamax",
            "nadam",
            "ftrl",
        ),
        *(
            "adadelta",
            "clipvalue",
            "staircase",
            "piecewise",
            "cosine",
            "polynomial",
            "inverse_time",
        ),
    ),
    # Momentum has all ways to look rows up; a few optimizers of each kind are enough.
    "looked_up_rows.training": (
        *(
            "gradient_descent",
            "nesterov",
            "adam_epsilon",
            "adagrad_start",
            "rmsprop",
            "rmsprop_momentum",
        ),
        *("adadelta", "ftrl_*", "proximal_*", "*/gather", "*/max_norm", "*/twice", "*/identity"),
        *(
            "*/scaled",
            "*/scalar_mul",
            "*/all_reduced",
            "*/clip_by_value",
            "momentum/*/clip_by_norm",
        ),
        "adagrad/*/clip_by_global_norm",
    ),
    "columns.input_layer": ("embedding/*", "combiner/*", "shared_named", "indicator/index"),
    "columns.buckets": ("*_3", "*_1", "numbers_int32", "file_part"),
    "columns.crosses": ("two_in_few", "two_with_key", "with_column_first"),
    # The same key or the same function of JAX behind each; a few of each kind are enough.
    "draws.functions": (
        *("stateless_*", "numpy/*", "poisson*", "gamma*", "dropout*", "log_uniform"),
        *("shuffle", "index_shuffle"),
    ),
    "draws.generator": ("binomial", "map", "*/moments", "truncated", "split/different", "restored"),
    "numpys.each": tuple(f"[{first}]*" for first in "abcdefghijklnopqrstuv"),
    "numpys.others": tuple(f"[{first}]*" for first in "bcdefghijlpqrstvw"),
    "functions.special": ("special/*", "slope/*", "betainc", "zeta", "polygamma", "cumulative*/*"),
    "functions.matrices": ("banded*", "tridiagonal_*/*", "slope/*", "logm", "lu_*", "eigh_*"),
    "functions.windows": ("*/2", "*/3", "*3d*", "pool/*", "*/batch", "*/rates", "slope/*"),
    "functions.signals": ("*/[34]", "*/ortho", "inverse_*/*", "slope/*", "mel/*", "wav/*"),
    "functions.places": ("*/int64", "*/ints", "histogram/default", "unravel_index/scalar"),
    "functions.losses": ("ctc_*/*", "slope/*", "*/shift", "*/keep"),
    "various.operations": ("project/[RWN]*", "*/NEAREST", "suppress/5/*", "suppress/3"),
    # The first is another name of the same layer.
    "train.batchnorm": ("experimental_synchronized/*", "*/full/*"),
    "eagerly.state": ("trained/momentum/*", "trained/adam/16", "trained/sgd/16"),
}


def runs():
    """Parameters: which cases of a scenario run in a setting, whether the repeated ones or the others."""
    for name in RUNS:
        scenario, _, setting = name.partition("@")
        slow = setting not in QUICK or (scenario.startswith(LONG) and setting != "n2")
        yield pytest.param(name, False, id=name, marks=pytest.mark.slow if slow else ())
        if scenario in REPEATED:
            yield pytest.param(name, True, id=f"{name}-repeated", marks=pytest.mark.slow)


def run(name, repeated):
    """What ours gives for each chosen case of a scenario in a setting; the names of all its cases."""
    scenario, _, setting = name.partition("@")
    found, cases = {}, set()
    for case, thunk in SCENARIOS[scenario].cases(Setting(tf, setting)):
        cases.add(case)
        if any(fnmatch(case, one) for one in REPEATED.get(scenario, ())) == repeated:
            found[case] = encode(outcome(thunk), tf)
    return found, cases


@pytest.mark.parametrize(("name", "repeated"), list(runs()))
def test_recorded_cases(name, repeated):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # programs that are compiled often
        ours, cases = run(name, repeated)
    recorded = RECORDED[name]
    assert cases == recorded.keys(), "record anew: make golden"
    assert ours
    wrong = []
    for case, result in ours.items():
        full = f"{name}/{case}"
        stated = differences.find(STATED, full)
        agrees = same(result, recorded[case])
        if stated is None and not agrees:
            wrong.append(
                f"{full}\n    TensorFlow {short(recorded[case])}\n    ours {short(result)}"
            )
        elif stated is not None and agrees:
            wrong.append(f"{full}\n    no longer differs, but is stated to: {stated.title}")
        elif stated is not None and not stated.holds(full, result):
            wrong.append(f"{full}\n    is stated to be other than {short(result)}: {stated.title}")
    assert not wrong, "\n" + "\n".join(wrong)


def test_every_recording_has_a_scenario_and_every_difference_a_case():
    assert set(RECORDED) == set(RUNS)
    cases = [f"{name}/{case}" for name, found in RECORDED.items() for case in found]
    for one in STATED:
        for pattern in (*one.cases, *(one.results or {})):
            assert any(matches(pattern, case) for case in cases), (one.title, pattern)


def test_few_numbers_differ():
    counts = Counter()
    for name, found in RECORDED.items():
        for case, result in found.items():
            if is_numeric(result):
                counts[differences.find(STATED, f"{name}/{case}") is not None] += 1
    assert counts[True] < 0.05 * counts.total()


def test_another_error_of_the_stated_class_does_not_hold():
    stated = differences.Difference(
        "t", "t", ("*",), "o", "w", error="ValueError", message="no axis 2"
    )
    error = {"error": "BatchError", "bases": ["SpmdError", "ValueError"]}
    assert stated.holds("case", error | {"message": "There is no axis 2: there are 2."})
    assert not stated.holds("case", error | {"message": "The batch is empty."})


@pytest.mark.parametrize("stated", [{}, {"error": "ValueError"}, {"value": "1", "message": "no"}])
def test_a_difference_states_one_result(stated):
    with pytest.raises(ValueError, match="t: state"):
        differences.Difference("t", "t", ("*",), "o", "w", **stated)


def test_a_number_may_differ_by_rounding_only():
    def array(*values):
        return {"dtype": "float32", "shape": [len(values)], "value": list(values)}

    assert same(array(1.0, 1e-8), array(1.0, 0.0))
    assert not same(array(1.0, 1e-6), array(1.0, 0.0))
    assert same(1.000009, 1.0)
    assert not same(1e-8, 2e-8)
