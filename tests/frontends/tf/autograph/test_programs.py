"""Random programs of Python, interpreted and compiled: the same results."""

import linecache
import random
from typing import Any

import pytest

from frontends import tf

NAMES = ("a", "b", "c")


def expression(rng, depth=0):
    kind = rng.random()
    if kind < 0.35 or depth > 2:
        return rng.choice(NAMES)
    if kind < 0.5:
        return str(rng.randint(-4, 4))
    if kind < 0.6:
        return f"({expression(rng, 2)} if {condition(rng)} else {expression(rng, 2)})"
    left, right = expression(rng, depth + 1), expression(rng, depth + 1)
    return f"(({left} {rng.choice('+-*')} {right}) % 97)"


def condition(rng):
    one = f"{rng.choice(NAMES)} {rng.choice(('<', '>', '==', '!='))} {expression(rng, 2)}"
    kind = rng.random()
    if kind < 0.2:
        return f"not {one}"
    if kind < 0.4:
        return f"({one} {rng.choice(('and', 'or'))} {rng.choice(NAMES)} > {rng.randint(-5, 5)})"
    return one


def block(rng, depth, in_loop):
    lines = []
    for _ in range(rng.randint(1, 3)):
        kind = rng.random()
        if depth < 3 and kind < 0.3:
            lines.append(f"if {condition(rng)}:")
            lines += ["    " + line for line in block(rng, depth + 1, in_loop)]
            if rng.random() < 0.5:
                lines.append("else:")
                lines += ["    " + line for line in block(rng, depth + 1, in_loop)]
        elif depth < 2 and kind < 0.45:
            loop = f"i{depth}"
            lines.append(f"for {loop} in tf.range({rng.randint(0, 4)}):")
            lines.append(f"    {rng.choice(NAMES)} = {loop} * {rng.randint(1, 3)} % 97")
            lines += ["    " + line for line in block(rng, depth + 1, True)]
        elif depth < 2 and kind < 0.6:
            turn = f"w{depth}"
            lines += [f"{turn} = 0", f"while {turn} < 4 and {condition(rng)}:", f"    {turn} += 1"]
            lines += ["    " + line for line in block(rng, depth + 1, True)]
        elif in_loop and kind < 0.7:
            lines += [f"if {condition(rng)}:", f"    {rng.choice(('break', 'continue'))}"]
        elif kind < 0.73:
            lines += [f"if {condition(rng)}:", "    return a, b, c"]
        else:
            lines.append(f"{rng.choice(NAMES)} = {expression(rng)}")
    return lines


def program(seed):
    body = block(random.Random(seed), 0, False)
    source = (
        "def run(a, b, c):\n" + "".join(f"    {line}\n" for line in body) + "    return a, b, c\n"
    )
    name = f"/programs/{seed}.py"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    namespace = {"tf": tf, "__name__": "programs"}
    exec(compile(source, name, "exec"), namespace)
    return namespace["run"], source


def check(seeds):
    for seed in seeds:
        run, source = program(seed)
        compiled: Any = tf.function(run)
        for start in ((1, 2, 3), (0, -5, 40)):
            expected = [int(value) for value in run(*start)]
            found = [int(value) for value in compiled(*map(tf.constant, start))]
            assert found == expected, f"seed {seed}, from {start}:\n{source}"
        assert compiled.experimental_get_tracing_count() == 1, source


def test_some_programs() -> None:
    check(range(15))


@pytest.mark.slow
def test_five_hundred_programs() -> None:
    check(range(15, 515))
