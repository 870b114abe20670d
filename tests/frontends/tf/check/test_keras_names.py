"""The recorded names of Keras are what Keras and this front end have."""

from importlib import metadata

from frontends.tf.check import keras_names
from tests import check_facts


def test_names_are_up_to_date():
    if metadata.version("keras") == keras_names.VERSION:
        recorded = (check_facts.FOLDER / "keras_names.json").read_text()
        made = check_facts.text(check_facts.keras_names())
        assert recorded == made, "write it: python -m tests.check_facts"


def test_what_is_recorded_exists_in_every_supported_version():
    """The names that scripts use most, in whatever Keras is installed."""
    now = check_facts.keras_names()["modules"]
    for path in ("tf.keras", "tf.keras.layers", "tf.keras.losses", "tf.losses"):
        assert set(keras_names.MODULES[path]) - {*now[path]["classes"]} <= {
            name for kind in ("function", "module", "value") for name in now[path][kind]
        }


def test_members_come_from_all_bases():
    _, model = keras_names.MODULES["tf.keras"]["Sequential"]
    assert {"fit", "add_weight", "pop"} <= keras_names.members(model)
    assert "fit_generator" not in keras_names.members(model)
    assert not keras_names.has_more(model)


def test_modules_of_tf_that_are_keras():
    assert {"keras", "losses", "metrics", "optimizers", "initializers"} == keras_names.TOP
