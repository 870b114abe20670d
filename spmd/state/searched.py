"""Objects of a library that hold what users put into their attributes."""


class Searched:
    """A base of library classes whose objects a step searches for state, as it searches the user's own.

    Examples:
        >>> import types, spmd
        >>> class Box(Searched): ...
        >>> Box.__module__ = "numpy"
        >>> box = Box()
        >>> box.count = spmd.Variable(1)
        >>> def step():
        ...     box.count.value += 1
        >>> spmd.Step(step, spmd.make_mesh(["cpu:0"]))()
        >>> int(box.count.value)
        2
    """

    __slots__ = ()
