"""What the optimizers of Keras keep and compute, by the names of their classes and settings."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from frontends.tf.compat.v1.train import formulas
from frontends.tf.compat.v1.train.formulas import Formula
from frontends.tf.estimator.canned.optimizers import formulas as own

_EPSILON = 1e-7
# What gives a setting's value, and the number of this update, from 1 on.
_Read = Callable[[str], Any]


@dataclasses.dataclass(frozen=True)
class Rule:
    """How an optimizer updates variables.

    Attributes:
        name: of the optimizer.
        formula: of the update.
        slots: their names.
        settings: what checkpoints hold of it, by name; the learning rate may be a schedule, which they do not hold.
        scalars: what the formula takes after the learning rate, of settings and the number of the update.
    """

    name: str
    formula: Formula
    slots: Sequence[str]
    settings: Mapping[str, Any]
    scalars: Callable[[_Read, jax.Array], Sequence[Any]]


def _sgd(options: Mapping[str, Any]) -> Rule:
    momentum = float(options.get("momentum", 0.0))
    settings = {"momentum": momentum}
    if not momentum:
        return Rule("SGD", formulas.GradientDescent(), (), settings, lambda *_: ())
    formula = own.KerasMomentum(bool(options.get("nesterov", False)))
    return Rule("SGD", formula, ("momentum",), settings, lambda read, _: (read("momentum"),))


def _adagrad(options: Mapping[str, Any]) -> Rule:
    formula = own.KerasAdagrad(float(options.get("initial_accumulator_value", 0.1)))
    epsilon = options.get("epsilon", _EPSILON)
    return Rule("Adagrad", formula, ("accumulator",), {}, lambda *_: (epsilon,))


def _adam(options: Mapping[str, Any]) -> Rule:
    is_ams = bool(options.get("amsgrad", False))
    epsilon = options.get("epsilon", _EPSILON)

    def scalars(read: _Read, count: jax.Array) -> Sequence[Any]:
        first, second = read("beta_1"), read("beta_2")
        return first, second, epsilon, jnp.power(first, count), jnp.power(second, count)

    return Rule(
        "Adam",
        own.AmsGrad() if is_ams else formulas.Adam(),
        ("m", "v", "vhat") if is_ams else ("m", "v"),
        {"beta_1": options.get("beta_1", 0.9), "beta_2": options.get("beta_2", 0.999)},
        scalars,
    )


def _adamax(options: Mapping[str, Any]) -> Rule:
    epsilon = options.get("epsilon", _EPSILON)

    def scalars(read: _Read, count: jax.Array) -> Sequence[Any]:
        return read("beta_1"), read("beta_2"), epsilon, jnp.power(read("beta_1"), count)

    settings = {"beta_1": options.get("beta_1", 0.9), "beta_2": options.get("beta_2", 0.999)}
    return Rule("Adamax", own.AdaMax(), ("m", "v"), settings, scalars)


def _ftrl(options: Mapping[str, Any]) -> Rule:
    shrinkage = float(options.get("l2_shrinkage_regularization_strength", 0.0))
    start = float(options.get("initial_accumulator_value", 0.1))
    settings = {
        "learning_rate_power": options.get("learning_rate_power", -0.5),
        "l1_regularization_strength": options.get("l1_regularization_strength", 0.0),
        "l2_regularization_strength": options.get("l2_regularization_strength", 0.0),
        "beta": options.get("beta", 0.0),
    }
    return Rule(
        "Ftrl",
        formulas.Ftrl(start, bool(shrinkage)),
        ("accumulator", "linear"),
        settings,
        lambda read, _: (*map(read, settings), shrinkage),
    )


def _rms_prop(options: Mapping[str, Any]) -> Rule:
    momentum, centered = float(options.get("momentum", 0.0)), bool(options.get("centered", False))
    epsilon = options.get("epsilon", _EPSILON)
    formula = own.KerasRMSPropMomentum(centered) if momentum else own.KerasRMSProp(centered)
    return Rule(
        "RMSprop",
        formula,
        ["momentum"] * bool(momentum) + ["rms"] + ["mg"] * centered,
        {"rho": options.get("rho", 0.9), "momentum": momentum},
        lambda read, _: (read("rho"), read("momentum"), epsilon),
    )


def _adadelta(options: Mapping[str, Any]) -> Rule:
    epsilon = options.get("epsilon", _EPSILON)
    return Rule(
        "Adadelta",
        formulas.Adadelta(),
        ("accum_grad", "accum_var"),
        {"rho": options.get("rho", 0.95)},
        lambda read, _: (read("rho"), epsilon),
    )


# By the name of the class, what makes a rule of its options.
RULES: dict[str, Callable[[Mapping[str, Any]], Rule]] = {
    "Adadelta": _adadelta,
    "Adagrad": _adagrad,
    "Adam": _adam,
    "Adamax": _adamax,
    "Ftrl": _ftrl,
    "RMSprop": _rms_prop,
    "SGD": _sgd,
}
