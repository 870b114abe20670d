"""Random numbers: shapes, types, states of generators, and whether what is seeded repeats itself. The bits are another library's."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.golden.scenarios.base import NONE, Case, Setting, f32, scenario
from tests.golden.scenarios.texts import table

GROUP = "draws"
_MANY = 1_000


def _like(value: Any) -> Any:
    return [list(value.shape), value.dtype.name.replace("64", "32")]


def _near(value: Any, mean: float, deviation: float) -> Any:
    """Whether mean and deviation of many numbers are what they should be."""
    array = np.asarray(value, np.float64)
    error = 5 * deviation / np.sqrt(array.size)
    return [bool(abs(array.mean() - mean) < error), bool(abs(array.std() / deviation - 1) < 0.1)]


def _equal(one: Any, other: Any) -> bool:
    return bool(np.array_equal(np.asarray(one), np.asarray(other)))


@scenario("draws.functions", GROUP, NONE)
def functions(s: Setting) -> Iterator[Case]:
    tf, r = s.tf, s.tf.random
    seed = [3, 5]
    drawn = {
        "stateless_truncated_normal": lambda n, k: r.stateless_truncated_normal([n], k),
        "stateless_categorical": lambda n, k: r.stateless_categorical([[0.0, 1.0]], n, k),
        "stateless_gamma": lambda n, k: r.stateless_gamma([n], k, alpha=2.0, beta=4.0),
        "stateless_poisson": lambda n, k: r.stateless_poisson([n], k, lam=3.0),
        "stateless_binomial": lambda n, k: r.stateless_binomial([n], k, counts=10.0, probs=0.3),
        "stateless_parameterized_truncated_normal": lambda n, k: (
            r.stateless_parameterized_truncated_normal([n], k, 1.0, 2.0, 0.0, 3.0)
        ),
        "stateless_uniform/int": lambda n, k: r.stateless_uniform([n], k, 5, 9, tf.int32),
    }
    moments = {
        "stateless_truncated_normal": (0.0, 0.88),
        "stateless_categorical": (0.731, 0.443),
        "stateless_gamma": (0.5, 0.3535),
        "stateless_poisson": (3.0, 1.732),
        "stateless_binomial": (3.0, 1.449),
        "stateless_uniform/int": (6.5, 1.118),
    }
    for name, draw in drawn.items():
        yield f"{name}/like", lambda draw=draw: _like(draw(_MANY, seed))
        yield f"{name}/again", lambda draw=draw: _equal(draw(_MANY, seed), draw(_MANY, seed))
        yield f"{name}/other", lambda draw=draw: _equal(draw(_MANY, seed), draw(_MANY, [3, 6]))
        if name in moments:
            yield (
                f"{name}/moments",
                lambda draw=draw, name=name: _near(draw(_MANY, seed), *moments[name]),
            )
    yield from table(
        {
            "gamma": lambda: _like(r.gamma([_MANY], 2.0, beta=4.0)),
            "gamma/moments": lambda: _near(r.gamma([_MANY], 2.0, beta=4.0), 0.5, 0.3535),
            "gamma/both": lambda: _like(r.gamma([500], [[1.0], [2.0]], 1.0)),
            "poisson": lambda: _like(r.poisson([500], [12.2, 3.3])),
            "poisson/int": lambda: _like(r.poisson([_MANY], 3.0, dtype=tf.int32)),
            "poisson/moments": lambda: _near(r.poisson([_MANY], 3.0), 3.0, 1.732),
            "split": lambda: _like(r.split(seed, 3)),
            "split/again": lambda: _equal(r.split(seed), r.experimental.stateless_split(seed)),
            "split/different": lambda: len({tuple(one) for one in np.asarray(r.split(seed, 9))}),
            "fold_in": lambda: _like(r.fold_in(seed, 1)),
            "fold_in/different": lambda: _equal(
                r.fold_in(seed, 1), r.experimental.stateless_fold_in(seed, 2)
            ),
            "shuffle": lambda: sorted(
                np.asarray(r.experimental.stateless_shuffle(tf.range(9), seed)).tolist()
            ),
            "index_shuffle": lambda: sorted(
                int(r.experimental.index_shuffle(i, [1, 2], 6)) for i in range(7)
            ),
            "dropout": lambda: _like(
                tf.nn.experimental.stateless_dropout(tf.ones([3, 4]), 0.5, seed)
            ),
            "dropout/again": lambda: _equal(
                tf.nn.experimental.stateless_dropout(tf.ones([30]), 0.5, seed),
                tf.nn.experimental.stateless_dropout(tf.ones([30]), 0.5, seed),
            ),
            "dropout/noise": lambda: (
                np.unique(
                    np.asarray(
                        tf.nn.experimental.stateless_dropout(
                            tf.ones([5, 4]), 0.5, seed, noise_shape=[5, 1]
                        )
                    ),
                    axis=1,
                ).shape
            ),
            "dropout/general": lambda: tf.nn.experimental.general_dropout(
                f32([1.0, 2.0, 3.0]), 0.5, lambda shape, dtype: tf.constant([0.2, 0.5, 0.9], dtype)
            ),
            "dropout/rate": lambda: tf.nn.experimental.stateless_dropout(tf.ones([3]), 1.5, seed),
            "log_uniform": lambda: [
                _like(one)
                for one in r.log_uniform_candidate_sampler([[1, 2], [0, 3]], 2, 4, True, 9)
            ],
            "numpy/randn": lambda: _like(tf.experimental.numpy.random.randn(2, 3)),
            "numpy/rand": lambda: _like(tf.experimental.numpy.random.rand(2)),
            "numpy/randint": lambda: _like(tf.experimental.numpy.random.randint(3, size=[4])),
            "numpy/uniform": lambda: _like(tf.experimental.numpy.random.uniform(0.0, [1.0, 2.0])),
            "numpy/poisson": lambda: _like(tf.experimental.numpy.random.poisson(2.0, [3])),
            "numpy/normal": lambda: _like(tf.experimental.numpy.random.standard_normal([3])),
            "numpy/seed": lambda: tf.experimental.numpy.random.seed(7),
        }
    )


@scenario("draws.generator", GROUP, NONE)
def generator(s: Setting) -> Iterator[Case]:
    tf, r = s.tf, s.tf.random
    make = lambda: r.Generator.from_seed(7)  # noqa: E731

    def state_after(*calls: Any) -> Any:
        made = make()
        for call in calls:
            call(made)
        return made.state.read_value()

    def in_function() -> Any:
        made = make()
        draw = tf.function(lambda: made.normal([2]))
        return [_equal(draw(), draw()), made.state.read_value()]

    def in_map() -> int:
        made = make()
        return len(list(tf.data.Dataset.range(3).map(lambda x: made.make_seeds(1)[0, 0])))

    def restored() -> Any:
        made = make()
        before = made.state.read_value()
        first = made.uniform([3])
        made.reset(before)
        return _equal(first, made.uniform([3]))

    def global_set() -> Any:
        r.set_global_generator(make())
        return r.get_global_generator().state.read_value()

    yield from table(
        {
            "state": lambda: make().state.read_value(),
            "seeds": lambda: r.Generator.from_seed([1, 2, 3]).state.read_value(),
            "threefry": lambda: r.Generator.from_seed(5, alg="threefry").state.read_value(),
            "algorithm": lambda: int(make().algorithm),
            "algorithm/no": lambda: r.Generator.from_seed(5, alg="mersenne"),
            "key": lambda: make().key,
            "key_counter": lambda: r.Generator.from_key_counter(
                5, [1, 2], "philox"
            ).state.read_value(),
            "copy": lambda: r.Generator(copy_from=make()).state.read_value(),
            "from_state": lambda: r.Generator.from_state([1, 2, 3], "philox").state.read_value(),
            "create_rng_state": lambda: r.create_rng_state(7, "philox"),
            "after/normal": lambda: state_after(lambda g: g.normal([3])),
            "after/scalar": lambda: state_after(lambda g: g.uniform([])),
            "after/two": lambda: state_after(lambda g: g.normal([3, 2]), lambda g: g.uniform([5])),
            "after/skip": lambda: state_after(lambda g: g.skip(3)),
            "after/seeds": lambda: state_after(lambda g: g.make_seeds(4)),
            "after/reset": lambda: state_after(
                lambda g: g.normal([3]), lambda g: g.reset([4, 5, 6])
            ),
            "after/reset_from_seed": lambda: state_after(lambda g: g.reset_from_seed(9)),
            "after/reset_key": lambda: state_after(lambda g: g.reset_from_key_counter(9, [1, 2])),
            "normal": lambda: _like(make().normal([2, 3])),
            "normal/moments": lambda: _near(make().normal([_MANY], 2.0, 3.0), 2.0, 3.0),
            "uniform/moments": lambda: _near(make().uniform([_MANY], 2.0, 3.0), 2.5, 0.2887),
            "truncated": lambda: _like(make().truncated_normal([2], dtype=tf.float16)),
            "integers": lambda: _like(make().uniform([3], 0, 9, dtype=tf.int32)),
            "integers/max": lambda: make().uniform([3], dtype=tf.int32),
            "full": lambda: _like(make().uniform_full_int([3], dtype=tf.uint32)),
            "binomial": lambda: _like(make().binomial([2], counts=[5.0, 9.0], probs=[0.5, 0.1])),
            "make_seeds": lambda: _like(make().make_seeds(3))[0],
            "make_seeds/zeros": lambda: make().make_seeds(3)[1],
            "again": lambda: _equal(make().normal([3]), make().normal([3])),
            "different": lambda: (lambda g: _equal(g.normal([3]), g.normal([3])))(make()),
            "split": lambda: (lambda g: [len(g.split(3)), g.state.read_value()])(make()),
            "split/different": lambda: _equal(*(g.normal([3]) for g in make().split(2))),
            "in_function": in_function,
            "restored": restored,
            "global": global_set,
            "map": in_map,
        }
    )


@scenario("draws.replicas", GROUP, ("n2",))
def replicas(s: Setting) -> Iterator[Case]:
    tf, r = s.tf, s.tf.random

    def local(value: Any) -> list[Any]:
        return [np.asarray(one) for one in s.strategy.experimental_local_results(value)]

    def made_in_scope() -> Any:
        made = s.in_scope(lambda: r.Generator.from_seed(7))
        first, second = local(s.strategy.run(lambda: made.normal([3])))
        return _equal(first, second)

    def again() -> Any:
        made = s.in_scope(lambda: r.Generator.from_seed(7))
        step = tf.function(lambda: s.strategy.run(lambda: made.normal([3])))
        return _equal(local(step())[0], local(step())[0])

    def drawn(draw: Any, *, function: bool = False) -> Any:
        """Whether two replicas draw the same numbers, and the state after it."""
        made = s.in_scope(lambda: r.Generator.from_seed(7))
        run = lambda: s.strategy.run(lambda: draw(made))  # noqa: E731
        first, second = local((tf.function(run) if function else run)())
        return [_equal(first, second), list(first.shape), local(made.state)]

    def own_seeds(made: Any) -> Any:
        return tf.random.stateless_normal(
            [2], tf.cast(made.make_seeds(2)[:, s.replica_id()], tf.int32)
        )

    def from_global() -> Any:
        r.set_global_generator(s.in_scope(lambda: r.Generator.from_seed(7)))
        first, second = local(s.strategy.run(lambda: r.get_global_generator().normal([3])))
        return [_equal(first, second), local(r.get_global_generator().state)]

    def after_reset(inside: bool) -> Any:
        made = s.in_scope(lambda: r.Generator.from_seed(7))

        def draw() -> Any:
            if inside:
                made.reset_from_seed(9)
            return made.uniform([3])

        s.strategy.run(lambda: made.normal([3]))
        if not inside:
            made.reset_from_seed(9)
        first, second = local(s.strategy.run(draw))
        return [_equal(first, second), local(made.state)]

    yield "in_scope", made_in_scope
    yield "again", again
    yield "state", lambda: drawn(lambda g: g.normal([3, 2]))
    yield "function", lambda: drawn(lambda g: g.uniform([5]), function=True)
    yield "split", lambda: drawn(lambda g: g.split(2)[1].normal([3]))
    yield "split/twice", lambda: drawn(lambda g: g.split(2)[1].split(3)[0].normal([3]))
    yield "split/two", lambda: drawn(lambda g: tf.stack([one.normal([]) for one in g.split(2)]))
    yield "make_seeds", lambda: drawn(lambda g: g.make_seeds(2))
    yield "own_seeds", lambda: drawn(own_seeds)
    yield "global", from_global
    yield "reset/outside", lambda: after_reset(False)
    yield "reset/inside", lambda: after_reset(True)
