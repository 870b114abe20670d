"""The objects of a checkpoint as a graph, and their paths.

Objects are found breadth-first from the root, by the names of their views. The *path* of an object is the first
way that leads to it: `model/layers/0/kernel`. An object that several ways lead to is saved once, and all of the
ways are recorded, so a checkpoint of a model with its optimizer can be restored into the optimizer alone.
"""

import dataclasses
from typing import TypeAlias

from spmd.checkpoint.errors import CheckpointError
from spmd.checkpoint.view import View, view_of
from spmd.typing import Stateful

# A place in a container: identity of the container, and the name there.
Slot: TypeAlias = tuple[int, str]


@dataclasses.dataclass(frozen=True)
class TrackedObject:
    """An object that belongs to a checkpoint.

    Attributes:
        path: see above.
        view: what a checkpoint sees of it.
        key: its identity, or its slot if it is a plain value in a container.
        children: index of each child among all tracked objects, by name.
    """

    path: str
    view: View
    key: int | Slot
    children: dict[str, int] = dataclasses.field(default_factory=dict[str, int])


def walk(root: Stateful) -> list[TrackedObject]:
    """Finds all objects that belong to a checkpoint, breadth-first; the root comes first.

    Raises:
        CheckpointError: one of them cannot be saved.
    """
    objects = [track(root, "", None)]
    indices = {objects[0].key: 0}
    for parent in objects:  # grows while it is read
        for name, obj in parent.view.children.items():
            child = track(obj, join(parent.path, name), (id(parent.view.obj), name))
            if child.key not in indices:
                indices[child.key] = len(objects)
                objects.append(child)
            parent.children[name] = indices[child.key]
    return objects


def track(obj: Stateful, path: str, slot: Slot | None) -> TrackedObject:
    """Makes an object part of a checkpoint.

    Args:
        obj: the object.
        path: where it was found.
        slot: its place in what contains it; None for the root.

    Raises:
        CheckpointError: it cannot be saved.
    """
    view = view_of(obj)
    if view is None:
        raise CheckpointError(
            f"A checkpoint cannot keep {path or 'its root'}, a {type(obj).__name__}. It keeps models, "
            "optimizers, metrics and variables of Flax NNX, Keras and spmd, arrays, numbers and strings, lists, "
            "dicts and other pytrees of these, and iterators with get_state() and set_state(). Leave it out, "
            "or give it these two methods."
        )
    # Equal plain values in containers may be one Python object, but are saved one by one.
    is_plain = view.kind != "node" and view.write is None
    return TrackedObject(path, view, slot if is_plain and slot is not None else id(view.obj))


def join(path: str, name: str) -> str:
    """Appends a name to a path, after a slash; a slash in the name is escaped as TensorFlow does."""
    name = name.replace(".", "..").replace("/", ".S")
    return f"{path}/{name}" if path else name
