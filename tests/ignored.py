"""Parameters of the front end that are accepted without effect: what docs/ignored.md lists.

    python -m tests.ignored           # writes the page

The page lists what a function never reads, under the names by which scripts reach the function. `name`, which nearly
all ignore, is left out.
"""

import ast
import importlib
import inspect
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

PAGE = Path(__file__).resolve().parents[1] / "docs" / "ignored.md"

NAMESPACES = (
    *("tf", "tf.math", "tf.linalg", "tf.nn", "tf.random", "tf.image", "tf.debugging", "tf.nest"),
    *("tf.dtypes", "tf.autograph", "tf.config", "tf.config.experimental", "tf.config.optimizer"),
    *("tf.config.threading", "tf.test", "tf.xla.experimental", "tf.profiler.experimental"),
    "tf.distribute",
    *("tf.distribute.experimental", "tf.distribute.cluster_resolver", "tf.data"),
    *(
        "tf.data.experimental",
        "tf.train",
        "tf.compat.v1.train",
        "tf.saved_model",
        "tf.summary",
        "tf.summary.experimental",
    ),
    *("tf.io", "tf.io.gfile", "tf.sparse", "tf.keras"),
)

HEAD = """# Parameters without effect

<!-- Written by `python -m tests.ignored`. -->

The front end takes every parameter that TensorFlow takes, so that scripts run as they are. Those on this page
change nothing, because there is nothing to change: XLA chooses algorithms and memory, programs have no
sessions, shapes are always known, and arrays are placed by the strategy.

`name=` is accepted by all functions and shown in messages by a few (`tf.Variable`, metrics, optimizers).

Options that are accepted as a whole:

| options | because |
|---|---|
| `tf.function(jit_compile=, experimental_...)` | programs are always compiled, for the shapes that come |
| `tf.distribute.RunOptions` | batches of any size are padded and masked |
| `tf.distribute.InputOptions`, all but `experimental_replication_mode` | batches are always placed on the devices ahead of use |
| `tf.distribute.experimental.CommunicationOptions(implementation=)` | XLA takes NCCL on GPUs and gloo on processors |
| `tf.distribute.CrossDeviceOps`, all but `HierarchicalCopyAllReduce` | XLA chooses the algorithm |
| `tf.saved_model.SaveOptions`, `tf.saved_model.LoadOptions` | there is one way of saving and loading |
| `tf.train.CheckpointOptions(experimental_io_device=, experimental_sharding_callback=)` | each process writes files of its own |
| `tf.data.Options`, all but `experimental_distribute.auto_shard_policy` | they steer TensorFlow's runtime |
| `tf.config.LogicalDeviceConfiguration(experimental_priority=, experimental_device_ordinal=)` | JAX's devices have none |
| `tf.config.optimizer.set_jit`, `tf.config.optimizer.set_experimental_options` | XLA compiles and optimizes every program |
| `tf.config.threading.set_inter_op_parallelism_threads` | XLA schedules the operations of a program |
| `tf.config.experimental.set_synchronous_execution` | reading a value waits for it |
| `tf.config.experimental.set_device_policy` | operands on other devices are copied |
| `tf.config.experimental.enable_mlir_bridge`, `disable_mlir_bridge` | programs are MLIR always |
| `tf.device` in a program | the strategy says where it runs |
| `tf.xla.experimental.jit_scope` | XLA compiles every program |
| `tf.profiler.experimental.ProfilerOptions(delay_ms=)` | a trace begins when it is started |
"""


def ignored_parameters() -> dict[str, tuple[str, ...]]:
    """Lists what functions of the front end accept and never read, by TensorFlow's name."""
    found: dict[str, tuple[str, ...]] = {}
    seen = set[object]()
    for name, function in _functions():
        if function in seen:
            continue
        seen.add(function)
        unread = tuple(_unread(function))
        if unread:
            found[name] = unread
    return found


def page(found: dict[str, tuple[str, ...]]) -> str:
    """Returns the text of the page."""
    lines = [HEAD]
    for namespace, rows in _by_namespace(found).items():
        lines += [f"## {namespace}\n", "| function | ignored |", "|---|---|"]
        lines += [f"| `{name}` | {', '.join(f'`{p}`' for p in rows[name])} |" for name in rows]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _by_namespace(found: dict[str, tuple[str, ...]]) -> dict[str, dict[str, tuple[str, ...]]]:
    groups: dict[str, dict[str, tuple[str, ...]]] = {}
    for name in sorted(found):
        home = max((n for n in NAMESPACES if name.startswith(f"{n}.")), key=len)
        groups.setdefault(home, {})[name.removeprefix(f"{home}.")] = found[name]
    return groups


def _functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Lists all functions and methods of the front end that scripts can name, base classes first."""
    classes: list[tuple[str, type]] = []
    for namespace in NAMESPACES:
        module = importlib.import_module(f"frontends.{namespace}") if "." in namespace else None
        module = module or importlib.import_module("frontends.tf")
        for name in sorted(dir(module)):
            value = None if name.startswith("_") else getattr(module, name)
            if isinstance(value, type) and _is_ours(value):
                classes.append((f"{namespace}.{name}", value))
            elif inspect.isfunction(value) and _is_ours(value):
                yield f"{namespace}.{name}", value
    for full, each in sorted(classes, key=lambda pair: len(pair[1].__mro__)):
        for base in each.__mro__:
            concrete = _is_ours(base) and Protocol not in base.__bases__
            for name, value in vars(base).items() if concrete else ():
                method = value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
                if inspect.isfunction(method) and (name == "__init__" or name[0] != "_"):
                    yield (full if name == "__init__" else f"{full}.{name}"), method


def _is_ours(value: Any) -> bool:
    return not isinstance(value, ModuleType) and (value.__module__ or "").startswith("frontends.")


def _unread(function: Callable[..., Any]) -> list[str]:
    """Lists the parameters that a function never reads."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function)))).body[0]
    except (OSError, TypeError, SyntaxError):
        return []
    if not isinstance(tree, ast.FunctionDef):
        return []
    arguments = tree.args
    names = [
        *(each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)),
        *(each.arg for each in (arguments.vararg, arguments.kwarg) if each is not None),
    ]
    if getattr(function, "__isabstractmethod__", False):
        return []
    read = {node.id for part in tree.body for node in ast.walk(part) if isinstance(node, ast.Name)}
    return [each for each in names if each not in read | {"self", "cls", "name"}]


if __name__ == "__main__":
    PAGE.write_text(page(ignored_parameters()))
