"""Which functions are converted when they are called."""

import functools

import pytest

from frontends import tf
from tests.frontends.tf.autograph.helpers import both


def positive(x):
    return x if x > 0 else -x


def test_functions_methods_partials_and_callables() -> None:
    class Scale:
        def __init__(self, by):
            self.by = by

        def __call__(self, x):
            return self.times(x) if x > 0 else x

        def times(self, x):
            if self.by > 0 and x > 1:
                x = x * self.by
            return x

        @staticmethod
        def half(x):
            return x / 2 if x > 1 else x

        @classmethod
        def of(cls, x):
            return cls(2)(x) if x < 10 else x

    def run(x):
        inner = lambda y: y + 1 if y > 5 else y  # noqa: E731
        scale = Scale(3)
        return [
            positive(x),
            functools.partial(positive)(x=x),
            scale(x),
            scale.half(x),
            Scale.of(x),
            inner(x),
            list(map(inner, [x])),
        ]

    assert both(run, 4.0) == [4, 4, 12, 2, 8, 4, [4]]
    assert both(run, -6.0) == [6, 6, -6, -6, -6, -6, [-6]]


def test_super_and_closures() -> None:
    class Base:
        def shift(self, x):
            return x + 1 if x > 0 else x

    class Derived(Base):
        def shift(self, x):
            return super().shift(x) * 10

    def run(x):
        offset = 1.0

        def add(y):
            nonlocal offset
            if y > 0:
                offset = offset + 1.0
            return y + offset

        return Derived().shift(x), add(x), offset

    assert both(run, 2.0) == (30, 4, 2)
    assert both(run, -2.0) == (-20, -1, 1)


def test_libraries_and_what_has_no_source_run_as_they_are() -> None:
    namespace = {}
    exec("def from_text(x):\n    return x + 1", namespace)

    def run(x):
        return namespace["from_text"](x) + tf.nn.relu(x)

    assert both(run, 2.0) == 5


def test_functions_are_left_alone_on_request() -> None:
    @tf.autograph.experimental.do_not_convert
    def python(x):
        return 1 if x > 0 else 2

    def calls_it(x):
        return python(x)

    for function in (
        tf.function(positive, autograph=False),
        tf.function(python),
        tf.function(calls_it),
        tf.function(autograph=False)(calls_it),
    ):
        with pytest.raises(Exception, match="needs to know whether a tensor is true"):
            function(tf.constant(1.0))


def test_generators_run_as_they_are() -> None:
    def numbers():
        yield 1
        yield 2

    def run(x):
        total = x
        for n in numbers():
            total += n
        return total

    assert both(run, 1.0) == 4


def test_code_that_is_made_anew_is_converted_once() -> None:
    from frontends.tf.autograph import conversion

    def make(scale):
        def scaled(x):
            return x * scale if x > 0 else x

        return scaled

    before = len(conversion._FACTORIES)
    assert [both(make(k), 2.0) for k in (1.0, 2.0, 3.0)] == [2, 4, 6]
    assert len(conversion._FACTORIES) == before + 1


def test_wrappers_of_this_package_are_not_converted() -> None:
    from frontends.tf.autograph import conversion

    def run(x):
        return tf.math.add(tf.nn.relu(x), tf.tanh(x))

    before = set(conversion._FACTORIES)
    both(run, 1.0)
    converted = {code.co_filename for code in set(conversion._FACTORIES) - before}
    assert converted == {__file__}


def test_a_function_of_the_user_that_wraps_one_of_a_library_is_converted() -> None:
    @functools.wraps(tf.nn.relu)
    def run(x):
        return tf.nn.relu(x) if x > 1 else -x

    assert [both(run, x) for x in (2.0, -2.0)] == [2.0, 2.0]
