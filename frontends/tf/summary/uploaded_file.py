"""Event files in object stores, which append nothing: the whole file is put there again, now and then and at the end."""

import logging
import os
import tempfile
import threading
import time

from spmd.files import StorePath

_LOG = logging.getLogger(__name__)
_SECONDS = 30.0


class UploadedFile:
    """A file that is written here, and of which a store has a copy.

    A thread puts it there when it is flushed, not more often than twice a minute; `close` waits until all of it is there.
    """

    def __init__(self, url: str) -> None:
        """Makes the file, empty, here and in the store.

        Raises:
            OSError: the store does not take it.
        """
        self._target = StorePath(url)
        self._target.write_bytes(b"")
        self._folder = tempfile.TemporaryDirectory(prefix="jaxtribute-")
        self._file = open(os.path.join(self._folder.name, "events"), "wb")  # noqa: SIM115 (closed by close)
        self._thread: threading.Thread | None = None
        self._put_at = time.monotonic()

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

    def close(self) -> None:
        """Puts all of it into the store.

        Raises:
            OSError: the store does not take it.
        """
        if self._file.closed:
            return
        self._file.close()
        if self._thread is not None:
            self._thread.join()
        self._put()
        self._folder.cleanup()

    def _put(self) -> None:
        with open(self._file.name, "rb") as file:
            self._target.write_bytes(file.read())

    def _try_to_put(self) -> None:
        try:
            self._put()
        except OSError as error:  # training goes on, and the next flush tries again
            _LOG.warning("Summaries are not in the store yet: %s", error)
