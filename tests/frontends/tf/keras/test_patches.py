"""Every row of the front end's table of changes to Keras."""

import keras
import pytest

from frontends import tf
from frontends.tf.keras import _patches
from spmd.integrations.keras import applied_patches, patch_keras
from tests.spmd.integrations.keras.rows import check_row


def key(patch):
    return patch.owner, patch.attribute, patch.why


OURS = {key(patch) for patch in _patches.patches()}
ROWS = [applied for applied in applied_patches() if key(applied.patch) in OURS]


def test_all_rows_are_applied_once():
    before = applied_patches()
    assert len(ROWS) == len(OURS) == len(_patches.patches())
    patch_keras(_patches.patches())
    assert applied_patches() == before


@pytest.mark.parametrize("applied", ROWS, ids=lambda applied: applied.patch.name)
def test_keras_is_as_a_row_assumes_and_the_row_is_in_place(applied):
    check_row(applied)


def test_keras_has_what_the_rows_say():
    assert tf.keras.Variable is keras.Variable
    assert keras.optimizers.SGD(lr=0.5).lr == 0.5
    assert keras.Variable(1.0).read_value() == 1.0


ALL_OR_NONE = """
import inspect
import keras
before, add = keras.Layer.add_weight, keras.Sequential.add
value = keras.Variable.value
del keras.Sequential.add
try:
    from frontends import tf
except AttributeError:
    assert keras.Layer.add_weight is before
    assert keras.Variable.value is value, "the engine's rows are not made either"
    keras.Sequential.add = add
    from frontends import tf
    assert inspect.unwrap(tf.keras.layers.Layer.add_weight) is before
    print("made the second time")
"""


def test_changes_are_made_all_or_none(run_python):
    environment = {"KERAS_BACKEND": "jax"}
    # -B: one that starts with its imports made has a Keras that was changed.
    done = run_python("-B", "-c", ALL_OR_NONE, environment=environment)
    assert done.stdout == "made the second time\n"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: keras.Sequential().save(), r"Model\.save\(\) missing"),
        (lambda: keras.losses.Loss()(1), r"Loss\.__call__\(\) missing"),
        (lambda: keras.Layer(make=1), "Unrecognized keyword arguments passed to Layer"),
        (lambda: keras.Layer().add_weight((), add=1), "unexpected keyword argument 'add'"),
    ],
)
def test_errors_of_wrong_calls_are_those_of_keras(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()
