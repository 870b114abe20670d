"""Lists and dicts as attributes of a checkpoint: what they get later is restored then, as in TensorFlow."""

from collections.abc import Callable
from typing import Any

from frontends.tf._typing import Nested
from spmd.replica import current_frame
from spmd.state import apply_pending, note_variable_made


class TrackedList(list[Any]):
    """A list whose new items get the values of a checkpoint that was restored before."""


class TrackedDict(dict[Any, Any]):
    """A dict whose new items get the values of a checkpoint that was restored before."""


def tracked(value: Nested) -> Any:
    """Copies lists and dicts to those that are tracked, those in them included; other values stay as they are."""
    if type(value) is list:
        return TrackedList(map(tracked, value))
    if type(value) is dict:
        return TrackedDict({key: tracked(item) for key, item in value.items()})
    return value


def _restoring(change: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = change(self, *map(tracked, args), **kwargs)
        note_variable_made()
        if current_frame() is None:  # a step looks for them by itself
            apply_pending()
        return result

    return method


for _cls, _names in (
    (TrackedList, ("append", "extend", "insert", "__setitem__", "__iadd__")),
    (TrackedDict, ("update", "setdefault", "__setitem__", "__ior__")),
):
    for _name in _names:
        setattr(_cls, _name, _restoring(getattr(_cls, _name)))
