"""Sizes that a specification leaves open, and the function does not."""

import jax.numpy as jnp
import numpy as np
import pytest

from spmd import export
from spmd.export import ArraySpec, Endpoint
from spmd.export.sizes import constraint_in


@pytest.mark.parametrize(
    ("function", "open_shape", "shape", "described"),
    [
        (lambda x: x @ jnp.ones((3, 2)), (None, None), (5, 3), (None, 3)),
        (
            lambda x: jnp.concatenate([x, x, x[:, :1]], 1) - jnp.ones(7),
            *((None, None), (5, 3), (None, 3)),
        ),
        (lambda x: jnp.ones((2, 4)) * x + jnp.ones((3, 1, 1)), (None,) * 3, (3, 2, 4), (3, 2, 4)),
        (lambda x: x.reshape(-1, 14) @ jnp.ones((14, 2)), (None,) * 3, (7, 2, 3), (None,) * 3),
        (lambda x: x.reshape(2, -1), (None, 3), (4, 3), (None, 3)),
    ],
    ids=["contraction", "broadcasting", "two sizes", "rows of a reshape", "columns of a reshape"],
)
def test_sizes_that_the_function_decides_are_found_out(
    tmp_path, function, open_shape, shape, described
):
    program = Endpoint(lambda weights, x: (function(x), {}), ArraySpec("x", open_shape, "float32"))
    export.save(tmp_path / "model", {"predict": program}, ())
    model = export.load(tmp_path / "model")
    endpoint = model.endpoints["predict"]
    assert endpoint.inputs[0].shape == described
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    outputs, _ = endpoint(model.weights, [x])
    np.testing.assert_allclose(outputs, function(x), rtol=1e-6)
    with pytest.raises(ValueError, match=r"(?i)shape|constraint"):
        endpoint(model.weights, [np.ones([size + 1 for size in shape], np.float32)])


def test_other_errors_name_no_sizes():
    for text in ("no sizes", "Incompatible shapes for broadcasting: shapes=[(rows, 2*d0), (9,)]"):
        assert constraint_in(ValueError(text)) is None
