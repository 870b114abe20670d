"""XLA's programs kept on disk, so that the next process need not compile them again."""

import functools
import hashlib
import os
import platform
from pathlib import Path

import jax
from jax.experimental.compilation_cache import compilation_cache

_MAX_BYTES = 2 * 1024**3


def enable_compilation_cache(directory: str | os.PathLike[str] | None = None) -> str:
    """Keeps compiled programs in a directory, for this and later processes.

    It is on without this call (`keep_compiled_programs`), which chooses another directory. JAX keys programs
    by their code, their options, the devices and the versions, and drops those unused for longest when the
    directory outgrows 2 GiB.

    Args:
        directory: where; None takes `$XDG_CACHE_HOME/jaxtribute`, or `~/.cache/jaxtribute`, and in it a
            directory for the kind of this machine's processor.

    Returns:
        The directory.

    Raises:
        OSError: the directory cannot be made.

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
        directory = os.path.join(base, "jaxtribute", _processor())
    path = os.fspath(directory)
    os.makedirs(path, exist_ok=True)
    if jax.config.jax_compilation_cache_dir != path:  # type: ignore[attr-defined]
        jax.config.update("jax_compilation_cache_dir", path)
        # What was compiled before has made JAX decide where the cache is, or that there is none.
        compilation_cache.reset_cache()
    jax.config.update("jax_compilation_cache_max_size", _MAX_BYTES)
    # JAX's own threshold of a second would leave out most programs of a CPU; what makes the initial values
    # of a model are dozens of small ones.
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    return path


def keep_compiled_programs() -> None:
    """Turns the cache on, unless somebody said where it is to be, or that there is to be none.

    `JAX_ENABLE_COMPILATION_CACHE=0` in the environment turns it off, `JAX_COMPILATION_CACHE_DIR` moves it. Where
    the user's directory cannot be written to, every process compiles for itself.
    """
    options = jax.config
    if options.jax_enable_compilation_cache and not options.jax_compilation_cache_dir:  # type: ignore[attr-defined]
        try:
            enable_compilation_cache()
        except OSError:
            return


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
