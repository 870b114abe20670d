"""What hooks get in place of a session."""

import numpy as np
import pytest

from frontends import tf
from tests.frontends.tf.estimator.models import data, linear


class Looking(tf.estimator.SessionRunHook):
    """Reads variables when they have their values, and asks for what there is not."""

    def after_create_session(self, session, coord):
        variables = session.graph.store.variables
        self.found = session.run({"w": variables["dense/kernel"], "names": "dense/bias"})
        with pytest.raises(ValueError, match=r"session.run\(feed_dict=...\) needs placeholders"):
            session.run([], feed_dict={1: 2})
        with pytest.raises(ValueError, match="'x' is neither a variable nor a tensor"):
            session.run("x")


def test_variables_are_read(tmp_path):
    hook = Looking()
    tf.estimator.Estimator(linear, tmp_path, params={"rate": 0.1}).train(data(), hooks=[hook])
    assert hook.found == {"w": np.ones((1, 1)), "names": np.zeros(1)}
