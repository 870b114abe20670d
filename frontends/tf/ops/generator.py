"""`tf.random.Generator`: random numbers whose state is a variable.

The *state* is two numbers of a counter and a key, as in TensorFlow: a draw advances the counter by 256 for each
number. The bits are JAX's.
"""

import threading
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from frontends.tf._step_state import GLOBAL_GENERATOR
from frontends.tf._typing import DTypeLike, ShapeLike, TensorLike
from frontends.tf.dtypes import jax_dtype
from frontends.tf.module import Module
from frontends.tf.ops import draws
from frontends.tf.ops.convert import convert_to_tensor, known, static_int, static_shape
from frontends.tf.ops.map_stream import in_map, next_key
from frontends.tf.variable import Variable, VariableAggregation
from spmd._jax_internals import trace_state
from spmd.errors import ControlFlowError
from spmd.replica import in_replica, replica_id

_STEP = 256  # of the counter, for each number


class _TracedState:
    """The state of a generator that a program splits off: an array, which lives as long as the program runs.

    Loops and branches of the program do not carry it.
    """

    def __init__(self, state: jax.Array) -> None:
        self._state, self._trace = state, trace_state()
        self.shape = state.shape

    def read_value(self) -> jax.Array:
        return self._state

    def assign(self, state: jax.Array) -> None:
        if trace_state() != self._trace:
            raise ControlFlowError(
                "A generator that a program splits off draws in a loop or a branch of that program, which would draw the same numbers at "
                "every turn. Split it outside of the tf.function, where the generators are kept; or draw from the generator that you "
                "split; or give each turn a seed: tf.random.stateless_normal(shape, seed=[1, i])."
            )
        self._state = state


class Algorithm:
    """Names of algorithms; all of them are JAX's Threefry here.

    Source: `tf.random.Algorithm`.
    """

    PHILOX = 1
    THREEFRY = 2
    AUTO_SELECT = 3


_ALGORITHMS = {"philox": 1, "threefry": 2, "auto_select": 1, 1: 1, 2: 2, 3: 1}


def _algorithm(alg: Any) -> int:
    name = alg.lower() if isinstance(alg, str) else alg
    if name not in _ALGORITHMS:
        raise ValueError(
            f"Unsupported algorithm id: {alg!r}. Expected 'philox', 'threefry' or 'auto_select'."
        )
    return _ALGORITHMS[name]


def create_rng_state(seed: TensorLike, alg: Any) -> jax.Array:
    """Makes a state of a seed.

    Args:
        seed: an integer, or as many as a state has.
        alg: `"philox"`, whose states have three numbers, or `"threefry"`, two.

    Source: `tf.random.create_rng_state`.
    """
    size = 3 if _algorithm(alg) == Algorithm.PHILOX else 2
    numbers = np.ravel(np.asarray(known(seed)).astype(np.int64))[:size]
    state = np.zeros(size, np.int64)
    state[: len(numbers)] = numbers
    return jnp.asarray(state.astype(jax_dtype("int64")))


