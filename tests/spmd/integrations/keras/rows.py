"""What tests check of each change to Keras, the engine's and the front end's."""

import inspect

import keras

from spmd.integrations.keras import applied_patches


def check_row(applied):
    """Checks that Keras has the attribute as the row assumes, and that the row's value is in place."""
    patch = applied.patch
    owner, attribute = patch.owner, patch.attribute
    assert patch.why
    assert patch.applies_to(keras.__version__)
    if patch.kind == "add":
        assert not any(attribute in vars(base) for base in owner.__mro__[1:]), "Keras has it now"
    elif patch.takes is None:
        assert applied.before is not None
        assert not inspect.isfunction(applied.before), "the row says nothing of what it takes"
    else:
        parameters = tuple(inspect.signature(applied.before).parameters)
        assert parameters[: len(patch.takes)] == patch.takes
    same = [
        other
        for other in applied_patches()
        if (other.patch.owner, other.patch.attribute) == (owner, attribute)
    ]
    later = same[same.index(applied) + 1 :]
    found = later[0].before if later else vars(owner)[attribute]
    assert found is applied.after
    assert found is not applied.before
