"""What a step may change: variables of any library, found, read and written as a flat list of arrays."""

from spmd.state.adapter import Adapter as Adapter
from spmd.state.adapter import Group as Group
from spmd.state.deferred import apply_pending as apply_pending
from spmd.state.deferred import defer as defer
from spmd.state.deferred import drop_deferred as drop_deferred
from spmd.state.deferred import note_variable_made as note_variable_made
from spmd.state.discovery import discover as discover
from spmd.state.kinds import Kind as Kind
from spmd.state.observers import WRITE_OBSERVERS as WRITE_OBSERVERS
from spmd.state.observers import overwritten as overwritten
from spmd.state.registry import adapter_of as adapter_of
from spmd.state.registry import adapters as adapters
from spmd.state.registry import register_adapter as register_adapter
from spmd.state.roles import Role as Role
from spmd.state.searched import Searched as Searched
from spmd.state.table import StateTable as StateTable
from spmd.state.variable import Variable as Variable
from spmd.state.variable import writes_undone as writes_undone
from spmd.state.watch import Watch as Watch
from spmd.state.watch import cell_contents as cell_contents
