"""Which functions share a compiled step: those that do the same, and no others."""

import types

from frontends import tf
from spmd.step.function_key import function_key

SOURCE = "def step():\n    return v.assign_add(1.0)\n"


def test_the_same_text_in_two_modules_is_two_functions():
    modules = [types.ModuleType(name) for name in ("first", "second")]
    for module in modules:
        module.v = tf.Variable(0.0)
        exec(compile(SOURCE, "step.py", "exec"), vars(module))
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    for module in modules:
        strategy.run(module.step)
    assert [float(module.v) for module in modules] == [1, 1]


def test_numbers_that_are_equal_but_not_the_same():
    def make(number):
        return lambda: number

    keys = [function_key(make(number)) for number in (0.0, -0.0, 0, False)]
    assert len(set(keys)) == 4
    assert function_key(make(1.5)) == function_key(make(1.5))
