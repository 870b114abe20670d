"""How ours is held to the recording: `differing(SCENARIOS[...], setting, tf)` says where it gives something else.

Numbers of SGD agree to 1e-5, as everywhere; those of other optimizers, whose steps divide by small numbers, to 1e-4.
"""

from typing import Any

from tests.golden import recording
from tests.golden.compare import same, short
from tests.golden.encoding import encode, outcome
from tests.golden.scenarios.base import Scenario, Setting

# A number that is left of sums which cancel, such as a bias, keeps their roundings: a quarter of those of 1.
_FLOOR = 3e-8


def tolerance(case: str) -> float:
    """By which part of a number a case may differ."""
    return 1e-5 if "sgd" in case else 1e-4


def agrees(case: str, ours: Any, theirs: Any) -> bool:
    """Tells whether ours gives in a case what TensorFlow does; a text of an error may be another."""
    return same(ours, theirs, tolerance(case), _FLOOR)


def differing(scenario: Scenario, setting: str, tf: Any, words: tuple[str, ...] = ()) -> list[str]:
    """Runs a scenario's cases and says which differ from the recording.

    Args:
        scenario: of `tests.golden.estimators`.
        setting: one of its settings.
        tf: our front end.
        words: chooses cases by parts of their names; none of them, all.

    Returns:
        A text of three lines for each: its name, TensorFlow's result, ours.
    """
    name = f"{scenario.name}@{setting}"
    recorded = recording.load(recording.ESTIMATORS)[name]
    wrong = []
    for case, thunk in scenario.cases(Setting(tf, setting)):
        if words and not any(word in case for word in words):
            continue
        ours = encode(outcome(thunk), tf)
        if not agrees(case, ours, recorded[case]):
            wrong.append(
                f"{name}/{case}\n    TensorFlow {short(recorded[case])}\n    ours {short(ours)}"
            )
    return wrong
