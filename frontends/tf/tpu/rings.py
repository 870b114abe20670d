"""Closed walks over a block of chips, from neighbour to neighbour."""

Place = tuple[int, int, int]


def ring(x: int, y: int, z: int) -> list[Place]:
    """Walks over all chips of a block once.

    From the origin the walk goes over the first plane and returns to its edge, then over the next plane the other way
    round, and at last back along the edge. A block with an odd side has no such walk: its rows are taken one after another.

    Args:
        x: size along x.
        y: size along y.
        z: size along z.

    Returns:
        The coordinates of the chips, in order.

    Examples:
        >>> ring(2, 2, 1)
        [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
    """
    sizes = (x, y, z)
    long = [axis for axis in range(3) if sizes[axis] > 1]
    if len(long) <= 1:
        return [_at(dict.fromkeys(long, step)) for step in range(x * y * z)]
    if any(sizes[axis] % 2 for axis in long):
        return [(i, j, k) for k in range(z) for j in range(y) for i in range(x)]
    first, second = long[:2]
    plane = _loop(sizes[first], sizes[second])
    if len(long) == 2:
        return [(0, 0, 0), *(_at({first: i, second: j}) for i, j in plane)]
    planes = [[(i, j, k) for i, j in (plane if k % 2 == 0 else plane[::-1])] for k in range(z)]
    return [(0, 0, 0), *(place for one in planes for place in one), *_back(z)]


def _loop(width: int, height: int) -> list[tuple[int, int]]:
    """Walks over a plane from beside its origin to below it: forth and back along rows, then up the first column."""
    rows = list[tuple[int, int]]()
    for row in range(height):
        columns = range(1, width) if row % 2 == 0 else range(width - 1, 0, -1)
        rows += [(column, row) for column in columns]
    return rows + [(0, row) for row in range(height - 1, 0, -1)]


def _back(planes: int) -> list[Place]:
    return [(0, 0, plane) for plane in range(planes - 1, 0, -1)]


def _at(along: dict[int, int]) -> Place:
    return along.get(0, 0), along.get(1, 0), along.get(2, 0)
