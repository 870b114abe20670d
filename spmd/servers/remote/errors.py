"""What can go wrong between a coordinator, its workers and the parameter servers."""

from spmd.errors import SpmdError, UnavailableError


class ServerLostError(UnavailableError):
    """A parameter server died or cannot be reached, and with it the values that it held.

    Attributes:
        remedy: what a program can do about it; the message ends with it.
    """

    def __init__(self, message: str, remedy: str = "") -> None:
        """Makes the error.

        Args:
            message: says what is lost, and why.
            remedy: more sentences, to be added to it.
        """
        super().__init__(f"{message} {remedy}" if remedy else message)
        self.remedy = remedy

    @property
    def loss(self) -> str:
        """See `UnavailableError`."""
        return str(self).removesuffix(f" {self.remedy}")


class ClusterError(SpmdError, RuntimeError):
    """The cluster cannot be started or joined."""


class TokenError(ClusterError):
    """The cluster refuses the token of a task or program, or there is none."""


class AddressInUseError(ClusterError):
    """Something else listens where a task is to serve."""


class UnknownHostError(ClusterError):
    """The name of a host of the cluster is unknown here.

    Attributes:
        host: its name.
        reason: what the system says.
    """

    def __init__(self, host: str, reason: str, source: str = "") -> None:
        """Makes the error.

        Args:
            host: the name.
            reason: what the system says.
            source: where the addresses of the cluster come from, if that is known.
        """
        mend = f" Check the addresses in {source}." if source else ""
        super().__init__(f"The host {host!r} of the cluster cannot be found: {reason}.{mend}")
        self.host, self.reason = host, reason


class MadeVariablesError(SpmdError, RuntimeError):
    """A closure made variables in a worker, which only the coordinator can do; caught by the engine."""


class GangLostError(UnavailableError):
    """A process of a gang died or cannot be reached, and with it the values that all of them held together."""
