"""Python's control flow on tensors: in functions, in replicas, and with gradients."""

from collections.abc import Callable, Iterator
from typing import Any

from tests.golden.scenarios.base import Case, Setting, scenario, slope_of

GROUP = "autograph"
SETTINGS = ("one_device", "n2", "n4")


def _programs(tf: Any) -> dict[str, tuple[Callable[..., Any], list[Any]]]:
    """Functions of one tensor, and what they are called with."""

    def if_else(x):
        if x > 1.0:
            y = x * 2.0
        else:
            y = -x
        return y

    def elif_chain(x):
        if x > 10.0:
            return x * 1.0
        elif x > 5.0:
            return x * 2.0
        elif x > 0.0:
            return x * 3.0
        else:
            return x * 4.0

    def falls_through(x):
        if x > 10.0:
            return x * 1.0
        elif x > 0.0:
            return x * 3.0
        return x * 4.0

    def one_sided(x):
        y = x + 1.0
        if x < 0.0:
            y = tf.zeros_like(x)
        return y

    def nested(x):
        y = x
        if x > 0.0:
            if x > 2.0:
                y = x - 2.0
            else:
                y = x + 2.0
        return y

    def expression(x):
        return x * 2.0 if x > 1.0 else tf.square(x)

    def logic(x):
        if (x > 1.0 and not x > 5.0) or x < -5.0:
            return x * 10.0
        return x

    def python_condition(x):
        flag = x.shape.rank == 0 if hasattr(x.shape, "rank") else len(x.shape) == 0
        return x * 2.0 if flag else x

    def while_loop(x):
        y, turns = x, 0
        while y < 50.0:
            y = y * 2.0
            turns += 1
        return y, turns

    def while_break(x):
        turns = 0
        while True:
            x = x + 1.0
            turns += 1
            if turns > 4:
                break
        return x

    def while_tensor_break(x):
        turns = tf.constant(0)
        while turns < 100:
            if x > 20.0:
                break
            x = x * 3.0 + 1.0
            turns += 1
        return x, turns

    def for_range(x):
        total = x * 0.0
        for i in tf.range(4):
            total += x * tf.cast(i, tf.float32)
        return total

    def for_continue(x):
        total = x * 0.0
        for i in tf.range(6):
            if i % 2 == 0:
                continue
            total += tf.cast(i, tf.float32) * x
        return total

    def for_return(x):
        for i in tf.range(10):
            if tf.cast(i, tf.float32) * x > 6.0:
                return i
        return -1

    def for_rows(x):
        total = tf.zeros(2)
        for row in tf.reshape(tf.stack([x, x + 1.0, x * 2.0, x]), [2, 2]):
            total = total * 0.5 + row
        return total

    def for_python(x):
        for factor in (2.0, 3.0):
            if x > 4.0:
                x = x - factor
            else:
                x = x * factor
        return x

    def nested_loops(x):
        total = x
        for i in tf.range(3):
            for j in tf.range(i + 1):
                if tf.cast(j, tf.float32) > 1.0:
                    break
                total = total + 1.0
        return total

    def structures(x):
        found = {"a": x, "b": (x, x)}
        if x > 1.0:
            found = {"a": x * 2.0, "b": (x, -x)}
        return found["a"], found["b"]

    def calls(x):
        def helper(y):
            return y + 100.0 if y > 1.0 else y - 100.0

        return helper(x) + helper(-x)

    def lists(x):
        rows = []
        for i in range(3):
            rows.append(x * float(i))
        return tf.stack(rows)

    def tensor_array(x):
        rows = tf.TensorArray(tf.float32, size=3)
        for i in tf.range(3):
            rows = rows.write(i, x * tf.cast(i, tf.float32))
        return rows.stack()

    def numbers(x):
        y = 1
        if x > 1.0:
            y = 5
        return y

    def casts(x):
        return int(x) + len(tf.stack([x, x])), float(x)

    def first_in_loop(x):
        i = 0
        while i < 3:
            last = x * tf.cast(i, tf.float32)
            i += 1
        return last

    def only_one_branch(x):
        if x > 0.0:
            y = x
        return y

    def other_dtype(x):
        if x > 0.0:
            y = 1
        else:
            y = x
        return y

    def loop_dtype(x):
        y = 0
        for _ in tf.range(3):
            y = y + x
        return y

    def none_or_tensor(x):
        y = None
        if x > 0.0:
            y = x
        return y

    def raises(x):
        if len(x.shape) == 0:
            raise ValueError("a scalar")
        return x

    both = [3.0, -2.0]
    return {
        "if_else": (if_else, both),
        "elif_chain": (elif_chain, [20.0, 7.0, 3.0, -1.0]),
        "falls_through": (falls_through, [3.0]),
        "one_sided": (one_sided, both),
        "nested": (nested, [3.0, 1.0, -1.0]),
        "expression": (expression, both),
        "logic": (logic, [3.0, 7.0, -7.0]),
        "python_condition": (python_condition, [3.0]),
        "while_loop": (while_loop, [3.0, 60.0]),
        "while_break": (while_break, [3.0]),
        "while_tensor_break": (while_tensor_break, [3.0, 30.0]),
        "for_range": (for_range, [3.0]),
        "for_continue": (for_continue, [3.0]),
        "for_return": (for_return, [3.0]),
        "for_rows": (for_rows, [3.0]),
        "for_python": (for_python, both),
        "nested_loops": (nested_loops, [3.0]),
        "structures": (structures, both),
        "calls": (calls, both),
        "lists": (lists, [3.0]),
        "tensor_array": (tensor_array, [3.0]),
        "numbers": (numbers, both),
        "casts": (casts, [2.75]),
        "first_in_loop": (first_in_loop, [3.0]),
        "only_one_branch": (only_one_branch, [3.0]),
        "other_dtype": (other_dtype, [3.0]),
        "loop_dtype": (loop_dtype, [3.0]),
        "none_or_tensor": (none_or_tensor, [3.0]),
        "raises": (raises, [3.0]),
    }


