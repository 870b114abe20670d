"""The one fake of the cluster's store: what other processes say, without any."""

from collections.abc import Callable, Sequence

from spmd.cluster.store import LocalStore

Answer = Callable[[str, str], Sequence[str]]


class FakeStore(LocalStore):
    """A store in which a test speaks for the other processes; see the fixture `store`.

    Attributes:
        answer: given the key and this process's text, returns the texts of all processes; this process's alone
            unless a test sets it.
        keys: of the gathers so far.
    """

    def __init__(self) -> None:
        super().__init__()
        self.answer: Answer = lambda key, text: (text,)
        self.keys: list[str] = []

    def gather(self, key, text, seconds, wanted) -> tuple[str, ...]:
        """Returns what `answer` does."""
        self.keys.append(key)
        return tuple(self.answer(key, text))