class Generator(Module):
    """Draws random numbers, and keeps a state, which checkpoints save.

    In a replica each replica draws other numbers, from one state. In the map function of a dataset, a draw depends
    on the element, and leaves the state as it is. The bits are JAX's, not TensorFlow's.

    Examples:
        >>> from frontends import tf
        >>> one, other = (tf.random.Generator.from_seed(7) for _ in range(2))
        >>> bool(tf.reduce_all(one.normal([3]) == other.normal([3])))
        True
        >>> one.state.numpy().tolist()
        [775, 0, 0]

    Source: `tf.random.Generator`.
    """

    def __init__(
        self, copy_from: "Generator | None" = None, state: TensorLike = None, alg: Any = None
    ) -> None:
        """Makes a generator of another one, or of a state and an algorithm.

        Args:
            copy_from: the other one.
            state: see `create_rng_state`.
            alg: likewise.

        Raises:
            ValueError: both are given, or neither.
        """
        super().__init__(name="generator")
        if copy_from is not None:
            if state is not None or alg is not None:
                raise ValueError("If `copy_from` is not None, `state` and `alg` must be None.")
            state, alg = copy_from.state.read_value(), copy_from.algorithm
        if state is None or alg is None:
            raise ValueError("Generator: give `state` and `alg`, or write Generator.from_seed(1).")
        self._alg = _algorithm(alg)
        numbers = convert_to_tensor(state).astype(jax_dtype("int64"))
        self._state_var: Any = (
            _TracedState(numbers)
            if isinstance(numbers, Tracer)
            else Variable(
                numbers,
                dtype="int64",
                name="StateVar",
                trainable=False,
                aggregation=VariableAggregation.ONLY_FIRST_REPLICA,
            )
        )

    @classmethod
    def from_state(cls, state: TensorLike, alg: Any) -> "Generator":
        """Makes a generator of a state."""
        return cls(state=state, alg=alg)

    @classmethod
    def from_seed(cls, seed: TensorLike, alg: Any = None) -> "Generator":
        """Makes a generator of a seed: an integer, or several."""
        alg = Algorithm.PHILOX if alg is None else alg
        return cls(state=create_rng_state(seed, alg), alg=alg)

    @classmethod
    def from_non_deterministic_state(cls, alg: Any = None) -> "Generator":
        """Makes a generator that draws other numbers in each run."""
        words = np.random.SeedSequence().generate_state(3).view(np.int32)
        return cls.from_seed(words, alg)

    @classmethod
    def from_key_counter(cls, key: TensorLike, counter: TensorLike, alg: Any) -> "Generator":
        """Makes a generator of a key and a counter, of which Philox has two numbers."""
        if isinstance(key, Tracer):
            parts = [jnp.ravel(convert_to_tensor(one)) for one in (counter, key)]
            return cls(state=jnp.concatenate(parts), alg=alg)
        state = [*np.ravel(np.asarray(known(counter))), *np.ravel(np.asarray(known(key)))]
        return cls(state=jnp.asarray(np.asarray(state)), alg=alg)

    @property
    def state(self) -> Any:
        """The variable that holds the state; of a generator that a program split off, what stands for it."""
        return self._state_var

    @property
    def algorithm(self) -> int:
        """The number of the algorithm."""
        return self._alg

    @property
    def key(self) -> jax.Array:
        """The key: the last number of the state."""
        return self._state_var.read_value()[-1]

    def reset(self, state: TensorLike) -> None:
        """Sets the state."""
        self._state_var.assign(convert_to_tensor(state).astype(jax_dtype("int64")))

    def reset_from_seed(self, seed: TensorLike) -> None:
        """Sets the state by a seed."""
        self.reset(create_rng_state(seed, self._alg))

    def reset_from_key_counter(self, key: TensorLike, counter: TensorLike) -> None:
        """Sets the state by a key and a counter."""
        parts = [jnp.ravel(convert_to_tensor(one)) for one in (counter, key)]
        self.reset(jnp.concatenate(parts))

    def skip(self, delta: TensorLike) -> jax.Array:
        """Advances the counter as if so many numbers had been drawn; returns the state before."""
        before = self._state_var.read_value()
        self._advance(static_int(delta))
        return before

    def _advance(self, count: int) -> None:
        state = self._state_var.read_value()
        low = state[0] + jnp.asarray(count * _STEP, state.dtype)
        words = [low, *state[1:]]
        if len(words) == 3:  # the counter has two numbers
            unsigned = jnp.dtype(f"uint{state.dtype.itemsize * 8}")
            carried = (low.astype(unsigned) < state[0].astype(unsigned)) & (count > 0)
            words[1] = words[1] + carried.astype(state.dtype)
        self._state_var.assign(jnp.stack(words))

    def _draw_key(self, count: int) -> jax.Array:
        """Takes a key for so many numbers."""
        state = self._state_var.read_value().astype(jnp.uint32)
        key = jax.random.wrap_key_data(state[-1:].repeat(2), impl="threefry2x32")
        if in_map():
            words, number = next_key()
            for word in (*words, 0 if number is None else number):
                key = jax.random.fold_in(key, jnp.uint32(word))
            return key
        for word in range(len(state) - 1):
            key = jax.random.fold_in(key, state[word])
        self._advance(count)
        return jax.random.fold_in(key, replica_id()) if in_replica() else key

    def _key_for(self, shape: ShapeLike) -> tuple[jax.Array, tuple[int, ...]]:
        sizes = static_shape(shape)
        return self._draw_key(int(np.prod(sizes, dtype=np.int64))), sizes

    def normal(
        self,
        shape: ShapeLike,
        mean: TensorLike = 0.0,
        stddev: TensorLike = 1.0,
        dtype: DTypeLike = "float32",
        name: str | None = None,
    ) -> jax.Array:
        """Draws from a normal distribution."""
        key, sizes = self._key_for(shape)
        return draws.normal_of(key, sizes, mean, stddev, dtype)

    def truncated_normal(
        self,
        shape: ShapeLike,
        mean: TensorLike = 0.0,
        stddev: TensorLike = 1.0,
        dtype: DTypeLike = "float32",
        name: str | None = None,
    ) -> jax.Array:
        """Draws from a normal distribution, within two deviations."""
        key, sizes = self._key_for(shape)
        return draws.truncated_of(key, sizes, mean, stddev, dtype)

    def uniform(
        self,
        shape: ShapeLike,
        minval: TensorLike = 0,
        maxval: TensorLike = None,
        dtype: DTypeLike = "float32",
        name: str | None = None,
    ) -> jax.Array:
        """Draws uniformly from an interval."""
        return draws.uniform_of(
            lambda: self._key_for(shape)[0], static_shape(shape), minval, maxval, dtype
        )

    def uniform_full_int(
        self, shape: ShapeLike, dtype: DTypeLike = "uint64", name: str | None = None
    ) -> jax.Array:
        """Draws integers from all that the dtype has."""
        key, sizes = self._key_for(shape)
        return draws.full_int_of(key, sizes, dtype)

    def binomial(
        self,
        shape: ShapeLike,
        counts: TensorLike,
        probs: TensorLike,
        dtype: DTypeLike = "int32",
        name: str | None = None,
    ) -> jax.Array:
        """Draws how many of `counts` trials succeed."""
        key, sizes = self._key_for(shape)
        return draws.binomial_of(key, sizes, counts, probs, dtype)

    def make_seeds(self, count: int = 1) -> jax.Array:
        """Draws seeds for stateless functions, shape (2, count): one in each column."""
        size = static_int(count)
        seeds = draws.full_int_of(self._draw_key(size), (2, size), "int64")
        # As TensorFlow's, whose second number is zero.
        return seeds.at[1].set(0)

    def split(self, count: int = 1) -> "list[Generator]":
        """Makes generators that draw other numbers than this one and one another.

        In a program, they last until it ends; in a replica, each replica gets others.

        Raises:
            ControlFlowError: when one that a program splits off draws in a loop or a branch of it.
        """
        size = static_int(count)
        keys = draws.full_int_of(self._draw_key(size), (size,), "int64")
        zeros = [0] * (self._state_var.shape[0] - 1)
        return [type(self).from_key_counter(key, zeros, self._alg) for key in keys]


