"""What a step may change: variables of any library, found, read and written as a flat list of arrays."""

from spmd.state.adapter import Adapter, Group
from spmd.state.deferred import apply_pending, defer, drop_deferred, note_variable_made
from spmd.state.discovery import discover
from spmd.state.kinds import Kind
from spmd.state.observers import WRITE_OBSERVERS, overwritten
from spmd.state.registry import adapter_of, adapters, register_adapter
from spmd.state.table import StateTable
from spmd.state.variable import Variable
from spmd.state.watch import Watch, cell_contents

__all__ = [
    "WRITE_OBSERVERS",
    "Adapter",
    "Group",
    "Kind",
    "StateTable",
    "Variable",
    "Watch",
    "adapter_of",
    "adapters",
    "apply_pending",
    "cell_contents",
    "defer",
    "discover",
    "drop_deferred",
    "note_variable_made",
    "overwritten",
    "register_adapter",
]
