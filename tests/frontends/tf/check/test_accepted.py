"""Options that are accepted as a whole exist."""

from frontends.tf.check.accepted import ACCEPTED, Accepted
from frontends.tf.check.names import find


def test_every_option_is_a_name():
    for one in ACCEPTED:
        assert one.names or one.text
        assert not any(find(name).is_missing for name in one.names), one


def test_how_options_are_written():
    assert str(Accepted(("tf.a", "tf.b"), "x")) == "`tf.a`, `tf.b`"
    assert str(Accepted(("tf.a",), "x", ("p", "q"))) == "`tf.a(p=, q=)`"
    assert str(Accepted(("tf.a",), "x", text="all")) == "all"
