"""`tf.compat.v1.train.init_from_checkpoint`: first values for variables from the checkpoint of another model."""

import functools
import operator
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from frontends.tf.compat.v1.slots import name_of
from frontends.tf.gradient_sources import is_variable
from frontends.tf.graph import current_graph, default_graph
from frontends.tf.train.checkpoint_reader import CheckpointReader, load_checkpoint
from spmd.typing import StrPath


def init_from_checkpoint(
    ckpt_dir_or_file: StrPath, assignment_map: Mapping[str, Any] | Iterable[tuple[str, Any]]
) -> None:
    """Lets variables start with values of a checkpoint.

    In a model function they have them where its estimator has no checkpoint yet; elsewhere they are assigned at once.

    Args:
        ckpt_dir_or_file: what was saved, or a folder, for its latest checkpoint.
        assignment_map: from names in the checkpoint to variables or their names; or from `"scope/"` to `"other_scope/"`, for
            all variables of `other_scope` that `tf.get_variable` has made so far. `"/"` is the top.

    Raises:
        FileNotFoundError: there is no checkpoint.
        ValueError: the checkpoint lacks a variable, or has it with another shape; or a name is not that of a variable.

    Source: `tf.compat.v1.train.init_from_checkpoint`.
    """
    reader = load_checkpoint(ckpt_dir_or_file)
    given: Any = assignment_map.items() if isinstance(assignment_map, Mapping) else assignment_map
    pairs = sorted(given, key=operator.itemgetter(0))
    graph, shapes = current_graph(), reader.get_variable_to_shape_map()
    for saved, variable in (one for pair in pairs for one in _single(*pair)):
        read = functools.partial(_value, reader, saved, variable)
        if saved not in shapes:
            raise ValueError(
                f"Tensor {saved} ({name_of(variable)} here) is not found in the checkpoint {ckpt_dir_or_file}. It has: "
                f"{', '.join(sorted(shapes))}."
            )
        if not variable.get_shape().is_compatible_with(shapes[saved]):
            raise ValueError(
                f"Shape of variable {name_of(variable)} ({variable.get_shape()}) doesn't match with shape of tensor "
                f"{saved} ({shapes[saved]}) from the checkpoint {ckpt_dir_or_file}."
            )
        if graph is None:
            variable.assign(read())
        else:
            graph.starts[name_of(variable)] = variable, read


def _value(reader: CheckpointReader, name: str, variable: Any) -> Any:
    return np.asarray(reader.get_tensor(name)).astype(variable.dtype)


def _single(saved: str, here: Any) -> Iterator[tuple[str, Any]]:
    """Makes of an item of an assignment map pairs of a name in the checkpoint and a variable."""
    if is_variable(here):
        yield saved, here
        return
    graph = default_graph()
    variables = {name: graph.store.variables[name] for name in sorted(graph.used)}
    if here in variables:
        yield saved, variables[here]
        return
    if not saved.endswith("/"):
        raise ValueError(
            f"Assignment map with scope only name {here} should map to scope only {saved}. Should be 'scope/': "
            f"'other_scope/'; or make the variable {here} first."
        )
    scope = here if here.endswith("/") or not here else f"{here}/"
    for name, variable in variables.items():
        if scope == "/" or name.startswith(scope):
            below = name if scope == "/" else name.removeprefix(scope)
            yield below if saved == "/" else saved + below, variable
