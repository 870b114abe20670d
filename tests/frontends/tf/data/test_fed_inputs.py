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


def test_what_is_fed_gets_the_dtype_of_the_placeholder():
    assert FedInput.fed(np.uint8([[200]]), [None, 1], "float32").dtype == np.float32
    assert FedInput.fed(["a"], None, "string").tolist() == ["a"]
    with pytest.raises(ValueError, match=r"shape \(1, 2\) for a placeholder of shape \(None, 3\)"):
        FedInput.fed([[1, 2]], [None, 3], "int32")
    with pytest.raises(ValueError, match=r"shape \(2,\) for a placeholder of shape \(\)"):
        FedInput.fed([1, 2], [], "int32")


def test_arrays_are_keys_by_identity():
    one, other = FedInput.of([1, 2]), FedInput.of([1, 2])
    assert {one: 3, other: 4}[one] == 3
    assert (one + 1).tolist() == [2, 3]
    assert FedInput.zeros([None, 2], "int32").dtype == np.int32
