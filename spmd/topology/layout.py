"""How arrays lie on a mesh: the one place that names its axes.

A *replica* is one position along the axis `"replica"`: it runs the step on its share of the global batch.
"""

from jax.sharding import Mesh, NamedSharding, PartitionSpec

from spmd.errors import MeshError

REPLICA_AXIS = "replica"


def num_replicas(mesh: Mesh) -> int:
    """Tells how many replicas a mesh has.

    Args:
        mesh: a mesh with the axis `"replica"`.

    Returns:
        The size of that axis.

    Raises:
        MeshError: the mesh has no such axis.

    Examples:
        >>> num_replicas(make_mesh(["cpu:0"]))
        1
    """
    if REPLICA_AXIS not in mesh.shape:
        raise MeshError(
            f"Expected a mesh with the axis {REPLICA_AXIS!r}, but this one has {mesh.axis_names}. "
            "Make one with spmd.make_mesh(devices)."
        )
    return mesh.shape[REPLICA_AXIS]


def split_sharding(mesh: Mesh) -> NamedSharding:
    """Returns the sharding of what is split: every replica has a block of the first axis.

    Args:
        mesh: a mesh with the axis `"replica"`.

    Examples:
        >>> split_sharding(make_mesh(["cpu:0", "cpu:1"])).shard_shape((8, 3))
        (4, 3)
    """
    return NamedSharding(mesh, PartitionSpec(REPLICA_AXIS))


def whole_sharding(mesh: Mesh) -> NamedSharding:
    """Returns the sharding of what is whole: every device has all of it.

    Args:
        mesh: where it is.

    Examples:
        >>> whole_sharding(make_mesh(["cpu:0", "cpu:1"])).shard_shape((8, 3))
        (8, 3)
    """
    return NamedSharding(mesh, PartitionSpec())
