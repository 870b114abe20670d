"""Names of `tf.distribute` that are planned say so."""

import pytest

from frontends import tf


@pytest.mark.parametrize(
    "name",
    ["TPUStrategy", "experimental.ParameterServerStrategy"],
)
def test_planned_names_say_so(name):
    owner = tf.distribute
    *path, last = name.split(".")
    for part in path:
        owner = getattr(owner, part)
    with pytest.raises(AttributeError, match="is planned, with support for clusters"):
        getattr(owner, last)
