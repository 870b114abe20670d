"""Channels between two processes of one machine: messages lie in memory that both have, and a socket says so.

A call takes a twentieth of the time that it takes by Ray. The client invites the server, over Ray's authenticated
channel, to a socket that only this user can reach, and that has no name any more once both have it: nothing listens.
"""

import contextlib
import errno
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
_TOO_MANY_FILES = (
    "A parameter server cannot take the memory of a message, as its process has too many open files. Raise the limit "
    "where its task starts: ulimit -n 65536"
)


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
        # What the server has; compared with the memory, so that an interrupt between two lines does no harm.
        self._sent: SharedMemory | None = None

    @classmethod
    def open(cls, invite: Callable[[str, bytes], bool]) -> "Channel | None":
        """Opens a channel to another process; returns None if that is not on this machine.

        Args:
            invite: has the other process call `serve` with a path and a mark; returns what that does.
        """
        mark = secrets.token_bytes(_MARK)
        try:
            # Only this user can look into it.
            temporary = tempfile.TemporaryDirectory(prefix="jaxtribute-")
        except OSError:  # no folder can be written
            return None
        with temporary as folder, socket.socket(socket.AF_UNIX) as listener:
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
        if bytes(channel._received(_MARK, lambda: None)) != mark:
            channel.close()
            return None
        return channel

    def fits(self, size: int) -> bool:
        """Tells whether a message of so many bytes can pass; makes room for it."""
        if size > _MOST_SHARED:
            return False
        if self._memory is None or len(self._memory.view) < size:
            self._memory = SharedMemory.create(max(_LEAST_SHARED, 2 * size))
        return self._memory is not None

    def call(
        self, parts: Sequence[bytes], size: int, seconds: float, check: Callable[[], None]
    ) -> bytes | memoryview:
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
        files = [] if self._sent is self._memory else [self._memory.file]
        self._connection.settimeout(seconds)
        socket.send_fds(self._connection, [_CALL.pack(size)], files)
        self._sent = self._memory
        length, where = _ANSWER.unpack(self._received(_ANSWER.size, check))
        if where == _IN_MEMORY:
            return bytes(self._memory.view[:length])  # the next message will be there
        answer = self._received(length, check)
        if where == _FAILED:
            self._sent = None  # the server may have failed to take it
            raise FailedCallError(bytes(answer))
        self.fits(min(length, _MOST_SHARED))
        return answer

    def close(self) -> None:
        """Ends the channel."""
        self._close()

    def _received(self, size: int, check: Callable[[], None]) -> memoryview:
        whole = rest = memoryview(bytearray(size))
        while rest:
            try:
                count = self._connection.recv_into(rest)
            except TimeoutError:
                check()
                continue
            if not count:
                raise ConnectionError("The other process has closed the channel.")
            rest = rest[count:]
        return whole.toreadonly()


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
        with self._connection, contextlib.suppress(ConnectionError):  # the client is gone
            while True:
                call, files, flags, _ = socket.recv_fds(self._connection, _CALL.size, 1)
                if not call:
                    return
                try:
                    if flags & socket.MSG_CTRUNC:  # the system has dropped the file
                        raise OSError(errno.EMFILE, _TOO_MANY_FILES)
                    if files:
                        memory = SharedMemory(files[0])
                    assert memory is not None
                    reply = self._reply(memory.view, *_CALL.unpack(call))
                except BaseException as error:
                    dumped = self._dump(error)
                    reply = _ANSWER.pack(len(dumped), _FAILED) + dumped
                self._connection.sendall(reply)
                del reply  # it may be large, and the next message may take long to come

    def _reply(self, memory: memoryview, size: int) -> bytes:
        parts, length = self._answer(memory[:size])
        if length > len(memory):
            return b"".join((_ANSWER.pack(length, _FOLLOWS), *parts))
        pack_into(memory, parts)
        return _ANSWER.pack(length, _IN_MEMORY)


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
