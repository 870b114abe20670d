"""`tf.function` on methods: programs belong to an object, are copied without and freed with it."""

import copy
import dataclasses
import gc
import pickle
import weakref

import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

import spmd
from frontends import tf


def mirrored(count=2):
    return tf.distribute.MirroredStrategy([f"cpu:{index}" for index in range(count)])


def one_for_each(strategy, scale=1.0):
    return strategy.experimental_distribute_values_from_function(
        lambda context: np.float32(scale * (context.replica_id_in_sync_group + 1))
    )


class Trainer:
    """Has methods that are compiled."""

    def __init__(self, strategy, scale):
        self.strategy = strategy
        self.scale = scale
        self.steps = spmd.Variable(jnp.float32(0))

    @tf.function
    def train(self, value):
        result = self.strategy.run(self.replica, args=(value,))
        return self.strategy.reduce("SUM", result, axis=None)

    @tf.function(jit_compile=True)
    def twice(self, x):
        return 2 * self.scale * x

    def replica(self, value):
        self.steps.value = self.steps.value + 1
        return value * self.scale


def test_methods_belong_to_their_object():
    strategy = mirrored()
    one, other = Trainer(strategy, 1.0), Trainer(strategy, 10.0)
    value = one_for_each(strategy)
    for _ in range(3):
        assert float(one.train(value)) == 3.0
        assert float(other.train(value)) == 30.0
    assert one.train is one.train
    assert one.train is not other.train
    assert [t.train.experimental_get_tracing_count() for t in (one, other)] == [1, 1]
    assert [float(t.steps.value) for t in (one, other)] == [3.0, 3.0]
    assert float(one.twice(2.0)) == 4.0
    assert float(other.twice(2.0)) == 40.0
    assert float(Trainer.twice(one, 3.0)) == 6.0


def test_methods_of_the_dead_are_let_go():
    """A trainer holds a model: keeping every one that was ever made would fill the memory."""
    trainer = Trainer(mirrored(), 1.0)
    trainer.twice(1.0)
    gone = weakref.ref(trainer)
    del trainer
    gc.collect()
    assert gone() is None


class Scaled:
    """As small as an object with a compiled method can be."""

    def __init__(self, scale):
        self.scale = scale

    @tf.function
    def times(self, x):
        return self.scale * x


@pytest.mark.parametrize(
    "duplicate",
    [copy.copy, copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing))],  # noqa: S301
)
def test_copies_have_methods_of_their_own(duplicate):
    original = Scaled(2.0)
    assert float(original.times(3.0)) == 6.0
    other = duplicate(original)
    other.scale = 10.0
    assert other.times is not original.times
    assert float(other.times(3.0)) == 30.0
    assert float(original.times(3.0)) == 6.0


def test_a_method_that_calls_its_parent_is_compiled_once():
    class More(Scaled):
        @tf.function
        def times(self, x):
            return super().times(x) + 1

    more = More(2.0)
    assert [float(more.times(x)) for x in (1.0, 2.0, 3.0)] == [3.0, 5.0, 7.0]
    assert more.times.experimental_get_tracing_count() == 2  # for 1.0, and for any number


class Module(nnx.Module):
    """A module that is the state of its own methods."""

    def __init__(self, value):
        self.weight = nnx.Param(jnp.float32(value))

    @tf.function
    def times(self, x):
        return self.weight[...] * x

    @tf.function
    def plus(self, x):
        return self.weight[...] + x


def test_methods_of_modules():
    module, same = Module(2.0), Module(2.0)
    for _ in range(2):
        assert float(module.times(3.0)) == 6.0
        assert float(module.plus(3.0)) == 5.0
    assert (
        module.times.experimental_get_tracing_count()
        == module.plus.experimental_get_tracing_count()
        == 1
    )
    same.plus(1.0)
    assert nnx.graphdef(module) == nnx.graphdef(same)
    for other in (nnx.clone(module), copy.deepcopy(module)):
        other.weight[...] = jnp.float32(10.0)
        assert float(other.times(3.0)) == 30.0
        assert float(module.times(3.0)) == 6.0


def test_dead_modules_are_let_go():
    module = Module(2.0)
    module.times(1.0)
    gone = weakref.ref(module)
    del module
    gc.collect()
    assert gone() is None


def test_objects_compared_by_value_or_frozen_have_methods():
    @dataclasses.dataclass
    class Equal(Scaled):
        scale: float

    @dataclasses.dataclass(frozen=True)
    class Frozen:
        scale: float
        times = Scaled.times

    for kind in (Equal, Frozen):
        one, other = kind(2.0), kind(2.0)
        assert float(one.times(1.0)) == float(other.times(1.0)) == 2.0
        assert one == other
        assert one.times is not other.times


def test_slots_without_a_dict_are_refused():
    class Slotted:
        __slots__ = ("scale",)
        times = Scaled.times

    with pytest.raises(TypeError, match="Add '__dict__' to its __slots__"):
        Slotted().times(1.0)