@scenario("autograph.programs", GROUP, SETTINGS)
def programs(s: Setting) -> Iterator[Case]:
    tf, run = s.tf, s.strategy.run
    for name, (function, values) in _programs(tf).items():
        for value in values:
            compiled = tf.function(function)
            yield f"function/{name}/{value}", lambda f=compiled, v=value: f(tf.constant(v))
            yield (
                f"run/{name}/{value}",
                lambda f=function, v=value: tf.function(lambda x: run(f, args=(x,)))(
                    tf.constant(v)
                ),
            )


_WITH_GRADIENTS = (
    *("if_else", "elif_chain", "one_sided", "nested", "expression", "logic", "for_range"),
    *("for_continue", "for_python", "nested_loops", "calls"),
)


@scenario("autograph.gradients", GROUP, SETTINGS)
def gradients(s: Setting) -> Iterator[Case]:
    tf, run = s.tf, s.strategy.run
    for name, (function, values) in _programs(tf).items():
        for value in values if name in _WITH_GRADIENTS else ():
            slope = slope_of(tf, function)
            yield (
                f"function/{name}/{value}",
                lambda f=slope, v=value: tf.function(f)(tf.constant(v)),
            )
            yield (
                f"run/{name}/{value}",
                lambda f=slope, v=value: tf.function(lambda x: run(f, args=(x,)))(tf.constant(v)),
            )


@scenario("autograph.state", GROUP, SETTINGS)
def state(s: Setting) -> Iterator[Case]:
    tf = s.tf

    def variable(value: Any = 0.0) -> Any:
        return s.in_scope(lambda: tf.Variable(value))

    def in_branch(x):
        v = variable()

        @tf.function
        def write(x):
            if x > 1.0:
                v.assign_add(x)
            else:
                v.assign(-1.0)

        write(tf.constant(x))
        write(tf.constant(x))
        return v.read_value()

    def in_loop(turns):
        v = variable()

        @tf.function
        def write(n):
            for i in tf.range(n):
                v.assign_add(tf.cast(i, tf.float32))

        write(tf.constant(turns))
        return v.read_value()

    def over_data():
        data = tf.data.Dataset.range(6)

        @tf.function
        def total():
            found = tf.constant(0, tf.int64)
            for x in data:
                if x == 1:
                    continue
                if x > 4:
                    break
                found += x
            return found

        return total()

    def over_distributed():
        data = s.strategy.experimental_distribute_dataset(tf.data.Dataset.range(8).batch(4))

        @tf.function
        def total():
            found = tf.constant(0, tf.int64)
            for x in data:
                parts = s.strategy.run(lambda y: tf.reduce_sum(y), args=(x,))
                found += s.strategy.reduce("SUM", parts, axis=None)
            return found

        return total()

    def in_map():
        def odd(x):
            if x % 2 == 0:
                return x * 10
            return -x

        return list(tf.data.Dataset.range(4).map(odd).as_numpy_iterator())

    def in_filter():
        def keeps(x):
            if x > 2:  # noqa: SIM103
                return True
            return False

        return list(tf.data.Dataset.range(5).filter(keeps).as_numpy_iterator())

    yield "branch/3", lambda: in_branch(3.0)
    yield "branch/0", lambda: in_branch(0.0)
    yield "loop/0", lambda: in_loop(0)
    yield "loop/4", lambda: in_loop(4)
    yield "dataset", over_data
    yield "distributed", over_distributed
    yield "map", in_map
    yield "filter", in_filter
