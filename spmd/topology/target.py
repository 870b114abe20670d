"""The hardware that programs are compiled for, where it is not that on which arrays lie.

As a rule a program is traced for the devices of its mesh. While a program is *planned* (`spmd.plan`), the mesh has
simulated devices, which stand for others: a trace then names no devices, so that the same trace can be lowered for the
simulated ones and for those that they stand for, and what depends on the platform is decided for the latter.
"""

from jax.sharding import AbstractMesh, Mesh

# Of the devices that simulated ones stand for; set once in a process, before it traces anything.
_planned: str | None = None


def trace_for(platform: str | None) -> None:
    """Has this process trace for devices that are not here; there is no way to run faster or slower by it.

    Args:
        platform: of the devices, `"tpu"`, `"gpu"` or `"cpu"`; None goes back to those of each mesh.

    Examples:
        >>> import spmd
        >>> mesh = spmd.make_mesh(["cpu:0"])
        >>> trace_for("tpu")
        >>> platform_of(mesh)
        'tpu'
        >>> trace_for(None)
        >>> platform_of(mesh), target_of(mesh) is mesh
        ('cpu', True)
    """
    global _planned
    _planned = platform


def is_planned() -> bool:
    """Tells whether programs are traced for devices that are not here."""
    return _planned is not None


def platform_of(mesh: Mesh) -> str:
    """Returns the platform that programs over a mesh are compiled for."""
    return _planned or mesh.devices.flat[0].platform


def target_of(mesh: Mesh) -> Mesh | AbstractMesh:
    """Returns the mesh that programs over a mesh are traced for: itself, or one that names no devices."""
    return mesh if _planned is None else mesh.abstract_mesh
