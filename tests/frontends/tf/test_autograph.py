"""`tf.autograph` leaves functions as they are."""

from frontends import tf


def test_functions_are_not_converted():
    def double(x):
        return 2 * x

    assert tf.autograph.experimental.do_not_convert(double) is double
    assert tf.autograph.experimental.do_not_convert()(double) is double
    assert tf.autograph.set_verbosity(3) is None