_LOCK = threading.Lock()


def get_global_generator() -> Generator:
    """Returns the generator of the process, which the first call makes; its numbers differ from run to run.

    Source: `tf.random.get_global_generator`.
    """
    with _LOCK:
        if "generator" not in GLOBAL_GENERATOR:
            with jax.ensure_compile_time_eval():
                GLOBAL_GENERATOR["generator"] = Generator.from_non_deterministic_state()
        return GLOBAL_GENERATOR["generator"]


def set_global_generator(generator: Generator) -> None:
    """Replaces the generator of the process.

    Source: `tf.random.set_global_generator`.
    """
    with _LOCK:
        GLOBAL_GENERATOR["generator"] = generator


def index_shuffle(
    index: TensorLike, seed: Sequence[int], max_index: TensorLike, name: str | None = None
) -> jax.Array:
    """Gives the place of an index in a permutation of the indices up to `max_index`, the one of the seed.

    The permutation is JAX's, not TensorFlow's.

    Source: `tf.random.experimental.index_shuffle`.
    """
    places = convert_to_tensor(index)
    words = convert_to_tensor(seed).astype(jnp.uint32)
    key = jax.random.wrap_key_data(words[:2], impl="threefry2x32")
    order = jax.random.permutation(key, static_int(max_index) + 1)
    return order[places].astype(places.dtype)
