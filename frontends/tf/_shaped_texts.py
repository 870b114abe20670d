"""What programs have of texts: something with a shape that is no array."""

import math


class ShapedTexts:
    """Base of what stands for texts in a program; `tf.shape` and its like tell their shapes.

    Attributes:
        shape: their shape.
    """

    __slots__ = ()

    shape: tuple[int, ...]

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of texts."""
        return math.prod(self.shape)
