"""Parameter servers: values that live elsewhere, and workers that update them asynchronously."""

from spmd.servers.coordinator import Coordinator as Coordinator
from spmd.servers.coordinator import Worker as Worker
from spmd.servers.coordinator import WorkerLostError as WorkerLostError
from spmd.servers.placement import Placement as Placement
from spmd.servers.placement import Shard as Shard
from spmd.servers.placement import split_rows as split_rows
from spmd.servers.reducers import Reduced as Reduced
from spmd.servers.reducers import fill as fill
from spmd.servers.reducers import keep_on_workers as keep_on_workers
from spmd.servers.reducers import plainly as plainly
from spmd.servers.reducers import register_reducer as register_reducer
from spmd.servers.remote_value import CancelledClosureError as CancelledClosureError
from spmd.servers.remote_value import RemoteValue as RemoteValue
from spmd.servers.rules import Rule as Rule
from spmd.servers.store import Change as Change
from spmd.servers.store import Store as Store
from spmd.servers.store import UnknownVariableError as UnknownVariableError
from spmd.servers.variables import ServerVariables as ServerVariables
from spmd.servers.variables import takes as takes
