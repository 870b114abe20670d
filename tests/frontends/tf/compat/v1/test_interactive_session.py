"""A session that is made for its configuration alone."""

import pytest

from frontends import tf
from frontends.tf.compat.v1 import ConfigProto, InteractiveSession


def test_a_script_that_only_configures_goes_on():
    config = ConfigProto()
    config.gpu_options.allow_growth = True
    session = InteractiveSession(config=config)
    assert float(tf.reduce_sum([1.0, 2.0])) == 3
    session.close()


def test_it_runs_nothing():
    with pytest.raises(NotImplementedError, match=r"@tf\.function"):
        InteractiveSession().run(tf.constant(1.0), {})
