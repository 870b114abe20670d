"""Python state in checkpoints."""

import json

import numpy as np
import pytest

from frontends import tf


class Seen(tf.train.experimental.PythonState):
    """Words, which are saved as text or as bytes."""

    def __init__(self, *words, to=str):
        self.words, self.to, self.got = list(words), to, None

    def serialize(self):
        text = json.dumps(self.words)
        return text.encode() if self.to is bytes else text if self.to is str else self.words

    def deserialize(self, string_value):
        self.got = type(string_value)
        self.words = json.loads(string_value)


@pytest.mark.parametrize("to", [str, bytes])
def test_what_was_serialized_comes_back_as_bytes(tmp_path, to):
    path = tf.train.Checkpoint(seen=Seen("one", "two", to=to)).save(tmp_path / "ckpt")
    seen = Seen()
    tf.train.Checkpoint(seen=seen).restore(path).assert_consumed()
    assert (seen.words, seen.got) == (["one", "two"], bytes)


def test_a_module_keeps_it_beside_its_variables(tmp_path):
    class Agent(tf.Module):
        def __init__(self, *words):
            super().__init__()
            self.seen, self.steps = Seen(*words), tf.Variable(float(len(words)))

    path = tf.train.Checkpoint(agent=Agent("one")).save(tmp_path / "ckpt")
    agent = Agent()
    tf.train.Checkpoint(agent=agent).restore(path).assert_consumed()
    assert agent.seen.words == ["one"]
    np.testing.assert_array_equal(agent.steps, 1)


def test_an_attribute_that_is_set_after_restoring_gets_it(tmp_path):
    path = tf.train.Checkpoint(seen=Seen("one")).save(tmp_path / "ckpt")
    checkpoint = tf.train.Checkpoint()
    checkpoint.restore(path)
    checkpoint.seen = Seen()
    assert checkpoint.seen.words == ["one"]


def test_other_values_than_text_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"Seen\.serialize\(\) returned a list"):
        tf.train.Checkpoint(seen=Seen("one", to=list)).save(tmp_path / "ckpt")


def test_both_methods_have_to_be_written():
    with pytest.raises(TypeError, match="abstract"):
        tf.train.experimental.PythonState()


def test_a_module_is_no_state_as_a_whole(tmp_path):
    class Both(Seen, tf.Module):
        pass

    with pytest.raises(ValueError, match="Make the state an attribute of the module"):
        tf.train.Checkpoint(both=Both()).save(tmp_path / "ckpt")
