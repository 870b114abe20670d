"""FLOPs of programs, against formulas written by hand."""

import importlib.util
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import nnx
from jax.sharding import PartitionSpec as P

from spmd.plan.flops import count_flops

EXAMPLES = Path(__file__).parents[3] / "examples"


def of(function, *arguments):
    return count_flops(jax.make_jaxpr(function)(*arguments))


def shapes(*each):
    return [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in each]


def test_mlp_with_gradients() -> None:
    batch, features, hidden, classes = 32, 784, 256, 10

    def loss(weights, x):
        return jnp.mean(jax.nn.relu(x @ weights[0]) @ weights[1])

    found = of(
        jax.grad(loss), shapes((features, hidden), (hidden, classes)), *shapes((batch, features))
    )
    # Forwards once; backwards the gradients of both weights, and of the second layer's input only.
    forward = 2 * batch * (features * hidden + hidden * classes)
    backward = forward + 2 * batch * hidden * classes
    assert found.total == forward + backward
    assert set(found.products) == {"float32"}
    assert 0 < found.elementwise < 0.02 * found.total


def test_convnet_of_the_mnist_example() -> None:
    sys.path.insert(0, str(EXAMPLES))
    try:
        spec = importlib.util.spec_from_file_location("planned_mnist", EXAMPLES / "mnist.py")
        example = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(example)
    finally:
        sys.path.remove(str(EXAMPLES))
    batch = 16
    graph, state = nnx.split(example.ConvNet(nnx.Rngs(0)))

    def loss(state, images, labels):
        logits = nnx.merge(graph, state)(images)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    images, labels = jnp.ones((batch, 28, 28, 1)), jnp.zeros(batch, jnp.int32)
    found = of(jax.grad(loss, allow_int=True), state, images, labels)
    convolution = 2 * batch * 26 * 26 * 32 * 3 * 3
    dense = 2 * batch * (13 * 13 * 32 * 64)
    logits = 2 * batch * (64 * 10)
    # The first layer's input needs no gradient; every other layer is three products of one size.
    expected = 2 * convolution + 3 * dense + 3 * logits
    assert found.total == pytest.approx(expected, rel=0.03)


def test_transformer_block_with_gradients() -> None:
    batch, length, heads, width = 4, 64, 8, 256
    hidden, head = 4 * width, width // heads

    def block(weights, x):
        q, k, v = (
            (x @ weights[name]).reshape(batch, length, heads, head) for name in ("q", "k", "v")
        )
        x = x + jax.nn.dot_product_attention(q, k, v).reshape(x.shape) @ weights["o"]
        return x + jax.nn.gelu(x @ weights["up"]) @ weights["down"]

    names = dict.fromkeys("qkvo", (width, width))
    names |= {"up": (width, hidden), "down": (hidden, width)}
    weights = {name: jax.ShapeDtypeStruct(shape, jnp.bfloat16) for name, shape in names.items()}
    x = jax.ShapeDtypeStruct((batch, length, width), jnp.bfloat16)
    found = of(
        jax.grad(lambda w, x: block(w, x).sum().astype(jnp.float32), argnums=(0, 1)), weights, x
    )
    tokens = batch * length
    layers = 2 * tokens * (4 * width * width + 2 * width * hidden)
    attention = 2 * 2 * batch * length * length * width
    assert found.total == pytest.approx(3 * (layers + attention), rel=0.03)


@pytest.mark.parametrize(
    ("image", "kernel", "stride", "padding"),
    [(12, 3, 1, "VALID"), (13, 3, 2, "VALID"), (16, 4, 4, "VALID"), (12, 5, 1, "SAME")],
)
def test_gradients_of_a_convolution_cost_what_it_costs(image, kernel, stride, padding) -> None:
    x, w = shapes((2, image, image, 3), (kernel, kernel, 3, 5))

    def convolve(x, w):
        return jax.lax.conv_general_dilated(
            x, w, (stride, stride), padding, dimension_numbers=("NHWC", "HWIO", "NHWC")
        )

    forward = of(convolve, x, w).total
    places = -(-(image - kernel + 1) // stride)
    if padding == "VALID":
        assert forward == 2 * 2 * places**2 * 5 * kernel**2 * 3
    else:  # two places on each side miss one or two of the kernel's elements
        assert forward == 2 * 2 * (image * kernel - 2 * (1 + 2)) ** 2 * 5 * 3
    step = jax.value_and_grad(lambda x, w: convolve(x, w).sum(), argnums=(0, 1))
    assert of(step, x, w).total == 3 * forward


def test_grouped_convolution() -> None:
    x, w = shapes((1, 8, 8, 4), (3, 3, 1, 8))
    found = of(
        lambda x, w: jax.lax.conv_general_dilated(
            *(x, w, (1, 1), "VALID"),
            feature_group_count=4,
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
        ),
        *(x, w),
    )
    assert found.total == 2 * 6 * 6 * 8 * 9


def test_loops_count_as_often_as_they_turn() -> None:
    (w,) = shapes((8, 8))

    def scan(w):
        return jax.lax.scan(lambda x, _: (x @ w, None), jnp.ones((4, 8)), length=7)[0]

    def until(w):
        return jax.lax.while_loop(lambda x: x.sum() < 9, lambda x: x @ w, jnp.ones((4, 8)))

    one = 2 * 4 * 8 * 8
    assert of(scan, w).total == 7 * one
    assert of(scan, w).notes == ()
    assert of(until, w).total == one
    assert "loop" in of(until, w).notes[0]


def test_a_branch_counts_as_its_largest() -> None:
    x, w = shapes((4, 8), (8, 8))
    found = of(lambda x, w: jax.lax.cond(x.sum() > 0, lambda: x @ w @ w, lambda: x @ w), *(x, w))
    assert found.total == 2 * (2 * 4 * 8 * 8)


def test_remat_and_functions_with_their_own_gradient() -> None:
    x, w = shapes((4, 8), (8, 8))

    @jax.custom_vjp
    def product(x, w):
        return x @ w

    product.defvjp(lambda x, w: (x @ w, (x, w)), lambda kept, g: (g @ kept[1].T, kept[0].T @ g))
    one = 2 * 4 * 8 * 8
    assert of(product, x, w).total == one
    assert of(jax.grad(lambda x, w: product(x, w).sum(), (0, 1)), x, w).total == 3 * one
    again = jax.checkpoint(lambda x, w: jnp.sin(jnp.sin(x @ w)).sum())
    # The product is made again for the gradient of the sine.
    assert of(jax.grad(again, (0, 1)), x, w).total == 4 * one


def test_shard_map_counts_one_device() -> None:
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:2]), ("data",))
    step = jax.shard_map(
        lambda x, w: x @ w, mesh=mesh, in_specs=(P("data"), P()), out_specs=P("data")
    )
    assert of(step, *shapes((8, 4), (4, 4))).total == 2 * 4 * 4 * 4


def test_types_are_told_apart() -> None:
    x = jnp.ones((4, 4))
    found = of(lambda x: (x @ x).astype(jnp.bfloat16) @ x.astype(jnp.bfloat16), x)
    assert found.products == {"float32": 128, "bfloat16": 128}
