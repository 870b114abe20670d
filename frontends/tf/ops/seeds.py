"""The global seed, and how operations derive their own from it.

**Global seed**: one number for the whole process, set by `tf.random.set_seed`.
**Op seed**: the ``seed=`` argument of one operation, such as ``Dataset.shuffle``.
An operation draws from both, as in TensorFlow:

======  ======  ==========================================================================
global  op      the numbers are
======  ======  ==========================================================================
unset   unset   different in every run
set     unset   the same in every run that makes its random operations in the same order
unset   set     the same in every run
set     set     the same in every run, and other numbers for another global seed
======  ======  ==========================================================================
"""

import contextlib
import dataclasses
import operator
import threading
from collections.abc import Generator
from typing import NamedTuple, SupportsIndex

import numpy as np

# TensorFlow's tf.random.DEFAULT_GRAPH_SEED: stands for the global seed where only the op has one.
_DEFAULT_GLOBAL_SEED = 87654321


@dataclasses.dataclass
class _GlobalSeed:
    """The global seed, without its sign; who drew from it, whether one is required, and how often one was set."""

    value: int | None = None
    operations: int = 0
    maps: int = 0
    initial: int = 0
    required: bool = False
    times: int = 0


_GLOBAL = _GlobalSeed()
_LOCK = threading.Lock()


def set_global_seed(seed: SupportsIndex | None) -> None:
    """Sets the global seed, and restarts the count of operations without a seed of their own.

    Args:
        seed: An integer, or None to go back to different numbers in every run.

    Raises:
        TypeError: `seed` is neither an integer nor None.
    """
    value = None if seed is None else _unsigned(seed, "set_seed")
    with _LOCK:
        _GLOBAL.value = value
        _GLOBAL.operations = _GLOBAL.maps = _GLOBAL.initial = 0
        _GLOBAL.times += 1


class SeedSetting(NamedTuple):
    """What `set_global_seed` was last given, and how often it was called."""

    value: int | None
    times: int


def seed_setting() -> SeedSetting:
    """Returns the setting of the global seed, for other processes to follow."""
    return SeedSetting(_GLOBAL.value, _GLOBAL.times)


@contextlib.contextmanager
def seeds_apart() -> Generator[None]:
    """Lets a block have a global seed and counts of its own: after it they are as before."""
    with _LOCK:
        before = dataclasses.replace(_GLOBAL)
    try:
        yield
    finally:
        with _LOCK:
            vars(_GLOBAL).update(vars(before))


def require_seeds() -> None:
    """Makes random operations without any seed an error from now on."""
    _GLOBAL.required = True


def check_global_seed() -> None:
    """Checks that there is a global seed where one is required.

    Raises:
        RuntimeError: there is none.

    Source: `tf.config.experimental.enable_op_determinism`.
    """
    if _GLOBAL.required and _GLOBAL.value is None:
        raise RuntimeError(
            "Random ops require a seed to be set when determinism is enabled. Set one before the first of them: "
            "tf.random.set_seed(1)."
        )


def stream_entropy() -> tuple[int, ...] | None:
    """Gives the entropy of the stream that `tf.random.normal` and its kin draw from.

    Not counted among the operations: when the stream is made must not change their numbers.

    Returns:
        Non-negative integers for `numpy.random.SeedSequence`, or None where no seed is set.
    """
    seed = _GLOBAL.value
    return None if seed is None else (seed, 2)


def map_entropy() -> tuple[int, ...] | None:
    """Gives the entropy of what one map function of a dataset draws from.

    Functions are counted among themselves: whether one draws must not change the numbers of operations.

    Returns:
        Non-negative integers for `numpy.random.SeedSequence`, or None where no seed is set.
    """
    with _LOCK:
        _GLOBAL.maps += 1
        return None if _GLOBAL.value is None else (_GLOBAL.value, 3, _GLOBAL.maps)


def initial_entropy() -> tuple[int, tuple[int, ...] | None]:
    """Gives the number and the entropy of one draw of an initial value that code within a program computes.

    These draws are counted among themselves, for a program that is traced again may make no variables.

    Returns:
        The number, counted from 1; and non-negative integers for `numpy.random.SeedSequence`, or None where no seed is set.
    """
    with _LOCK:
        _GLOBAL.initial += 1
        number = _GLOBAL.initial
        return number, None if _GLOBAL.value is None else (_GLOBAL.value, 4, number)


def key_words(entropy: tuple[int, ...] | None) -> list[int]:
    """Makes the two words of a random key.

    Args:
        entropy: of the stream, the function or the operation; None takes the system's.
    """
    return np.random.SeedSequence(entropy).generate_state(2).tolist()


def op_entropy(op_seed: SupportsIndex | None, op_name: str) -> tuple[int, ...] | None:
    """Combines the global seed with the seed of one operation.

    Args:
        op_seed: The operation's own seed, or None.
        op_name: The operation's name, for the error.

    Returns:
        Non-negative integers for `numpy.random.SeedSequence`, or None where neither seed is set.

    Raises:
        TypeError: `op_seed` is neither an integer nor None.
        RuntimeError: seeds are required, and neither is set.

    Examples:
        >>> op_entropy(3, "shuffle")[1:]  # the global seed is in front
        (1, 3)

    Source: ``tensorflow.python.framework.random_seed.get_seed``.
    """
    own = None if op_seed is None else _unsigned(op_seed, op_name)
    with _LOCK:
        seed = _GLOBAL.value
        if own is not None:
            return _DEFAULT_GLOBAL_SEED if seed is None else seed, 1, own
        if seed is None:
            check_global_seed()
            return None
        _GLOBAL.operations += 1
        return seed, 0, _GLOBAL.operations


def _unsigned(seed: SupportsIndex, op_name: str) -> int:
    try:
        # SeedSequence takes no negative numbers; TensorFlow's seeds are signed 64-bit.
        return operator.index(seed) & 0xFFFF_FFFF_FFFF_FFFF
    except TypeError:
        raise TypeError(
            f"{op_name}: seed must be an integer or None, got {seed!r} "
            f"({type(seed).__name__}).\nFix: {op_name}(..., seed=int(seed))"
        ) from None
