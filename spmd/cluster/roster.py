"""The processes of a cluster: their addresses and names."""

import dataclasses
from collections.abc import Iterable, Sequence

from spmd.cluster.address import canonical_host, is_loopback, split_address


@dataclasses.dataclass(frozen=True)
class Roster:
    """The processes of a cluster, and which of them this is.

    Attributes:
        addresses: `"host:port"` of each process.
        process_id: index of this process.
        names: names of the processes in messages; by default `worker 0`, `worker 1` and so on.

    Raises:
        ValueError: an address is malformed, or `process_id` or `names` does not fit the addresses.

    Examples:
        >>> Roster(["a:1", "b:1"], 0, ["chief 0", "worker 0"]).label(1)
        'worker 0 (b:1)'
    """

    addresses: Sequence[str]
    process_id: int
    names: Sequence[str] = ()

    def __post_init__(self) -> None:
        count = len(self.addresses)
        for address in self.addresses:
            split_address(address)
        names = tuple(self.names) or tuple(f"worker {i}" for i in range(count))
        object.__setattr__(self, "addresses", tuple(self.addresses))
        object.__setattr__(self, "names", names)
        if len(names) != count:
            raise ValueError(f"Expected a name for each of {count} addresses, but got {names}.")
        if not 0 <= self.process_id < count:
            raise ValueError(
                f"Expected process_id to be one of 0 to {count - 1}, since there are {count} addresses, but got "
                f"{self.process_id}."
            )

    @property
    def me(self) -> str:
        """The name of this process."""
        return self.names[self.process_id]

    @property
    def is_local(self) -> bool:
        """Whether all processes run on this machine, by their addresses."""
        return all(is_loopback(split_address(address)[0]) for address in self.addresses)

    @property
    def index_on_machine(self) -> int:
        """Index of this process among those of its machine, by their addresses."""
        hosts = [_machine(address) for address in self.addresses[: self.process_id + 1]]
        return hosts[:-1].count(hosts[-1])

    def label(self, process: int) -> str:
        """Returns the name and address of a process."""
        return f"{self.names[process]} ({self.addresses[process]})"

    def listed(self, processes: Iterable[int]) -> str:
        """Returns names and addresses of some processes, in their order."""
        return ", ".join(self.label(process) for process in sorted(processes))

    @staticmethod
    def same_address(mine: str, other: object, own: bool) -> bool:
        """Tells whether two tasks' lists agree about an address.

        With `own` it is the address of one of the two, which may list itself as localhost.
        """
        if mine.lower() == str(other).lower():
            return True
        try:
            (host, port), (other_host, other_port) = map(split_address, (mine, str(other)))
        except ValueError:
            return False
        return own and port == other_port and (is_loopback(host) or is_loopback(other_host))


def _machine(address: str) -> str:
    host = split_address(address)[0]
    return "" if is_loopback(host) else canonical_host(host)
