"""What runs in the workers for a program elsewhere."""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from frontends.tf._typing import Nested
from frontends.tf.distribute.scope import in_force
from frontends.tf.distribute.standalone.values import keep
from frontends.tf.ops.random_stream import make_stream, restart_stream
from frontends.tf.ops.seeds import SeedSetting, set_global_seed
from spmd.state import silently

# The program's setting of the global seed that this process follows.
_SEED: list[SeedSetting] = []


def call(
    strategy: Any,
    in_scope: bool,
    seed: SeedSetting,
    function: Callable[..., Any],
    args: Sequence[Nested],
    kwargs: Mapping[str, Nested],
) -> Any:
    """Calls a function of the program; what belongs to the replicas stays here."""
    follow_seed(seed)
    with in_force(strategy) if in_scope else contextlib.nullcontext():
        result = function(*args, **kwargs)
    return keep(result)


def call_method(strategy: Any, name: str, *args: Any, **kwargs: Any) -> Any:
    """Calls a method of the workers' strategy."""
    return getattr(strategy, name)(*args, **kwargs)


def follow_seed(seed: SeedSetting) -> None:
    """Sets the global seed as the program has set it, and makes the stream that draws from it."""
    if seed not in _SEED:
        _SEED[:] = [seed]
        with silently():  # each process has a stream of its own, all with the same numbers
            make_stream()
            if seed.times:
                set_global_seed(seed.value)
                restart_stream()
