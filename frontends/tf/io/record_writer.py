"""Writing TFRecord files: `tf.io.TFRecordWriter`, and the names of TensorFlow 1 in `tf.compat.v1.python_io`."""

import os
import zlib
from collections.abc import Iterator
from types import TracebackType
from typing import IO, Any, Self, final

from frontends.tf._typing import TensorLike
from spmd.files import StorePath, is_url
from spmd.input.pipeline import framed, opened, records
from spmd.typing import StrPath


class TFRecordCompressionType:
    """The kinds of compression.

    Source: `tf.compat.v1.python_io.TFRecordCompressionType`.
    """

    NONE = 0
    ZLIB = 1
    GZIP = 2


_NAMES = {0: "", 1: "ZLIB", 2: "GZIP", None: "", "": "", "NONE": "", "ZLIB": "ZLIB", "GZIP": "GZIP"}


@final
class TFRecordOptions:
    """How a TFRecord file is compressed.

    Args:
        compression_type: `"GZIP"`, `"ZLIB"`, or None or `""`; or one of `TFRecordCompressionType`.
        flush_mode: Accepted; not used.
        input_buffer_size: Accepted; not used.
        output_buffer_size: Accepted; not used.
        window_bits: the size of zlib's window, as a power of two; None means 15.
        compression_level: from 0 to 9; None means 6.
        compression_method: 8, the only one.
        mem_level: from 1 to 9; None means 8.
        compression_strategy: one of zlib's strategies.

    Raises:
        ValueError: there is no such compression.

    Source: `tf.io.TFRecordOptions`.
    """

    def __init__(
        self,
        compression_type: Any = None,
        flush_mode: int | None = None,
        input_buffer_size: int | None = None,
        output_buffer_size: int | None = None,
        window_bits: int | None = None,
        compression_level: int | None = None,
        compression_method: int | None = None,
        mem_level: int | None = None,
        compression_strategy: int | None = None,
    ) -> None:
        """Keeps the options."""
        _checked_name(compression_type)
        self.compression_type = compression_type
        self.window_bits = window_bits
        self.compression_level = compression_level
        self.compression_method = compression_method
        self.mem_level = mem_level
        self.compression_strategy = compression_strategy

    @classmethod
    def get_compression_type_string(cls, options: Any) -> str:
        """Returns the name of the compression of options, or of what stands for them.

        Raises:
            ValueError: there is no such compression.
        """
        if isinstance(options, TFRecordOptions):
            return cls.get_compression_type_string(options.compression_type)
        return _checked_name(options)


@final
class TFRecordWriter:
    """Writes records to a file.

    Args:
        path: the file, which is replaced; also in a bucket.
        options: a `TFRecordOptions`, or the name of a compression.

    Raises:
        OSError: the file cannot be opened.
        ValueError: there is no such compression.

    Examples:
        >>> import os, tempfile
        >>> from frontends import tf
        >>> path = os.path.join(tempfile.mkdtemp(), "data.tfrecord")
        >>> with tf.io.TFRecordWriter(path) as writer:
        ...     writer.write(b"abc")
        >>> list(tf.data.TFRecordDataset(path))
        [b'abc']

    Source: `tf.io.TFRecordWriter`.
    """

    def __init__(self, path: StrPath, options: TFRecordOptions | str | None = None) -> None:
        """Opens the file."""
        name = TFRecordOptions.get_compression_type_string(options)
        chosen = options if isinstance(options, TFRecordOptions) else TFRecordOptions(name)
        self._packer = _packer(name, chosen) if name else None
        self._file: IO[bytes] | None = _opened(path)

    def write(self, record: bytes | str) -> None:
        """Writes a record.

        Raises:
            RuntimeError: the writer is closed.
            TypeError: the record is no text.
        """
        file = self._open_file()
        content = record.encode() if isinstance(record, str) else record
        if not isinstance(content, bytes | bytearray | memoryview):
            raise TypeError(
                f"TFRecordWriter.write: expected bytes, got {type(record).__name__}.\n"
                "Fix: writer.write(example.SerializeToString())"
            )
        data = b"".join(framed(bytes(content)))
        file.write(data if self._packer is None else self._packer.compress(data))

    def flush(self) -> None:
        """Writes to the file what is kept in memory.

        Raises:
            RuntimeError: the writer is closed.
        """
        file = self._open_file()
        if self._packer is not None:
            file.write(self._packer.flush(zlib.Z_SYNC_FLUSH))
        file.flush()

    def close(self) -> None:
        """Closes the file; calling it again does nothing."""
        file, self._file = self._file, None
        if file is not None:
            with file:
                if self._packer is not None:
                    file.write(self._packer.flush())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_file", None) is not None:
            self.close()

    def _open_file(self) -> IO[bytes]:
        if self._file is None:
            raise RuntimeError("Writer is closed.\nFix: write inside of the with block.")
        return self._file


def tf_record_iterator(path: StrPath, options: TensorLike = None) -> Iterator[bytes]:
    """Yields the records of a TFRecord file.

    Args:
        path: the file.
        options: a `TFRecordOptions`, or the name of a compression.

    Raises:
        OSError: it cannot be opened.
        ValueError: it is damaged (`tf.errors.DataLossError`), or there is no such compression.

    Source: `tf.compat.v1.io.tf_record_iterator`.
    """
    name = TFRecordOptions.get_compression_type_string(options)
    with opened(os.fspath(path), name) as file:
        yield from records(file)


def _checked_name(value: Any) -> str:
    try:
        return _NAMES[value]
    except (KeyError, TypeError):
        raise ValueError(
            f'Not a valid compression_type: "{value}"\nFix: "GZIP", "ZLIB" or None'
        ) from None


def _opened(path: StrPath) -> IO[bytes]:
    name = os.fsdecode(path)
    return StorePath(name).open("wb") if is_url(name) else open(name, "wb")


def _packer(name: str, options: TFRecordOptions) -> Any:
    bits = 15 if options.window_bits is None else abs(options.window_bits) & 15 or 15
    level = options.compression_level
    return zlib.compressobj(
        -1 if level is None else level,
        zlib.DEFLATED,
        bits + 16 if name == "GZIP" else bits,
        options.mem_level or 8,
        options.compression_strategy or zlib.Z_DEFAULT_STRATEGY,
    )
