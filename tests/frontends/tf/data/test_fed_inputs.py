"""What hooks feed to an `input_fn`."""

import numpy as np
import pytest

from frontends.tf.data.fed_inputs import (
    FedInput,
    Initializer,
    InputSession,
    NotYetError,
    initializes,
)


def test_a_session_takes_what_is_fed():
    placeholders = [FedInput.zeros([None, 3], "float32"), FedInput.zeros([None], "string")]
    session = InputSession(placeholders)
    session.run([Initializer()], {placeholders[1]: ["a"], FedInput.of([1]): [2]})
    assert session.fed == {1: ["a"]}
    with pytest.raises(NotYetError):
        session.run("loss")
    with pytest.raises(NotYetError, match="no graph"):
        _ = session.graph
    assert not initializes([])


def test_arrays_are_keys_by_identity():
    one, other = FedInput.of([1, 2]), FedInput.of([1, 2])
    assert {one: 3, other: 4}[one] == 3
    assert (one + 1).tolist() == [2, 3]
    assert FedInput.zeros([None, 2], "int32").dtype == np.int32
