"""Functions of datasets as other processes of this machine get them."""

import contextlib
import functools
import sys
import threading
from collections.abc import Callable, Collection, Generator
from typing import Any

from frontends.tf.data.plain_functions import outside_of
from frontends.tf.ops.map_stream import MapStream
from frontends.tf.ops.seeds import seed_setting, set_global_seed
from spmd.input.pipeline import MapFunction, Sending
from spmd.source_lines import is_user_file

_LOCK = threading.Lock()


def sending_of(
    value: Callable[..., Any], make: Callable[..., MapFunction], stream: MapStream
) -> Sending | None:
    """Returns how a function is called in another process; None if it is not plain (`plain_functions.py`).

    Args:
        value: What the user passed.
        make: Makes a map function of it.
        stream: What it draws from here.
    """
    outside = outside_of(value)
    if outside is None:
        return None

    def pickled() -> bytes:
        import cloudpickle  # most scripts need no processes

        with _by_value(outside.modules):
            return cloudpickle.dumps(functools.partial(make, value), protocol=5)

    def draws() -> tuple[tuple[int, ...], int | None]:
        return stream.draws(), seed_setting().value

    def draw_from(given: tuple[tuple[int, ...], int | None]) -> None:
        numbers, seed = given
        if seed != seed_setting().value:
            set_global_seed(seed)
        stream.draw_from(numbers)

    return Sending(pickled, outside.is_current, draws, draw_from)


@contextlib.contextmanager
def _by_value(modules: Collection[str]) -> Generator[None]:
    """Has functions of the user's modules travel in a block: to import these once more may have effects."""
    import cloudpickle

    with _LOCK:
        found = [sys.modules[name] for name in modules if name in sys.modules]
        users = [
            module
            for module in found
            if module.__name__ != "__main__"
            and is_user_file(getattr(module, "__file__", None) or "<")
        ]
        for module in users:
            cloudpickle.register_pickle_by_value(module)
        try:
            yield
        finally:
            for module in users:
                cloudpickle.unregister_pickle_by_value(module)
