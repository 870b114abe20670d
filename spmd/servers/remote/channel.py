"""Channels between two processes of one machine: messages lie in memory that both have, and a socket says so.

A call takes a twentieth of the time that it takes by Ray. The client invites the server, over Ray's authenticated
channel, to a socket that only this user can reach, and that has no name any more once both have it: nothing listens.
"""

import contextlib
import secrets
import socket
import struct
import tempfile
import threading
import weakref
from collections.abc import Callable, Sequence

from spmd.servers.remote.messages import pack_into
from spmd.servers.remote.shared_memory import SharedMemory

# Sizes of the memory in bytes: at first, and of a message at most.
_LEAST_SHARED = 1 << 20
_MOST_SHARED = 1 << 26
_MARK = 32
_CALL = struct.Struct("<Q")  # size of the message
_ANSWER = struct.Struct("<QB")  # size of the answer, and where it is
_IN_MEMORY, _FOLLOWS, _FAILED = range(3)
_SECONDS = 10.0


class FailedCallError(Exception):
    """The server raised an error, of which this has the pickle."""

    def __init__(self, dumped: bytes) -> None:
        super().__init__("The server raised an error.")
        self.dumped = dumped


class Channel:
    """The client's end of a channel; for one thread at a time."""

    def __init__(self, connection: socket.socket) -> None:
        """Takes a connection; `open` makes it."""
        self._connection = connection
        self._close = weakref.finalize(self, connection.close)
        self._memory: SharedMemory | None = None
        self._is_new = False  # the server does not have the memory yet

    @classmethod
    def open(cls, invite: Callable[[str, bytes], bool]) -> "Channel | None":
        """Opens a channel to another process; returns None if that is not on this machine.

        Args:
            invite: has the other process call `serve` with a path and a mark; returns what that does.
        """
        mark = secrets.token_bytes(_MARK)
        with (
            # Only this user can look into the folder.
            tempfile.TemporaryDirectory(prefix="jaxtribute-") as folder,
            socket.socket(socket.AF_UNIX) as listener,
        ):
            path = f"{folder}/channel"
            try:
                listener.bind(path)
            except OSError:  # the path is too long
                return None
            listener.listen(1)
            listener.settimeout(_SECONDS)
            if not invite(path, mark):
                return None
            connection, _ = listener.accept()
        channel = cls(connection)
        if channel._received(_MARK, lambda: None) != mark:
            channel.close()
            return None
        return channel

    def fits(self, size: int) -> bool:
        """Tells whether a message of so many bytes can pass; makes room for it."""
        if size > _MOST_SHARED:
            return False
        if self._memory is None or len(self._memory.view) < size:
            self._memory = SharedMemory.create(max(_LEAST_SHARED, 2 * size))
            self._is_new = True
        return self._memory is not None

    def call(
        self, parts: Sequence[bytes], size: int, seconds: float, check: Callable[[], None]
    ) -> bytes:
        """Sends a message that fits, and returns the answer.

        Args:
            parts: of the message.
            size: of all of them.
            seconds: how often to check.
            check: called while the answer is waited for; may raise an error.

        Raises:
            FailedCallError: the server raised an error.
            ConnectionError: the server is gone, or has closed the channel.
        """
        assert self._memory is not None
        pack_into(self._memory.view, parts)
        files, self._is_new = [self._memory.file] if self._is_new else [], False
        self._connection.settimeout(seconds)
        socket.send_fds(self._connection, [_CALL.pack(size)], files)
        length, where = _ANSWER.unpack(self._received(_ANSWER.size, check))
        if where == _IN_MEMORY:
            return bytes(self._memory.view[:length])  # the next message will be there
        answer = self._received(length, check)
        if where == _FAILED:
            raise FailedCallError(answer)
        self.fits(min(length, _MOST_SHARED))
        return answer

    def close(self) -> None:
        """Ends the channel."""
        self._close()

    def _received(self, size: int, check: Callable[[], None]) -> bytes:
        received = bytearray()
        while len(received) < size:
            try:
                part = self._connection.recv(size - len(received))
            except TimeoutError:
                check()
                continue
            if not part:
                raise ConnectionError("The other process has closed the channel.")
            received += part
        return bytes(received)


class ServedChannel:
    """The server's end of a channel: a thread that answers."""

    def __init__(
        self,
        connection: socket.socket,
        answer: Callable[[memoryview], tuple[Sequence[bytes], int]],
        dump: Callable[[BaseException], bytes],
    ) -> None:
        """Begins to answer; `serve` does it."""
        self._connection, self._answer, self._dump = connection, answer, dump
        threading.Thread(target=self._run, name="channel", daemon=True).start()

    def close(self) -> None:
        """Answers no more messages than the one that is here."""
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)

    def _run(self) -> None:
        memory: SharedMemory | None = None
        with self._connection, contextlib.suppress(OSError):  # the client is gone
            while True:
                call, files, _, _ = socket.recv_fds(self._connection, _CALL.size, 1)
                if not call:
                    return
                if files:
                    memory = SharedMemory(files[0])
                assert memory is not None
                (size,) = _CALL.unpack(call)
                self._reply(memory.view, size)

    def _reply(self, memory: memoryview, size: int) -> None:
        try:
            parts, length = self._answer(memory[:size])
        except BaseException as error:
            dumped = self._dump(error)
            self._connection.sendall(_ANSWER.pack(len(dumped), _FAILED) + dumped)
            return
        if length > len(memory):
            self._connection.sendall(_ANSWER.pack(length, _FOLLOWS) + b"".join(parts))
        else:
            pack_into(memory, parts)
            self._connection.sendall(_ANSWER.pack(length, _IN_MEMORY))


def serve(
    path: str,
    mark: bytes,
    answer: Callable[[memoryview], tuple[Sequence[bytes], int]],
    dump: Callable[[BaseException], bytes],
) -> ServedChannel | None:
    """Follows an invitation to a channel; returns None if it came from another machine.

    Args:
        path: of the socket.
        mark: by which the client knows who connects.
        answer: returns the parts of the answer to a message, and its size.
        dump: pickles an error.
    """
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(path)
        connection.sendall(mark)
    except OSError:
        connection.close()
        return None
    return ServedChannel(connection, answer, dump)
