"""Summaries that a model function collects, for its estimator to write when a step has run."""

import re
from typing import Any, NamedTuple

from frontends.tf._typing import TensorLike
from frontends.tf.compat.v1.collections import GraphKeys, add_to_collection, add_to_collections
from frontends.tf.graph import current_graph
from frontends.tf.ops.convert import convert_to_tensor
from frontends.tf.ops.name_scope import in_name_scope

# The collection of all summaries, whatever others they are in.
ALL_SUMMARIES = "all_summaries"
_NOT_IN_TAGS = re.compile(r"[^-/\w.]")


class Summary(NamedTuple):
    """What is to be written.

    Attributes:
        name: in the file.
        kind: `"scalar"`, `"histogram"`, `"image"` or `"text"`, as the functions of `tf.summary` are called.
        tensor: what the model function computed; a text is known already.
        max_outputs: of images: how many are shown, which their names tell.
    """

    name: str
    kind: str
    tensor: Any
    max_outputs: int | None = None


def is_collected(step: TensorLike = None) -> bool:
    """Tells whether a summary is one of a model function, which names no step."""
    return step is None and current_graph() is not None


def collect(
    name: str,
    kind: str,
    tensor: Any,
    collections: Any = None,
    family: str | None = None,
    max_outputs: int | None = None,
) -> Summary:
    """Appends a summary to collections of the model function.

    Args:
        name: see `tag`.
        kind: see `Summary`.
        tensor: likewise.
        collections: names of collections; None for `tf.GraphKeys.SUMMARIES`.
        family: see `tag`.
        max_outputs: see `Summary`.
    """
    summary = Summary(tag(name, family), kind, convert_to_tensor(tensor), max_outputs)
    add_to_collections([GraphKeys.SUMMARIES] if collections is None else collections, summary)
    add_to_collection(ALL_SUMMARIES, summary)
    return summary


def tag(name: str, family: str | None = None) -> str:
    """Names a summary as TensorFlow 1 does: below the name scope, and unique in a model function.

    Args:
        name: characters that no tag may have become `_`.
        family: before the name, twice.
    """
    base = _clean(name) if family is None else f"{_clean(family)}/{_clean(name)}"
    graph, full = current_graph(), in_name_scope(base)
    unique = full if graph is None else graph.unique_name(full)
    return unique if family is None else f"{_clean(family)}/{unique}"


def _clean(name: str) -> str:
    return _NOT_IN_TAGS.sub("_", name).lstrip("/")
