"""tf.Module: names, variables, functions, checkpoints."""

import os
import tempfile
from collections.abc import Iterator
from typing import Any

from tests.golden.scenarios.base import Case, Setting, scenario

GROUP = "modules"


def _classes(tf: Any) -> Any:
    class Dense(tf.Module):
        def __init__(self, rows, columns, name=None):
            super().__init__(name=name)
            self.w = tf.Variable(tf.ones([rows, columns]), name="w")
            self.b = tf.Variable(tf.zeros([columns]), name="b")

        @tf.function
        def __call__(self, x):
            return tf.nn.relu(x @ self.w + self.b)

    class Mlp(tf.Module):
        def __init__(self, name=None):
            super().__init__(name=name)
            self.layers = [Dense(2, 3), Dense(3, 1)]
            self.table = {"scale": tf.Variable(2.0, name="scale")}
            self.seen = tf.Variable(0, trainable=False, name="seen")

        @tf.function
        def __call__(self, x):
            for layer in self.layers:
                x = layer(x)
            self.seen.assign_add(1)
            return x * self.table["scale"]

    return Dense, Mlp


@scenario("modules.names", GROUP, ("default", "n2"))
def names(s: Setting) -> Iterator[Case]:
    tf = s.tf
    _, mlp = _classes(tf)

    def made(kind: Any, *args: Any, **kwargs: Any) -> Any:
        return s.in_scope(lambda: kind(*args, **kwargs))

    def scoped():
        class Scoped(tf.Module):
            @tf.Module.with_name_scope
            def __call__(self, x):
                if not hasattr(self, "v"):
                    self.v = tf.Variable(1.0, name="v")
                return x * self.v

        module = made(Scoped, name="outer")
        found = module(tf.constant(2.0))
        return [found, module.v.name, module.name_scope.name]

    yield "name", lambda: [made(mlp).name, made(mlp, name="net").name]
    yield "wrong_name", lambda: made(mlp, name="not a name")
    yield "variables", lambda: [v.name for v in made(mlp).variables]
    yield "trainable", lambda: [v.name for v in made(mlp).trainable_variables]
    yield "other", lambda: [v.name for v in made(mlp).non_trainable_variables]
    yield "submodules", lambda: [type(m).__name__ for m in made(mlp).submodules]
    yield "shapes", lambda: [v.shape.as_list() for v in made(mlp).trainable_variables]
    yield "scoped", scoped
    yield "camel_case", lambda: type("TwoWords", (tf.Module,), {})().name
    yield "no_super", lambda: type("Bad", (tf.Module,), {"__init__": lambda self: None})().name


@scenario("modules.computes", GROUP, ("default", "n1", "n2", "n4"))
def computes(s: Setting) -> Iterator[Case]:
    tf = s.tf
    _, mlp = _classes(tf)

    def calls():
        model = s.in_scope(mlp)
        x = tf.constant([[1.0, 2.0]])
        return [model(x), model(x * 2.0), model.seen.read_value()]

    def in_run():
        model = s.in_scope(mlp)
        step = tf.function(lambda x: s.strategy.run(lambda x: model.layers[0](x), (x,)))
        return step(tf.constant([[1.0, 2.0]]))

    def gradients():
        model = s.in_scope(mlp)

        @tf.function
        def step(x):
            def one(x):
                with tf.GradientTape() as tape:
                    y = tf.reduce_sum(model.layers[1](model.layers[0](x * (s.number() + 1.0))))
                return tape.gradient(y, model.layers[0].trainable_variables)

            found = s.strategy.run(one, (x,))
            return [s.strategy.reduce("SUM", g, axis=None) for g in found]

        return step(tf.constant([[1.0, 2.0]]))

    def trained():
        model = s.in_scope(mlp)
        sgd = s.in_scope(lambda: tf.keras.optimizers.SGD(0.01))
        trained = model.layers[0].trainable_variables

        @tf.function
        def step(x):
            def one(x):
                with tf.GradientTape() as tape:
                    y = tf.reduce_sum(model.layers[0](x) ** 2)
                sgd.apply_gradients(zip(tape.gradient(y, trained), trained, strict=True))
                return y

            return s.strategy.reduce("SUM", s.strategy.run(one, (x,)), axis=None)

        x = tf.constant([[1.0, 2.0]])
        return [step(x), step(x), trained[0].read_value()]

    def checkpointed():
        first, second = s.in_scope(mlp), s.in_scope(mlp)
        first.layers[0].w.assign(first.layers[0].w * 3.0)
        first.table["scale"].assign(7.0)
        with tempfile.TemporaryDirectory() as folder:
            path = tf.train.Checkpoint(model=first).save(os.path.join(folder, "c"))
            tf.train.Checkpoint(model=second).restore(path)
        return [second.layers[0].w.read_value(), second.table["scale"].read_value()]

    def made_at_first_call():
        class Late(tf.Module):
            def __init__(self):
                super().__init__()
                self.w = None

            @tf.function
            def __call__(self, x):
                if self.w is None:
                    self.w = tf.Variable(tf.ones([2, x.shape[-1]]))
                return tf.reduce_sum(self.w * x)

        module = s.in_scope(Late)
        x = tf.constant([1.0, 2.0])
        return s.in_scope(lambda: [module(x), module(x), len(module.variables)])

    for case in (calls, in_run, gradients, trained, checkpointed, made_at_first_call):
        yield case.__name__, case
