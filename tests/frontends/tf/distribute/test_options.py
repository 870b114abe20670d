"""Options of strategies are checked when they are made."""

import pytest

from frontends import tf


def test_options_are_checked():
    options = tf.distribute.experimental.CommunicationOptions(implementation="ring")
    assert options.implementation.name == "RING"
    with pytest.raises(ValueError, match="bytes_per_pack"):
        tf.distribute.experimental.CommunicationOptions(bytes_per_pack=-1)
    with pytest.raises(ValueError, match="bytes_per_pack"):
        tf.distribute.experimental.CollectiveHints(bytes_per_pack=-1)
    with pytest.raises(ValueError, match="SOCKETS"):
        tf.distribute.experimental.CommunicationOptions(implementation="sockets")


def test_hints_have_no_compression():
    hints = tf.distribute.experimental.CollectiveHints()
    assert not hasattr(hints, "compression")
    assert not hints.collectives.compression
