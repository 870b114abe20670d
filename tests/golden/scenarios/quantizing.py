"""`tf.quantization`: rounding to steps, and its gradients."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.golden.scenarios.base import NONE, Case, Setting, f32, scenario

GROUP = "quantizing"
X = f32(np.sin(np.arange(12) * 0.9) * 4).reshape(4, 3)


@scenario("quantizing.fake_quant", GROUP, NONE)
def fake_quant(s: Setting) -> Iterator[Case]:
    tf, q = s.tf, s.tf.quantization
    by_args, by_vars = q.fake_quant_with_min_max_args, q.fake_quant_with_min_max_vars
    by_channel = q.fake_quant_with_min_max_vars_per_channel
    low, high = f32([-1.0, 0.5, -3.0]), f32([1.0, 3.0, -0.5])

    def trained(function: Any, *arrays: Any, **options: Any) -> Any:
        inputs = [tf.constant(one, tf.float32) for one in arrays]
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            result = function(*inputs, **options)
            total = tf.reduce_sum(result * X)
        gradients = tape.gradient(total, inputs)
        return [result, [tf.convert_to_tensor(one) for one in gradients]]

    for bits in (2, 8, 16):
        for narrow in (False, True):
            case = f"{bits}{'/narrow' if narrow else ''}"
            options = {"num_bits": bits, "narrow_range": narrow}
            yield (
                f"args/{case}",
                lambda o=options: trained(lambda x: by_args(x, -1.5, 2.25, **o), X),
            )
            yield f"vars/{case}", lambda o=options: trained(by_vars, X, -1.5, 2.25, **o)
            yield f"channels/{case}", lambda o=options: trained(by_channel, X, low, high, **o)
    yield "args/defaults", lambda: by_args(X)
    yield "vars/above", lambda: trained(by_vars, X, 1.0, 3.0)
    yield "vars/below", lambda: trained(by_vars, X, -3.0, -1.0)
    yield "vars/zeros", lambda: trained(by_vars, X, 0.0, 0.0)
    yield "channels/zeros", lambda: trained(by_channel, X, low * 0, high * [0, 1, 0])
    yield "channels/vector", lambda: trained(by_channel, X[0], low, high)
    yield "args/gradient", lambda: q.fake_quant_with_min_max_args_gradient(X, X * 2, -1.0, 1.0)
    yield (
        "vars/gradient",
        lambda: list(q.fake_quant_with_min_max_vars_gradient(X, X * 2, -1.0, 1.0)),
    )
    yield (
        "channels/gradient",
        lambda: list(q.fake_quant_with_min_max_vars_per_channel_gradient(X, X * 2, low, high)),
    )
    yield "args/order", lambda: by_args(X, 1.0, -1.0)
    yield "args/bits", lambda: by_args(X, num_bits=1)
    yield "vars/bits", lambda: by_vars(X, -1.0, 1.0, num_bits=17)
    yield "vars/rank", lambda: by_vars(X, low, high)
    yield "channels/rank", lambda: by_channel(X, -1.0, 1.0)
    yield "channels/size", lambda: by_channel(X, low[:2], high[:2])
    yield "top", lambda: s.tf.compat.v1.fake_quant_with_min_max_args(X, -1.0, 1.0)
