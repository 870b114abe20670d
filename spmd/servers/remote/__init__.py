"""Parameter servers and workers in other processes, on Ray."""

from spmd.servers.remote._ray import SETTINGS as SETTINGS
from spmd.servers.remote.cluster import RemoteCluster as RemoteCluster
from spmd.servers.remote.errors import AddressInUseError as AddressInUseError
from spmd.servers.remote.errors import ClusterError as ClusterError
from spmd.servers.remote.errors import GangLostError as GangLostError
from spmd.servers.remote.errors import MadeVariablesError as MadeVariablesError
from spmd.servers.remote.errors import ServerLostError as ServerLostError
from spmd.servers.remote.gang import Gang as Gang
from spmd.servers.remote.gang import Pending as Pending
from spmd.servers.remote.joining import head_of as head_of
from spmd.servers.remote.joining import join as join
from spmd.servers.remote.joining import name_of as name_of
from spmd.servers.remote.kept import Kept as Kept
from spmd.servers.remote.kept import Reference as Reference
from spmd.servers.remote.kept import RemoteObject as RemoteObject
from spmd.servers.remote.nodes import Node as Node
from spmd.servers.remote.nodes import serve as serve
from spmd.servers.remote.shared_objects import Receiver as Receiver
from spmd.servers.remote.shared_objects import Sender as Sender
from spmd.servers.remote.shared_objects import receiving as receiving
