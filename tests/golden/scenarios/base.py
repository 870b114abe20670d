"""What a scenario is: a generator of cases, written once for TensorFlow and for ours.

A *scenario* gets a `Setting`, and yields the name of each case with a function that computes it. A
*setting* is a strategy over some devices; its name is `n2` (MirroredStrategy over two), `n4`,
`one_device`, `default`, or `central-n2`.
"""

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

Case = tuple[str, Callable[[], Any]]
SCENARIOS: dict[str, "Scenario"] = {}

ALL = ("n1", "n2", "one_device", "default", "central-n1", "central-n2")
MIRRORED = ("n1", "n2")
NONE = ("none",)


@dataclasses.dataclass(frozen=True)
class Scenario:
    """Cases that share what they work on.

    Attributes:
        name: such as `"reduce.axis"`.
        group: file of the recording.
        settings: names of the settings it runs in.
        fresh: whether TensorFlow needs a process for each case, as failed collectives poison one.
        cases: makes the cases.
    """

    name: str
    group: str
    settings: tuple[str, ...]
    fresh: bool
    cases: Callable[["Setting"], Iterator[Case]]


def scenario(
    name: str, group: str, settings: tuple[str, ...] = ALL, *, fresh: bool = False
) -> Callable[[Any], Any]:
    """Registers a scenario."""

    def register(cases: Any) -> Any:
        SCENARIOS[name] = Scenario(name, group, settings, fresh, cases)
        return cases

    return register


class Setting:
    """TensorFlow or ours, with a strategy.

    Attributes:
        tf: the module.
        name: of the setting.
        n: number of replicas.
        strategy: the strategy; None in the setting `none`.
    """

    def __init__(self, tf: Any, name: str) -> None:
        self.tf = tf
        self.name = name
        self.n = replicas(name)
        devices = [f"CPU:{index}" for index in range(self.n)]
        kind = name.rpartition("-")[0] or ("mirrored" if name in (*MIRRORED, "n4") else name)
        self.strategy: Any = {
            "mirrored": lambda: tf.distribute.MirroredStrategy(devices),
            "one_device": lambda: tf.distribute.OneDeviceStrategy("CPU:0"),
            "default": tf.distribute.get_strategy,
            "central": lambda: tf.distribute.experimental.CentralStorageStrategy(devices, "CPU:0"),
            "none": lambda: None,
        }[kind]()

    def replica_id(self) -> Any:
        """The running replica's index."""
        return self.context().replica_id_in_sync_group

    def number(self) -> Any:
        """The running replica's index, as a float."""
        return self.tf.cast(self.replica_id(), self.tf.float32)

    def context(self) -> Any:
        """The running replica's context."""
        return self.tf.distribute.get_replica_context()

    def values(self, values: list[Any]) -> Any:
        """One value per replica."""
        return self.strategy.experimental_distribute_values_from_function(
            lambda context: self.tf.constant(values[int(context.replica_id_in_sync_group)])
        )

    def in_scope(self, function: Callable[[], Any]) -> Any:
        """Calls a function in the strategy's scope."""
        with self.strategy.scope():
            return function()

    def rows(self, element: Any) -> list[Any]:
        """What each replica holds of an element, as plain lists."""
        return [plain(local) for local in self.strategy.experimental_local_results(element)]

    def steps(self, batches: Any, limit: int = 60) -> list[Any]:
        """What each replica holds, in every step of a pass."""
        found = []
        for element in batches:
            found.append(self.rows(element))
            if len(found) == limit:
                break
        return found


def replicas(setting: str) -> int:
    """How many replicas a setting has."""
    return {"n2": 2, "n4": 4}.get(setting[-2:], 1)


def slope_of(tf: Any, function: Callable[..., Any]) -> Callable[[Any], Any]:
    """Makes the function that computes the gradient of one of a tensor."""

    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        return tape.gradient(y, x)

    return slope


def forms(
    s: Setting, function: Callable[..., Any], x: Any, *, slope: bool = False
) -> Iterator[Case]:
    """Cases of a function of one tensor: eagerly, in a function, in replicas; and the gradients.

    Replicas get the tensor times their index plus one.
    """
    tf = s.tf

    gradient = slope_of(tf, function)

    def in_replicas(one: Callable[..., Any]) -> Any:
        step = tf.function(lambda x: s.strategy.run(lambda x: one(x * (s.number() + 1.0)), (x,)))
        return step(tf.constant(x))

    yield "eager", lambda: function(tf.constant(x))
    yield "function", lambda: tf.function(function)(tf.constant(x))
    yield "run", lambda: in_replicas(function)
    if slope:
        yield "eager/slope", lambda: gradient(tf.constant(x))
        yield "function/slope", lambda: tf.function(gradient)(tf.constant(x))
        yield "run/slope", lambda: in_replicas(gradient)


def plain(value: Any) -> Any:
    """Arrays as plain lists, in their structure."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    if hasattr(value, "to_list"):
        return value.to_list()
    if isinstance(value, bytes):
        return value.decode()
    return _texts(np.asarray(value).tolist())


def _texts(value: Any) -> Any:
    if isinstance(value, list):
        return [_texts(item) for item in value]
    return value.decode() if isinstance(value, bytes) else value


def f32(values: Any) -> Any:
    """A float32 array."""
    return np.asarray(values, np.float32)
