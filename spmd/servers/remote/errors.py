"""What can go wrong between a coordinator, its workers and the parameter servers."""

from spmd.errors import SpmdError, UnavailableError


class ServerLostError(UnavailableError):
    """A parameter server died or cannot be reached, and with it the values that it held."""


class ClusterError(SpmdError, RuntimeError):
    """The cluster cannot be started or joined."""


class TokenError(ClusterError):
    """The cluster refuses the token of a task or program, or there is none."""


class AddressInUseError(ClusterError):
    """Something else listens where a task is to serve."""


class MadeVariablesError(SpmdError, RuntimeError):
    """A closure made variables in a worker, which only the coordinator can do; caught by the engine."""


class GangLostError(UnavailableError):
    """A process of a gang died or cannot be reached, and with it the values that all of them held together."""
