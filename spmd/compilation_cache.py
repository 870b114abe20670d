"""XLA's programs kept on disk, so that the next process need not compile them again."""

import os

import jax

_MAX_BYTES = 2 * 1024**3


def enable_compilation_cache(directory: str | os.PathLike[str] | None = None) -> str:
    """Keeps compiled programs on disk, for this and later processes.

    Call it before the first step. JAX keys programs by their code, their options, the devices and the
    versions, and drops those unused for longest when the directory outgrows 2 GiB.

    Args:
        directory: where; None takes `$XDG_CACHE_HOME/jaxtribute`, or `~/.cache/jaxtribute`.

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
        directory = os.path.join(base, "jaxtribute")
    path = os.fspath(directory)
    os.makedirs(path, exist_ok=True)
    jax.config.update("jax_compilation_cache_dir", path)
    jax.config.update("jax_compilation_cache_max_size", _MAX_BYTES)
    # JAX's own threshold of a second would leave out most programs of a CPU.
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.1)
    return path
