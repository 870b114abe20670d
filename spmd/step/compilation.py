"""Who hears that a program is about to be compiled: `spmd.plan` compiles it for other devices, and ends."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from spmd.step.build import Program

CompilerOptions: TypeAlias = Mapping[str, str | bool]
CompileObserver: TypeAlias = Callable[[Program, CompilerOptions | None], None]

_observers: list[CompileObserver] = []


def observe_compilation(observer: CompileObserver) -> Callable[[], None]:
    """Has a function called with each program, and its options for XLA, before it is lowered and compiled.

    Args:
        observer: the function. It is called on the thread that needs the program, which waits for it.

    Returns:
        A function that ends this.

    Examples:
        >>> import jax.numpy as jnp, spmd
        >>> names = []
        >>> end = observe_compilation(lambda program, options: names.append(program.name))
        >>> def double(x):
        ...     return 2 * x
        >>> step = spmd.Step(double, spmd.make_mesh(["cpu:0"]))
        >>> _ = step(jnp.ones(2)), step(jnp.ones(2))
        >>> end()
        >>> names
        ['double']
    """
    _observers.append(observer)
    return lambda: _observers.remove(observer)


def about_to_compile(program: Program, options: CompilerOptions | None) -> None:
    """Tells the observers."""
    for observer in list(_observers):
        observer(program, options)
