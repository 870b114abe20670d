"""What Keras's optimizers keep, by their settings."""

import pytest

from frontends.tf.estimator.canned.optimizers.rules import RULES


@pytest.mark.parametrize(
    ("name", "options", "slots", "settings"),
    [
        ("SGD", {}, [], ["momentum"]),
        ("SGD", {"momentum": 0.9}, ["momentum"], ["momentum"]),
        ("Adam", {"amsgrad": True}, ["m", "v", "vhat"], ["beta_1", "beta_2"]),
        ("Adamax", {}, ["m", "v"], ["beta_1", "beta_2"]),
        ("Adadelta", {}, ["accum_grad", "accum_var"], ["rho"]),
        ("Adagrad", {}, ["accumulator"], []),
        ("RMSprop", {"momentum": 0.1, "centered": True}, ["momentum", "rms", "mg"], None),
    ],
)
def test_slots_and_settings_have_kerass_names(name, options, slots, settings):
    rule = RULES[name](options)
    assert rule.name == name
    assert list(rule.slots) == slots
    assert len(rule.formula.initial()) == len(slots)
    assert settings is None or sorted(rule.settings) == settings


def test_ftrl_passes_its_settings_in_the_order_of_the_formula():
    rule = RULES["Ftrl"]({"beta": 4.0, "l1_regularization_strength": 2.0})
    assert list(rule.scalars(rule.settings.__getitem__, None)) == [-0.5, 2.0, 0.0, 4.0, 0.0]
