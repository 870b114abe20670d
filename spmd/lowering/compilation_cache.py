"""XLA's programs kept on disk, so that the next process need not compile them again."""

import contextlib
import functools
import hashlib
import logging
import os
import platform
from pathlib import Path

import jax
from jax.experimental.compilation_cache import compilation_cache

# JAX can bound its cache itself, but then reads the whole directory under a lock for every program that it
# writes, and a process that is killed while it writes leaves a directory that nobody can write to any more.
_MAX_BYTES = 2 * 1024**3
_MAX_PROGRAMS = 4000
_KEPT = 0.75

# JAX's own threshold of a second would leave out most programs of a CPU; what makes the initial values of a
# model are dozens of small ones.
_MIN_SECONDS = 0.01
_JAX_MIN_SECONDS = 1.0


def enable_compilation_cache(directory: str | os.PathLike[str] | None = None) -> str:
    """Keeps compiled programs in a directory, for this and later processes.

    It is on without this call (`keep_compiled_programs`), which chooses another directory. JAX keys programs
    by their code, their options, the devices and the versions. Those unused for longest are deleted here, at
    the start, when the directory has outgrown 2 GiB or 4,000 programs.

    Args:
        directory: where; None takes `$XDG_CACHE_HOME/jaxtribute`, or `~/.cache/jaxtribute`, and in it a
            directory for the kind of this machine's processor.

    Returns:
        The directory.

    Raises:
        OSError: the directory cannot be made, or the user has no home.

    Examples:
        >>> import tempfile
        >>> directory = tempfile.mkdtemp()
        >>> enable_compilation_cache(directory) == directory
        True
        >>> jax.config.update("jax_compilation_cache_dir", None)  # and off again

    Source: `jax_compilation_cache_dir`.
    """
    if directory is None:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
        if not os.path.isabs(base):
            raise FileNotFoundError(f"There is no cache directory: {base} is no absolute path.")
        directory = os.path.join(base, "jaxtribute", _processor())
    path = os.fspath(directory)
    os.makedirs(path, exist_ok=True)
    _tidy(path)
    options = jax.config
    if options.jax_compilation_cache_dir != path:  # type: ignore[attr-defined]
        options.update("jax_compilation_cache_dir", path)
        # What was compiled before has made JAX decide where the cache is, or that there is none. JAX tells that on its log,
        # even if there was none, in every script whose logs begin at INFO, as those of absl.app do.
        logger = logging.getLogger("jax._src.compilation_cache")
        logger.addFilter(_is_warning)
        try:
            compilation_cache.reset_cache()
        finally:
            logger.removeFilter(_is_warning)
    name = "jax_persistent_cache_min_compile_time_secs"
    if getattr(options, name) == _JAX_MIN_SECONDS and name.upper() not in os.environ:
        options.update(name, _MIN_SECONDS)
    return path


def keep_compiled_programs() -> None:
    """Turns the cache on, unless somebody said where it is to be, or that there is to be none.

    `JAX_ENABLE_COMPILATION_CACHE=0` in the environment turns it off, `JAX_COMPILATION_CACHE_DIR` moves it. Where
    the user's directory cannot be written to, every process compiles for itself.
    """
    options = jax.config
    if options.jax_enable_compilation_cache and not options.jax_compilation_cache_dir:  # type: ignore[attr-defined]
        with contextlib.suppress(OSError):
            enable_compilation_cache()


def knows_program(name: str, arrays: int) -> bool:
    """Tells whether the program of a step is likely to be in the cache: `note_program` was called in the same directory.

    Args:
        name: of the step.
        arrays: how many arrays of state it has.

    Examples:
        >>> knows_program("never noted", 1)
        False
    """
    mark = _mark(name, arrays)
    return mark is not None and mark.exists()


def note_program(name: str, arrays: int) -> None:
    """Notes that the program of a step has been compiled; see `knows_program`.

    Args:
        name: of the step.
        arrays: how many arrays of state it has.
    """
    mark = _mark(name, arrays)
    if mark is not None:
        with contextlib.suppress(OSError):
            mark.touch()


def _mark(name: str, arrays: int) -> Path | None:
    """Names the file that notes a program; None if there is no cache, or none that is a directory."""
    directory = jax.config.jax_compilation_cache_dir  # type: ignore[attr-defined]
    if not directory or not jax.config.jax_enable_compilation_cache:  # type: ignore[attr-defined]
        return None
    # The process compiles for as many devices, and a name may be any text.
    text = f"{name} {arrays} {len(jax.devices('cpu'))}"
    mark = Path(directory, f"step-{hashlib.sha256(text.encode()).hexdigest()[:16]}")
    return mark if mark.parent.is_dir() else None


def _is_warning(record: logging.LogRecord) -> bool:
    return record.levelno >= logging.WARNING


def _tidy(path: str) -> None:
    """Deletes the programs that were unused for longest, if there are too many."""
    found: list[tuple[float, int, str]] = []
    with os.scandir(path) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):  # another process may be tidying
                if entry.name.endswith("-cache"):
                    stat = entry.stat()
                    found.append((max(stat.st_atime, stat.st_mtime), stat.st_size, entry.path))
    count, size = len(found), sum(size for _, size, _ in found)
    if count <= _MAX_PROGRAMS and size <= _MAX_BYTES:
        return
    for _, one, file in sorted(found):
        if count <= _KEPT * _MAX_PROGRAMS and size <= _KEPT * _MAX_BYTES:
            break
        with contextlib.suppress(OSError):
            os.unlink(file)
        count, size = count - 1, size - one


@functools.cache
def _processor() -> str:
    """Names the kind of processor: hosts that share a home may differ, and XLA uses all that one can do."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    described = [line for line in lines if line.startswith(("model name", "flags", "Features"))]
    text = "\n".join(sorted(set(described))) or platform.processor()
    return f"{platform.machine()}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
