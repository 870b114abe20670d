"""Event files in object stores, which append nothing: the whole file is put there again, now and then and at the end."""

import logging
import os
import shutil
import tempfile
import threading
import time
import weakref

import jax

from spmd.files import StorePath, before_threads_end

_LOG = logging.getLogger(__name__)
_SECONDS = 30.0
_open = weakref.WeakSet["UploadedFile"]()


class UploadedFile:
    """A file that is written here, and of which a store has a copy.

    A thread puts it there when it is flushed, not more often than twice a minute; `put` and `close` wait until all of it is
    there. When the script ends, what is there is put.
    """

    def __init__(self, url: str) -> None:
        """Makes the file, empty, here and in the store.

        Raises:
            OSError: the store does not take it.
        """
        self._target = StorePath(url)
        self._target.write_bytes(b"")
        # Not a TemporaryDirectory, which a process that is forked from this one would delete.
        self._folder, self._process = tempfile.mkdtemp(prefix="jaxtribute-"), os.getpid()
        self._file = open(os.path.join(self._folder, "events"), "wb")  # noqa: SIM115 (closed by close)
        self._lock = threading.Lock()  # held while it is put there
        self._thread: threading.Thread | None = None
        self._put_at, self._size = time.monotonic(), 0
        self._is_lost = False  # the script ends, and the store did not take it
        _open.add(self)
        before_threads_end(_put_open_ones)

    def write(self, content: bytes) -> int:
        """Appends to the file here."""
        return self._file.write(content)

    def flush(self) -> None:
        """Has what is written put into the store, if that is due; waits for nothing."""
        self._file.flush()
        is_running = self._thread is not None and self._thread.is_alive()
        if is_running or time.monotonic() < self._put_at + _SECONDS:
            return
        self._put_at = time.monotonic()
        self._thread = threading.Thread(target=self._try_to_put, name="summary-upload", daemon=True)
        self._thread.start()

    def put(self) -> None:
        """Puts what is written into the store, and waits for it. A store that does not take it is warned of."""
        self._file.flush()
        self._put_at = time.monotonic()
        self._try_to_put()

    def close(self) -> None:
        """Puts all of it into the store.

        Raises:
            OSError: the store does not take it.
        """
        if self._file.closed or os.getpid() != self._process:
            return
        self._file.close()
        try:
            if not self._is_lost:
                self._put()
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _put_at_exit(self) -> None:
        self._file.flush()
        try:
            self._put()
        except OSError as error:
            self._is_lost = True
            _LOG.error("The last summaries are lost, the store does not take them: %s", error)

    def _put(self) -> None:
        with self._lock, open(self._file.name, "rb") as file:
            content = file.read()
            if len(content) > self._size:
                self._target.write_bytes(content)
                self._size = len(content)

    def _try_to_put(self) -> None:
        try:
            self._put()
        except OSError as error:  # training goes on, and the next flush tries again
            _LOG.warning("Summaries are not in the store yet: %s", error)


def _put_open_ones() -> None:
    """Puts what scripts have not closed; Python closes it too late, when stores cannot be reached any more."""
    try:
        jax.effects_barrier()
    finally:
        for file in list(_open):
            if not file._file.closed and file._process == os.getpid():
                file._put_at_exit()
