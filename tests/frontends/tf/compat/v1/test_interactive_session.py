"""A session that is made for its configuration alone."""

import pytest

from frontends import tf
from frontends.tf.check.versions import uses_in_its_version
from frontends.tf.compat.v1 import ConfigProto, InteractiveSession


def test_a_script_that_only_configures_goes_on():
    config = ConfigProto()
    config.gpu_options.allow_growth = True
    session = InteractiveSession(config=config)
    assert float(tf.reduce_sum([1.0, 2.0])) == 3
    session.close()


def test_it_runs_nothing():
    with pytest.raises(AttributeError, match=r"InteractiveSession\.run .*@tf\.function"):
        InteractiveSession().run(tf.constant(1.0), {})


def test_check_says_so_of_a_graph_script():
    text = (
        "import tensorflow as tf\nsess = tf.InteractiveSession()\nprint(sess.run(x))\nsess.close()"
    )
    missing = [
        use.found.path for use in uses_in_its_version(text).uses if use.found.kind == "missing"
    ]
    assert missing == ["tf.compat.v1.InteractiveSession.run"]
